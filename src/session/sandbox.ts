/** The sandbox of a session as a worktree that git can read: its HEAD and its uncommitted paths. */
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { headWithoutGit } from '../git/files/head-file.ts';
import { summarizeIndex } from '../git/files/index-file.ts';
import { registrationOf } from '../git/files/worktree-registrations.ts';
import { findObject } from '../git/objects/object-reader.ts';
import { readStatus, type StatusEntry } from '../git/objects/status.ts';
import { fieldsOf, type Git, gitAnswer, resolveObject, runGit } from '../git/run/git.ts';
import { folderOfNamespace } from '../repository/repository.ts';
import { bringBack, commandToRestore } from './advised-commands.ts';
import { requireActive } from './operation.ts';
import { isAttached, type SessionRecord } from './record.ts';
import { isOutOfSight, mountProblem, type SandboxPlace } from './sandbox-place.ts';
import type { Session } from './session.ts';
import { isEnded } from './state.ts';

export interface SandboxHead {
  /** Full name of the branch; undefined if HEAD is detached. */
  readonly ref: string | undefined;
  /** Undefined if the branch has no commit yet. */
  readonly commit: string | undefined;
}

export async function sandboxHead(session: Session): Promise<SandboxHead> {
  requireReadableSandbox(session);
  const { git, sandboxGit, repository } = session;
  const gitDir = gitDirOf(sandboxGit.cwd);
  const known = gitDir && headWithoutGit({ gitDir, commonDir: repository.commonDir }, git.env);
  if (known) return { ref: known.branch, commit: await findObject(git, `${known.commit}^{commit}`) };
  return {
    ref: await gitAnswer(sandboxGit, ['symbolic-ref', '--quiet', 'HEAD']),
    commit: await resolveObject(sandboxGit, 'HEAD^{commit}'),
  };
}

/** As `git status` lists them; ignored files are not among them. */
export async function uncommittedFiles({ sandboxGit }: Session): Promise<readonly StatusEntry[]> {
  return (await readStatus(sandboxGit, '--untracked-files=all', '--renames')).entries;
}

/** Paths of submodules with uncommitted changes, which a commit outside of them does not have. */
export async function dirtySubmodules(session: Session): Promise<string[]> {
  if (!existsSync(join(session.sandboxGit.cwd, '.gitmodules'))) return [];
  const dirty = (await uncommittedFiles(session)).filter((entry) => entry.isDirtyInside);
  return dirty.map(({ path }) => displayPath(path));
}

export async function uncommittedPaths(session: Session): Promise<string[]> {
  return (await uncommittedFiles(session)).map(({ path }) => displayPath(path));
}

/** Those of the paths, with one byte per character, that git ignores. In a bare repository none. */
export async function ignoredPaths(git: Git, paths: readonly string[]): Promise<ReadonlySet<string>> {
  // For git, a path that begins with a colon would have magic.
  const input = Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1');
  const run = await runGit(git, ['check-ignore', '-z', '--stdin'], { input });
  return new Set(fieldsOf(run.stdout).map((path) => path.slice('./'.length)));
}

/**
 * The registration of a sandbox whose `.git` file was deleted, or has become a repository of somebody else. Its files are
 * captured all the same.
 */
export function lostGitDir(session: Session): string | undefined {
  if (session.record.checkout !== undefined || session.place !== 'no link') return undefined;
  const registration = registrationOf(session.repository.commonDir, session.record.sandbox);
  return registration !== undefined && existsSync(join(registration, 'HEAD')) ? registration : undefined;
}

/** @throws AgtError unless the sandbox is a worktree of this repository. */
export function requireSandbox(session: Session): void {
  const { repository, record } = session;
  const place = session.place;
  if (isAttached(record) && place !== 'here') throw missingFolder(record, place);
  refuseForeign(record, place);
  if (place === 'here') return;
  if (isOutOfSight(repository, place)) throw outOfSight(session);
  if (isEnded(record)) requireActive(record);
  const problem = `${PROBLEMS[place] ?? 'is gone'}: ${record.sandbox}`;
  throw new AgtError(`the sandbox of "${record.session_id}" ${problem}`, {
    hints: [`bring it back: ${commandToRestore(record, '@')}`],
  });
}

