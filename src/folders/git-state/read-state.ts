/**
 * The state of the repository that an attached folder is a worktree of: HEAD, all refs but agt's, their reflogs, and the
 * files that git keeps for the worktree alone. A snapshot holds it as files in `_/git-dir`, beside the index.
 */
import { join } from 'node:path';
import type { UserRepository } from '../../autocommit/request.ts';
import { readSmallFile } from '../../disk/read-file.ts';
import { localNamespaces } from '../../filter/agent-refs.ts';
import type { GitDirectories } from '../../git/files/discover-repository.ts';
import { readHeadFile } from '../../git/files/head-file.ts';
import { hasRefFiles, looseRefNames, OF_WORKTREE, readPackedRefs } from '../../git/files/ref-files.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import { findObject, readObject, readObjects } from '../../git/objects/object-reader.ts';
import { type Git, inOtherRepository, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { OWN } from '../../snapshot/format.ts';
import { readFiles, readGitDirFiles } from '../../snapshot/git-dir-files.ts';
import { decodePath } from '../../snapshot/tree-names.ts';
import { keptOf, repositoryOf } from './kept-repositories.ts';

/** By full name: an object name, or `ref: NAME`. HEAD is one of them. */
export type Refs = ReadonlyMap<string, string>;

const REFS_FILE = 'agt/refs';
const PLACES_FILE = 'agt/places';
const LOGS = 'logs/';

/** A reflog only grows at its end: in parts of this size, its beginning is stored once. */
const PART_BYTES = 64 << 10;

/** Undefined if the folder is no worktree, or if git cannot read the repository. */
export async function readGitState(
  { git: anyGit, agtDir, settings: own }: Pick<Repository, 'git' | 'agtDir' | 'settings'>,
  folder: string,
): Promise<UserRepository | undefined> {
  const places = repositoryOf(folder);
  if (places === undefined) return undefined;
  const { gitDir, commonDir } = places;
  const listed = refsWithoutGit(commonDir, anyGit.env) ?? askGit(inOtherRepository(anyGit, folder));
  const ofWorktree = readGitDirFiles(gitDir);
  const logs = readFiles(gitDir, [`${LOGS}HEAD`]);
  const logsOfRefs = readFiles(commonDir, [`${LOGS}refs`]);
  const refs = await listed;
  const head = readHeadFile(gitDir);
  if (refs === undefined || head === undefined) return undefined;
  const isOwn = (name: string) => localNamespaces([own]).some((namespace) => name.startsWith(namespace));
  // Other files of the worktree hold those of the worktree.
  const lines = [...refs]
    .filter(([name]) => !isOwn(name) && !OF_WORKTREE.test(name))
    .map(([name, value]) => `${name} ${value}`)
    .sort();
  const files = new Map(ofWorktree.files);
  files.set(REFS_FILE, Buffer.from([`HEAD ${head.commit ?? `ref: ${head.ref}`}`, ...lines, ''].join('\n')));
  files.set(PLACES_FILE, Buffer.from(`${gitDir}\n${commonDir}\n${keptOf(agtDir, commonDir).name}\n`));
  for (const [path, bytes] of [...logs.files, ...logsOfRefs.files])
    if (!isOwn(path.slice(LOGS.length)) && !OF_WORKTREE.test(path.slice(LOGS.length)))
      for (let start = 0; start < bytes.length; start += PART_BYTES)
        files.set(`${path}:${start / PART_BYTES}`, bytes.subarray(start, start + PART_BYTES));
  const commit = head.commit ?? refs.get(head.ref);
  return { gitDir, commonDir, head: commit, files: { ...ofWorktree, files } };
}

/** Undefined if only git can tell. The loose ones first: git packs a ref before it deletes the loose one. */
function refsWithoutGit(commonDir: string, env: NodeJS.ProcessEnv): Refs | undefined {
  if (!hasRefFiles(commonDir, env)) return undefined;
  const refs = new Map<string, string>();
  for (const name of looseRefNames(commonDir, 'refs/')) {
    const value = readSmallFile(join(commonDir, name));
    if (value === undefined || !/^([0-9a-f]{40,64}|ref: \S+)$/.test(value)) return undefined;
    refs.set(name, value);
  }
  const packed = readPackedRefs(commonDir).toString();
  for (const [, oid = '', name = ''] of packed.matchAll(/^([0-9a-f]{40,64}) (\S+)$/gm))
    if (!refs.has(name)) refs.set(name, oid);
  return refs;
}

async function askGit(git: Git): Promise<Refs | undefined> {
  const run = await runGit(git, ['for-each-ref', '--format=%(refname) %(objectname) %(symref)']);
  const lines = run.stdout.toString().split('\n').slice(0, -1);
  const values = lines.map((line): [string, string] => {
    const [name = '', oid = '', link = ''] = line.split(' ');
    return [name, link === '' ? oid : `ref: ${link}`];
  });
  return run.exitCode === 0 ? new Map(values) : undefined;
}

/** Undefined if the snapshot has no state of a repository. */
export async function capturedRefs(git: Git, commit: string): Promise<Refs | undefined> {
  const found = await readObject(git, `${commit}:${OWN.gitDir}/${REFS_FILE}`);
  return found === undefined ? undefined : parseRefs(found.content);
}

export function refsIn({ files }: UserRepository): Refs {
  return parseRefs(files.files.get(REFS_FILE) ?? Buffer.alloc(0));
}

/** Names of the refs that differ. */
export function differing(a: Refs, b: Refs): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((ref) => a.get(ref) !== b.get(ref));
}

function parseRefs(text: Buffer): Refs {
  const lines = text.toString().split('\n').slice(0, -1);
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const),
  );
}

export interface CapturedPlaces extends GitDirectories {
  /** The name of the kept repository. */
  readonly kept: string;
}

export async function capturedPlaces(git: Git, commit: string): Promise<CapturedPlaces | undefined> {
  const found = await readObject(git, `${commit}:${OWN.gitDir}/${PLACES_FILE}`);
  const [gitDir, commonDir, kept] = found?.content.toString().split('\n') ?? [];
  return gitDir && commonDir && kept ? { gitDir, commonDir, kept } : undefined;
}

/** Whole reflogs by the name of the ref. */
export async function capturedLogs(git: Git, commit: string): Promise<Map<string, Buffer>> {
  const tree = `${commit}:${OWN.gitDir}/${LOGS.slice(0, -1)}`;
  if ((await findObject(git, tree)) === undefined) return new Map();
  const entries = await listTree(git, tree, 'files');
  const contents = await readObjects(
    git,
    entries.map(({ oid }) => oid),
  );
  const parts = entries.map(({ path }, i) => {
    const [name = '', number] = decodePath(path).split(':');
    return { name, number: Number(number), bytes: contents[i]?.content ?? Buffer.alloc(0) };
  });
  parts.sort((a, b) => a.number - b.number);
  const logs = Map.groupBy(parts, ({ name }) => name);
  return new Map([...logs].map(([name, some]) => [name, Buffer.concat(some.map(({ bytes }) => bytes))]));
}
