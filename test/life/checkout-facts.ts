/**
 * Everything that a user has in a checkout, as facts (facts.ts), and besides:
 *
 *     repo libs/sub HEAD         of a repository inside, submodule or not; also its refs, index and `.git` file
 *     git AUTO_MERGE             a file of an operation in progress
 *     rules, config              .git/info/exclude; the settings of the repository
 *     status                     as `git status` says it, submodules included
 *
 * Refs of agt are left out.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { addFiles, addIndex, type Facts, type Refs } from './facts.ts';
import { REAL_GIT, run } from './programs.ts';
import { zeroed } from './worktree.ts';

const AGTS = /^refs\/(agt\/|heads\/agt\/|heads\/agtsessions\/)/;

const OPERATIONS = [
  ...['MERGE_HEAD', 'MERGE_MSG', 'MERGE_MODE', 'AUTO_MERGE', 'SQUASH_MSG', 'ORIG_HEAD', 'CHERRY_PICK_HEAD'],
  ...['REBASE_HEAD', 'REVERT_HEAD', 'rebase-merge/done', 'rebase-apply/next', 'sequencer/todo'],
];

export function readCheckout(root: string): Facts {
  const facts = new Map<string, string>();
  const files = new Map<string, string>();
  addFiles(files, dirname(root), basename(root));
  for (const [key, text] of files) facts.set(`file ${key.slice(`file ${basename(root)}/`.length)}`, text);
  facts.delete('file ');
  const gitDir = gitDirOf(root);
  addIndex(facts, root, gitDir);
  facts.set('HEAD', readFileSync(join(gitDir, 'HEAD'), 'latin1').trim());
  for (const [ref, oid] of refsIn(commonDir(gitDir))) if (!AGTS.test(ref)) facts.set(`ref ${ref}`, oid);
  for (const name of OPERATIONS) addText(facts, `git ${name}`, join(gitDir, name));
  addText(facts, 'rules', join(gitDir, 'info/exclude'));
  // agt hides its refs from who fetches.
  const config = readFileSync(join(commonDir(gitDir), 'config'), 'latin1');
  facts.set('config', config.replace(/\[uploadpack\]\n(\thideRefs = .*\n)*/g, ''));
  for (const path of repositories(facts, root)) addRepository(facts, root, path);
  facts.set('status', read(root, ['status', '--porcelain=v2', '-z', '--no-renames', '-uall']));
  return facts;
}

/** The git directory of the repository, for a linked worktree. */
function commonDir(gitDir: string): string {
  const file = join(gitDir, 'commondir');
  return existsSync(file) ? resolve(gitDir, readFileSync(file, 'latin1').trim()) : gitDir;
}

/** From git's files, because a life asks thousands of times. A loose ref is newer than a packed one. */
function refsIn(gitDir: string): Refs {
  const refs = new Map<string, string>();
  const packed = join(gitDir, 'packed-refs');
  for (const line of existsSync(packed) ? readFileSync(packed, 'latin1').split('\n') : []) {
    const [, oid, ref] = /^([0-9a-f]{40}) (refs\/.*)$/.exec(line) ?? [];
    if (oid !== undefined && ref !== undefined) refs.set(ref, oid);
  }
  const walk = (path: string) => {
    for (const entry of readdirSync(join(gitDir, path), { withFileTypes: true })) {
      const ref = `${path}/${entry.name}`;
      if (entry.isDirectory()) walk(ref);
      else if (!ref.endsWith('.lock')) refs.set(ref, readFileSync(join(gitDir, ref), 'latin1').trim());
    }
  };
  if (existsSync(join(gitDir, 'refs'))) walk('refs');
  return refs;
}

/** git would refresh the index otherwise. */
function read(cwd: string, args: readonly string[]): string {
  return run(REAL_GIT, args, cwd, '', { GIT_OPTIONAL_LOCKS: '0' }).stdout;
}

/** The ignored files of a checkout, and those that are not tracked; a repository inside ends with a slash. */
export function untracked(root: string): { readonly ignored: Set<string>; readonly seen: Set<string> } {
  const list = (...args: string[]) =>
    new Set(zeroed(read(root, ['ls-files', '-z', '-o', '--exclude-standard', ...args])));
  return { ignored: list('-i'), seen: list() };
}

export function gitDirOf(worktree: string): string {
  const file = join(worktree, '.git');
  if (lstatSync(file).isDirectory()) return file;
  return resolve(worktree, /^gitdir: (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '');
}

/** Paths of the repositories inside. */
function repositories(facts: Facts, root: string): string[] {
  const directories = [...facts].filter(
    ([key, text]) => key.startsWith('file ') && text.startsWith('directory'),
  );
  const paths = directories.map(([key]) => key.slice('file '.length));
  return paths.filter((path) => hasGit(root, path));
}

function hasGit(root: string, path: string): boolean {
  return readdirSync(Buffer.from(`${root}/${path}`, 'latin1'), 'latin1').includes('.git');
}

function addRepository(facts: Map<string, string>, root: string, path: string): void {
  const worktree = `${root}/${path}`;
  const dotGit = join(worktree, '.git');
  const stat = lstatSync(dotGit);
  const kind = stat.isDirectory()
    ? 'directory'
    : stat.isFile()
      ? readFileSync(dotGit, 'latin1')
      : readlinkSync(dotGit);
  facts.set(`repo ${path} .git`, kind);
  const gitDir = gitDirOf(worktree);
  if (lstatSync(join(gitDir, 'HEAD'), { throwIfNoEntry: false }) === undefined) return;
  facts.set(`repo ${path} HEAD`, readFileSync(join(gitDir, 'HEAD'), 'latin1').trim());
  for (const [ref, oid] of refsIn(gitDir)) if (!AGTS.test(ref)) facts.set(`repo ${path} ref ${ref}`, oid);
  addIndex(facts, worktree, gitDir, `repo ${path} index`);
}

function addText(facts: Map<string, string>, key: string, path: string): void {
  try {
    facts.set(key, readFileSync(path, 'latin1'));
  } catch {
    // there is none
  }
}

/** The paths of the repositories inside that facts tell of. */
export function repositoriesIn(facts: Facts): string[] {
  return [...facts.keys()].flatMap((key) => /^repo (.*) \.git$/s.exec(key)?.[1] ?? []);
}

export function has(facts: Facts, key: RegExp): boolean {
  return [...facts.keys()].some((one) => key.test(one));
}

export function isInProgress(facts: Facts): boolean {
  return has(facts, /^git (MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|rebase|sequencer)/);
}

export function isUnmerged(facts: Facts): boolean {
  return has(facts, /^index [123] /);
}
