/**
 * Repositories inside of the user's checkout: submodules and others. A snapshot holds their files but nothing of their
 * `.git`. So agt notes the HEAD and the index of each one, and puts them back at the end of a session. Commits that the
 * agent has made in one stay under a ref there.
 */
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { readSmallFile } from '../../git/files/read-small-file.ts';
import { gitDirOf } from '../../git/files/worktree-git-dir.ts';
import { readObject } from '../../git/objects/object-reader.ts';
import { type Git, gitAnswer, gitText, inDirectory, resolveObject } from '../../git/run/git.ts';
import { type InPlace, replaceIndex } from './checkout.ts';

export interface NestedRepository {
  /** Relative to the checkout, one byte per character. */
  readonly path: string;
  /** The text of its `.git`, if that is a file. */
  readonly gitFile?: string | undefined;
  /** The text of its HEAD. */
  readonly head?: string | undefined;
  /** The commit of HEAD; undefined if there is none yet. */
  readonly commit?: string | undefined;
  /** A blob, in the repository of the checkout, with the bytes of its index. */
  readonly index?: string | undefined;
}

/** Where the agent's commits in such a repository stay. */
function keptIn(id: string): string {
  return `refs/agt/in-place/${id}`;
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
  const isFile = lstatSync(dotGit, { throwIfNoEntry: false })?.isFile() === true;
  return {
    path,
    gitFile: isFile ? readFileSync(dotGit, 'utf8') : undefined,
    head: readSmallFile(join(gitDir, 'HEAD')),
    commit: await gitAnswer(inDirectory(git, directory), [
      'rev-parse',
      '--verify',
      '--quiet',
      'HEAD^{commit}',
    ]),
    index: await storeIndex(git, gitDir),
  };
}

async function storeIndex(git: Git, gitDir: string): Promise<string | undefined> {
  const index = join(gitDir, 'index');
  if (!existsSync(index)) return undefined;
  return gitText(git, ['hash-object', '-w', '--stdin'], { input: readFileSync(index) });
}

/** The files are back already. False if the agent has deleted its `.git`. */
export async function putRepositoryBack(place: InPlace, before: NestedRepository): Promise<boolean> {
  const { git, checkout, record } = place;
  const directory = directoryOf(checkout, before.path);
  const dotGit = join(directory, '.git');
  if (before.head === undefined) return true;
  const isThere = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
  if (before.gitFile !== undefined && isThere && !existsSync(dotGit))
    writeFileSync(dotGit, before.gitFile, { flag: 'wx' });
  const gitDir = gitDirOf(directory);
  if (gitDir === undefined) return false;
  const now = await lookAtRepository(git, checkout, before.path);
  const inside = inDirectory(git, directory);
  if (now.head !== before.head || now.commit !== before.commit) {
    if (now.commit !== undefined && (await isNew(inside, now.commit, before.commit)))
      await gitText(inside, ['update-ref', keptIn(record.session_id), now.commit]);
    failurePoint('in place: commits of a submodule kept');
    await putHeadBack(inside, before);
  }
  if (now.index !== before.index && before.index !== undefined) {
    const index = await readObject(git, before.index);
    replaceIndex(directory, index?.content, record.from_commit.length / 2);
  }
  failurePoint('in place: submodule put back');
  return true;
}

async function isNew(git: Git, commit: string, before: string | undefined): Promise<boolean> {
  if (before === undefined) return true;
  return (await gitAnswer(git, ['merge-base', '--is-ancestor', commit, before])) === undefined;
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
