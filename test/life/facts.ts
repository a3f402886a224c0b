/**
 * The oracle: everything that a session is, as facts read from the disk and from plain git. A fact is a key and a text:
 *
 *     file sandbox/src/a        `file 644 <bytes>`, `link <target>` or `directory 755`; the path in latin1
 *     index 0 src/a             tag, flags, mode and object; the number is the stage
 *     HEAD, HEAD commit         what HEAD names; the commit, if there is one
 *     work branch               its commit
 *     operation MERGE_HEAD      a file of an operation in progress
 *     leftover MERGE_MSG        the same file without an operation
 *     ref refs/bisect/bad       a ref of this worktree
 *     git ORIG_HEAD             another file that git keeps for this worktree
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ok, REAL_GIT } from './programs.ts';

export type Facts = ReadonlyMap<string, string>;
export type Refs = ReadonlyMap<string, string>;

export interface Place {
  readonly folder: string;
  /** The git directory of the sandbox. */
  readonly gitDir: string;
  /** Full name. */
  readonly workBranch: string;
}

const FOLDERS = ['config', 'sandbox', 'xdg'] as const;
const SIGNS = ['rebase-merge', 'rebase-apply', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'BISECT_LOG'];
const OPERATION = [
  ...SIGNS,
  ...[
    'sequencer',
    'MERGE_MODE',
    'MERGE_MSG',
    'MERGE_AUTOSTASH',
    'MERGE_RR',
    'AUTO_MERGE',
    'SQUASH_MSG',
    'REBASE_HEAD',
  ],
  ...['BISECT_NAMES', 'BISECT_START', 'BISECT_TERMS', 'BISECT_ANCESTORS_OK', 'BISECT_EXPECTED_REV'],
];
const OTHERS = ['ORIG_HEAD', 'info/sparse-checkout', 'config.worktree', 'logs/refs/worktree'];
/** Longer texts are kept as a digest. */
const LONGEST_TEXT = 400;
/** Flags of an index entry that a person sets: assume-unchanged, intent-to-add, skip-worktree. */
const PERSONS_FLAGS = 0x8000 + 2 ** 29 + 2 ** 30;

export function readFacts(place: Place, refs: Refs): Facts {
  const facts = new Map<string, string>();
  for (const folder of FOLDERS) addFiles(facts, place.folder, folder);
  addIndex(facts, join(place.folder, 'sandbox'), place.gitDir);
  addHead(facts, place, refs);
  addOperation(facts, place);
  addWorktreeRefs(facts, place.gitDir);
  for (const name of OTHERS) addGitFiles(facts, place.gitDir, name, (path) => `git ${path}`);
  return facts;
}

/** The files of a folder and below it, as facts. `.git` is left out. */
export function addFiles(facts: Map<string, string>, parent: string, path: string): void {
  const absolute = Buffer.from(`${parent}/${path}`, 'latin1');
  const stat = lstatSync(absolute, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const mode = (stat.mode & 0o7777).toString(8);
  const key = `file ${path}`;
  if (stat.isSymbolicLink()) facts.set(key, `link ${readlinkSync(absolute, 'latin1')}`);
  else if (stat.isFile()) facts.set(key, `file ${mode} ${shorten(readFileSync(absolute))}`);
  else if (stat.isDirectory()) {
    facts.set(key, `directory ${mode}`);
    for (const name of readdirSync(absolute, 'latin1').sort())
      if (name !== '.git') addFiles(facts, parent, `${path}/${name}`);
  }
}

function shorten(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.length} bytes ${createHash('sha1').update(bytes).digest('hex')}`;
}

const ENTRY = /(\S) (\d{6}) ([0-9a-f]+) (\d)\t([^\0]*)\0\s+ctime:.*?flags: ([0-9a-f]+)\n/gs;
const indexes = new Map<string, string>();

/** The entries of an index, as facts. */
export function addIndex(facts: Map<string, string>, worktree: string, gitDir: string, kind = 'index'): void {
  const file = join(gitDir, 'index');
  if (!existsSync(file)) return;
  const digest = createHash('sha1').update(readFileSync(file)).digest('hex');
  const listed = indexes.get(digest) ?? ok(REAL_GIT, ['ls-files', '-s', '-v', '-z', '--debug'], worktree);
  indexes.set(digest, listed);
  for (const [, tag, mode, oid, stage, path, flags] of listed.matchAll(ENTRY)) {
    const set = (Number.parseInt(flags as string, 16) & PERSONS_FLAGS) >>> 0;
    facts.set(`${kind} ${stage} ${path}`, `${tag} ${set.toString(16)} ${mode} ${oid}`);
  }
}

function addHead(facts: Map<string, string>, { gitDir, workBranch }: Place, refs: Refs): void {
  const head = readFileSync(join(gitDir, 'HEAD'), 'latin1').trim();
  const branch = /^ref: (.*)$/.exec(head)?.[1];
  facts.set('HEAD', branch === workBranch ? 'the work branch' : head);
  const commit = branch === undefined ? head : refs.get(branch);
  if (commit !== undefined) facts.set('HEAD commit', commit);
  const work = refs.get(workBranch);
  if (work !== undefined) facts.set('work branch', work);
}

function addOperation(facts: Map<string, string>, { gitDir, workBranch }: Place): void {
  const isRunning = SIGNS.some((name) => existsSync(join(gitDir, name)));
  const short = workBranch.replace('refs/heads/', '');
  const found = new Map<string, string>();
  for (const name of OPERATION)
    addGitFiles(found, gitDir, name, (path) => `${isRunning ? 'operation' : 'leftover'} ${path}`);
  for (const [key, text] of found) {
    const namesBranch = /head-name$|BISECT_START$/.test(key) && [workBranch, short].includes(text.trim());
    facts.set(key, namesBranch ? 'the work branch' : text);
  }
}

function addGitFiles(
  facts: Map<string, string>,
  gitDir: string,
  path: string,
  key: (path: string) => string,
): void {
  const absolute = join(gitDir, path);
  const stat = lstatSync(absolute, { throwIfNoEntry: false });
  if (stat?.isDirectory())
    for (const name of readdirSync(absolute).sort()) addGitFiles(facts, gitDir, `${path}/${name}`, key);
  else if (stat !== undefined) facts.set(key(path), shorten(readFileSync(absolute)));
}

function addWorktreeRefs(facts: Map<string, string>, gitDir: string): void {
  for (const name of ['bisect', 'rewritten', 'worktree'])
    addGitFiles(facts, gitDir, `refs/${name}`, (path) => `ref ${path}`);
}

/** All refs that worktrees share. */
export function readRefs(repository: string): Refs {
  const listed = ok(REAL_GIT, ['for-each-ref', '--format=%(refname) %(objectname)'], repository);
  const lines = listed.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}