function outOfSight({ repository: { commonDir }, record: { session_id } }: Session): AgtError {
  const own = basename(folderOfNamespace(commonDir) ?? '');
  return new AgtError(`agt cannot look into the sandbox of "${session_id}" from inside of "${own}"`, {
    hints: [`a command of "${own}" runs at the user's own path; call agt outside of it`],
  });
}

/**
 * For a command that lets git read the index of the sandbox: git would wait for ever for somebody to write into a pipe.
 * @throws AgtError unless the sandbox is a worktree of this repository whose HEAD and index are files that git can read.
 */
export function requireReadableSandbox(session: Session): void {
  requireSandbox(session);
  const gitDir = gitDirOf(session.record.sandbox);
  if (gitDir === undefined) return;
  const oidLength = session.record.from_commit.length / 2;
  const faults = [
    { path: join(gitDir, 'HEAD'), fault: specialFile(join(gitDir, 'HEAD')) },
    { path: join(gitDir, 'index'), fault: indexFault(join(gitDir, 'index'), oidLength) },
  ];
  for (const { path, fault } of faults) {
    if (fault === undefined) continue;
    const id = session.id;
    throw new AgtError(`the ${basename(path)} of the sandbox of "${id}" is ${fault}: ${path}`, {
      hints: [`an autocommit and a restore make it anew: agt autocommit ${id} && agt restore ${id} @`],
    });
  }
}

function specialFile(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === false ? 'no regular file' : undefined;
}

function indexFault(path: string, oidLength: number): string | undefined {
  const special = specialFile(path);
  if (special !== undefined || !existsSync(path)) return special;
  try {
    const bytes = readFileSync(path);
    if (bytes.length === 0) return 'damaged';
    summarizeIndex(bytes, oidLength);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return 'damaged';
    throw error;
  }
}

function missingFolder({ checkout = '' }: SessionRecord, place: SandboxPlace): AgtError {
  const way = `to bring it back: ${bringBack(checkout)}`;
  return place === 'missing'
    ? new AgtError(`the folder ${checkout} is gone`, { hints: [way] })
    : new AgtError(`the folder ${checkout} is a link or a file now`, { hints: ['move that away', way] });
}

/** Of a sandbox that is not in its place, or not as git has made it. */
export const PROBLEMS: Partial<Record<SandboxPlace, string>> = {
  'no link': 'has lost its .git file',
  'broken link': 'has a .git file that leads nowhere',
  taken: "has another worktree's .git file",
  elsewhere: 'belongs to another repository',
  'not a directory': 'is no directory, but a link or a file',
};

/** @throws AgtError if something is at the sandbox's place that agt must not touch. */
export function refuseForeign(record: SessionRecord, place: SandboxPlace): void {
  const { session_id, sandbox, checkout } = record;
  if (place === 'unmounted') throw mountProblem(record.token, dirname(sandbox)) ?? new AgtError('try again');
  if (checkout !== undefined && !isAttached(record)) refuseOtherCheckout(session_id, checkout, place);
  else if (place === 'elsewhere') {
    throw new AgtError(`the sandbox of "${session_id}" ${PROBLEMS[place]}: ${sandbox}`, {
      hints: [
        'this repository is a copy of that one; give the session a folder of its own: agt doctor --fix',
      ],
    });
  } else if (place === 'not a directory') {
    throw new AgtError(`the sandbox of "${session_id}" ${PROBLEMS[place]}: ${sandbox}`, {
      hints: ['agt captures only what is in the directory itself: move it back to its place'],
    });
  }
}

function refuseOtherCheckout(id: string, checkout: string, place: SandboxPlace): void {
  if (place === 'here') return;
  if (place === 'elsewhere') {
    throw new AgtError(`the checkout of "${id}" belongs to another repository: ${checkout}`, {
      hints: ['this repository is a copy of that one; see: agt doctor'],
    });
  }
  throw new AgtError(`the checkout of "${id}" is gone or has moved: ${checkout}`, {
    hints: ['its snapshots are kept on its shadow branch; see: agt doctor'],
  });
}
