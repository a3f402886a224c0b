/**
 * Repositories inside of the user's checkout: submodules and others. A snapshot holds their files but nothing of their
 * `.git`. So agt notes the HEAD and the index of each one, keeps a copy of its git directory, and puts back what the agent
 * has changed or deleted. Commits that the agent has made in one stay under a ref there.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { makeDirectories } from '../../disk/make-directories.ts';
import { readSmallFile } from '../../disk/read-file.ts';
import { nestedRef } from '../../filter/agent-refs.ts';
import { gitDirOf, gitFileTarget } from '../../git/files/discover-repository.ts';
import { bringGitDirectory as bringCopy, keepGitDirectory } from '../../git/files/mirror-git-directory.ts';
import { readObject } from '../../git/objects/object-reader.ts';
import { type Git, gitAnswer, gitText, inDirectory, isAncestor, resolveObject } from '../../git/run/git.ts';
import { nestedDirectory } from '../../layout.ts';
import { parentDirectories } from '../../snapshot/tree.ts';
import { type InPlace, replaceIndex } from './checkout.ts';

export interface NestedRepository {
  /** Relative to the checkout, one byte per character. */
  readonly path: string;
  /** The text of its `.git`, if that is a file. */
  readonly gitFile?: string | undefined;
  /** Its `.git` is a link. */
  readonly isLink?: boolean;
  /** The text of its HEAD. */
  readonly head?: string | undefined;
  /** The commit of HEAD; undefined if there is none yet. */
  readonly commit?: string | undefined;
  /** A blob, in the repository of the checkout, with the bytes of its index. */
  readonly index?: string | undefined;
  /** It has another commit than the checkout's own names for it, or changes. */
  readonly isChanged?: boolean;
}

/** As Node has it. */
export function directoryOf(checkout: string, path: string): string {
  return join(checkout, Buffer.from(path, 'latin1').toString());
}

export async function lookAtRepository(git: Git, checkout: string, path: string): Promise<NestedRepository> {
  const directory = directoryOf(checkout, path);
  const gitDir = gitDirOf(directory);
  if (gitDir === undefined) return { path };
  const dotGit = join(directory, '.git');
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  return {
    path,
    gitFile: stat?.isFile() ? readFileSync(dotGit, 'utf8') : undefined,
    isLink: stat?.isSymbolicLink() === true,
    head: readSmallFile(join(gitDir, 'HEAD')),
    commit: await resolveObject(inDirectory(git, directory), 'HEAD^{commit}'),
    index: await storeIndex(git, gitDir),
  };
}

export async function hasOwnWork({ git, checkout, record }: InPlace, { path, commit }: NestedRepository) {
  if (commit === undefined) return true;
  const named = await resolveObject(git, `${record.from_commit}:${Buffer.from(path, 'latin1')}`);
  if (named !== commit) return true;
  const inside = inDirectory(git, directoryOf(checkout, path));
  return (await gitText(inside, ['status', '--porcelain'])) !== '';
}

/** Copies of the git directories, in the order of the list. */
export function keepGitDirectories(place: InPlace, repositories: readonly NestedRepository[]): void {
  const store = storeOf(place);
  rmSync(store, { recursive: true, force: true });
  for (const [i, { path }] of repositories.entries()) {
    const gitDirectory = gitDirOf(directoryOf(place.checkout, path));
    if (gitDirectory === undefined) continue;
    makeDirectories(store);
    keepGitDirectory(gitDirectory, join(store, String(i)));
  }
}

function storeOf({ session }: InPlace): string {
  return nestedDirectory(session.repository.agtDir, session.id);
}

/** Makes the directory if nothing is there. False if a link or a file is on its way. */
function makePlain(checkout: string, path: string): boolean {
  return [...parentDirectories(path).reverse(), path].every((one) => {
    const directory = directoryOf(checkout, one);
    const stat = lstatSync(directory, { throwIfNoEntry: false });
    if (stat === undefined) mkdirSync(directory);
    return stat === undefined || stat.isDirectory();
  });
}

/** If the agent has deleted or replaced it. No link of the agent leads the way. */
async function bringGitDirectory(place: InPlace, before: NestedRepository, number: number): Promise<void> {
  const { git, checkout, record } = place;
  if (!makePlain(checkout, before.path)) return;
  const directory = directoryOf(checkout, before.path);
  const copy = join(storeOf(place), String(number));
  if (!existsSync(copy)) return;
  const { gitFile } = before;
  const dotGit = join(directory, '.git');
  const inside = inDirectory(git, directory);
  const replaced = (path: string) => `${path}.agt-replaced-${record.session_id}`;
  const foreign = await foreignGitDirectory(inside, before);
  if (foreign !== undefined) renameSync(foreign, replaced(foreign));
  failurePoint('in place: replaced repository set aside');
  if (gitFile !== undefined && lstatSync(dotGit, { throwIfNoEntry: false }) === undefined)
    writeFileSync(dotGit, gitFile, { flag: 'wx' });
  const target = gitFile === undefined ? dotGit : gitFileTarget(dotGit);
  if (target === undefined) return;
  if (!existsSync(join(target, 'HEAD'))) {
    rmSync(target, { recursive: true, force: true });
    bringCopy(copy, target);
    failurePoint('in place: git directory brought back');
  }
  for (const one of new Set([dotGit, target].map(replaced)))
    await dropReplaced(inside, one, nestedRef(record.session_id));
}

/** The path of what the agent has in the place of the user's `.git`, or of the git directory that it names. */
async function foreignGitDirectory(inside: Git, { gitFile, isLink, commit }: NestedRepository) {
  const dotGit = join(inside.cwd, '.git');
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const isSameKind = gitFile === undefined ? stat.isDirectory() || isLink : readSmallFile(dotGit) === gitFile;
  if (!isSameKind) return dotGit;
  const target = gitFile === undefined ? dotGit : gitFileTarget(dotGit);
  if (commit === undefined || target === undefined || gitDirOf(inside.cwd) === undefined) return undefined;
  return (await resolveObject(inside, `${commit}^{commit}`)) === undefined ? target : undefined;
}

/** The repository that a link or a file leads to stays where it is. One that git cannot read stays aside. */
async function dropReplaced(git: Git, replaced: string, ref: string): Promise<void> {
  const stat = lstatSync(replaced, { throwIfNoEntry: false });
  if (stat === undefined || (stat.isDirectory() && !(await keepCommits(git, replaced, ref)))) return;
  rmSync(replaced, { recursive: true, force: true });
  failurePoint('in place: commits of a replaced repository kept');
}

/** HEAD of the agent's repository stays under `ref`, and its branches beside it. */
async function keepCommits(git: Git, gitDirectory: string, ref: string): Promise<boolean> {
  const head = await resolveObject(inDirectory(git, gitDirectory), 'HEAD^{commit}');
  const refs = [...(head === undefined ? [] : [`+HEAD:${ref}`]), `+refs/heads/*:${ref}-branches/*`];
  const options = ['-q', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'];
  return (await gitAnswer(git, ['fetch', ...options, gitDirectory, ...refs])) !== undefined;
}

/** After `git mv` of a submodule, its settings name a directory that is gone. */
async function bringWorktreeSetting(git: Git, gitDirectory: string, copy: string): Promise<void> {
  const [own, kept] = [join(gitDirectory, 'config'), join(copy, 'config')];
  const read = (file: string) => gitAnswer(git, ['config', '--file', file, 'core.worktree']);
  const before = existsSync(kept) ? await read(kept) : undefined;
  if (before !== undefined && before !== (await read(own)))
    await gitText(git, ['config', '--file', own, 'core.worktree', before]);
}

async function storeIndex(git: Git, gitDir: string): Promise<string | undefined> {
  const index = join(gitDir, 'index');
  if (!existsSync(index)) return undefined;
  return gitText(git, ['hash-object', '-w', '--stdin'], { input: readFileSync(index) });
}

/** The files are back already; `number` is its place in the list. False if agt could not bring its `.git` back. */
export async function putRepositoryBack(place: InPlace, before: NestedRepository, number: number) {
  const { git, checkout, record } = place;
  if (before.head === undefined) return true;
  await bringGitDirectory(place, before, number);
  const directory = directoryOf(checkout, before.path);
  const gitDirectory = gitDirOf(directory);
  if (gitDirectory === undefined) return false;
  await bringWorktreeSetting(git, gitDirectory, join(storeOf(place), String(number)));
  const now = await lookAtRepository(git, checkout, before.path);
  const inside = inDirectory(git, directory);
  if (now.head !== before.head || now.commit !== before.commit) {
    const isKnown = async (commit: string) =>
      before.commit !== undefined && (await isAncestor(inside, commit, before.commit));
    if (now.commit !== undefined && !(await isKnown(now.commit)))
      await gitText(inside, ['update-ref', nestedRef(record.session_id), now.commit]);
    failurePoint('in place: commits of a submodule kept');
    await putHeadBack(inside, before);
  }
  if (now.index !== before.index) {
    const index = before.index === undefined ? undefined : await readObject(git, before.index);
    replaceIndex(directory, index?.content, record.from_commit.length / 2);
  }
  failurePoint('in place: submodule put back');
  return true;
}

async function putHeadBack(git: Git, { head = '', commit }: NestedRepository): Promise<void> {
  const branch = /^ref: (.*)$/m.exec(head)?.[1];
  const message = ['-m', 'agt: back to before the session'];
  if (branch !== undefined) {
    const tip = await resolveObject(git, branch);
    if (commit !== undefined && tip !== commit)
      await gitText(git, ['update-ref', ...message, branch, commit]);
    if (commit === undefined && tip !== undefined) await gitText(git, ['update-ref', '-d', branch, tip]);
    await gitText(git, ['symbolic-ref', ...message, 'HEAD', branch]);
  } else if (commit !== undefined)
    await gitText(git, ['update-ref', '--no-deref', ...message, 'HEAD', commit]);
}
