/** Creates a session where fs.workingCopy says, and prints it. */
import { existsSync } from 'node:fs';
import { FEW, listSome, usageError } from '../errors.ts';
import { shortBranch, shortOid } from '../git/files/ref-files.ts';
import { newSessionInPlace } from '../lifecycle/in-place/begin.ts';
import { type NewRequest, type NewSession, newSession } from '../lifecycle/new.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';
import { usersPath } from '../workspace/namespace.ts';
import type { Context } from './context.ts';
import { json, lines, showPath } from './output/format.ts';
import { recordJson } from './output/session.ts';

interface Wanted extends Omit<NewRequest, 'cwd' | 'now' | 'standsAt'> {
  /** Revert an earlier session in the same checkout. */
  readonly replace: boolean;
  /** `in-place`, `worktree` or `cow-overlay`; undefined: as fs.workingCopy says. */
  readonly workingCopy: string | undefined;
}

interface Created {
  readonly record: SessionRecord;
  readonly files: NewFiles;
}

export async function createWanted(context: Context, repository: Repository, wanted: Wanted) {
  const { directory, refused } = await repository.sessionsPlace();
  const isFirst = !existsSync(directory);
  const created = await create(context, repository, wanted);
  if (created.record.user_branch === undefined)
    context.err('note: the session starts from no branch of yours, so agt accept will need --onto BRANCH\n');
  if (refused !== undefined && isFirst)
    context.err(
      `note: session folders are in ${directory}, because agt cannot write in ${refused.path} (${refused.reason}); ` +
        'another directory: agt config set agt.sessionsDir DIRECTORY\n',
    );
  return created;
}

async function create(context: Context, repository: Repository, wanted: Wanted): Promise<Created> {
  if (await isInPlace(context, wanted.workingCopy)) return createInPlace(context, repository, wanted);
  const snapshots = wanted.snapshots ?? (await context.setting('fs.snapshots'));
  const standsAt = await overlayPath(context, repository, wanted.workingCopy);
  const request = { ...wanted, snapshots, standsAt, cwd: context.cwd, now: context.now() };
  const { record, ...files } = await newSession(repository, request);
  return { record, files };
}

/** Whether a new session works in the user's own checkout. */
export async function isInPlace(context: Context, asked: string | undefined): Promise<boolean> {
  return (asked ?? (await context.setting('fs.workingCopy'))) === 'in-place';
}

/** The user's own path, if the sandbox is to stand there for its commands; otherwise undefined. */
export async function overlayPath(context: Context, repository: Repository, asked: string | undefined) {
  const isOverlay = (asked ?? (await context.setting('fs.workingCopy'))) === 'cow-overlay';
  return isOverlay ? usersPath(repository, context.cwd) : undefined;
}

const NO_PROVIDER = 'leave out --fs-snapshots';

async function createInPlace(
  context: Context,
  repository: Repository,
  { checked, id, from, profile, withChanges = false, replace, snapshots: asked }: Wanted,
): Promise<Created> {
  if (from !== undefined)
    throw usageError('a session in place starts at the branch of your checkout', 'leave out --from');
  if (['btrfs', 'zfs', 'overlay', 'agentfs'].includes(asked ?? ''))
    throw usageError('a session in place works in your checkout, which agt does not clone', NO_PROVIDER);
  const snapshots = asked ?? (await context.setting('fs.snapshots'));
  const request = { id, profile, replace, withChanges, snapshots, now: context.now() };
  await checked;
  const { record, replaced, work, kept } = await newSessionInPlace(repository, request);
  for (const line of kept) context.err(`${line}\n`);
  if (replaced !== undefined)
    context.err(`${replaced.session_id}: reverted, because a new session began in the same checkout\n`);
  return { record, files: withChanges ? { taken: work } : { setAside: work } };
}

/** Readable paths, relative to the sandbox. */
export interface NewFiles extends Partial<Omit<NewSession, 'record'>> {
  /** Uncommitted work that is gone from the user's checkout until a session in place ends. */
  readonly setAside?: readonly string[];
}

export async function printNewSession(
  context: Context,
  record: SessionRecord,
  asJson: boolean,
  files?: NewFiles,
  forkOf?: string,
): Promise<void> {
  const { included = [], notIncluded = [], taken = [], staying, setAside = [] } = files ?? {};
  if (asJson) {
    const { paths = [], notRead } = (await staying) ?? {};
    const listed = files && {
      included,
      not_included: notIncluded,
      taken_along: taken,
      left_behind: notRead === undefined ? paths : null,
      set_aside: setAside,
    };
    context.out(json({ ...recordJson(record), ...listed }));
    return;
  }
  const { from, from_commit: commit, from_spec: given, user_branch: home } = record;
  const onto = home && shortBranch(home);
  const spec = forkOf === undefined ? given?.replace(/^(refs\/)?heads\//, '') : undefined;
  const source = from ?? spec ?? onto;
  const isNamed = source !== undefined && source !== commit;
  const start = `at ${shortOid(commit)}${isNamed ? ` from ${source}` : ''}`;
  const lands = onto === undefined || from !== undefined || source === onto ? '' : `, to land on ${onto}`;
  const isShared = record.checkout !== undefined;
  const text = [
    `session  ${record.session_id}`,
    `sandbox  ${record.checkout ?? record.sandbox}`,
    `branch   ${shortBranch(record.work_branch)} ${start}${lands}`,
    forkOf !== undefined &&
      `files    as in snapshot ${shortOid(record.from_spec ?? '')} of ${showPath(forkOf)}`,
    included.length > 0 && `copied   ${included.join(', ')}`,
    taken.length > 0 && `taken    ${listSome(taken, FEW)}`,
    setAside.length > 0 && `aside    ${describeSetAside(setAside)}`,
    isShared && 'shared   your checkout is the sandbox: what you change there is part of the session',
  ];
  context.out(lines(text));
  for (const { path, reason } of notIncluded)
    context.err(`note: ${showPath(path)} was not copied, though .worktreeinclude names it: ${reason}\n`);
  if (from && files !== undefined)
    context.err(`note: it has the commits of ${from} alone; with its files: agt fork ${from}\n`);
  context.err(await notesOnStaying(files));
}

/** They name the work that stays in the user's worktree. */
export async function notesOnStaying({ staying, taken = [] }: NewFiles = {}): Promise<string> {
  const { paths = [], notRead } = (await staying) ?? {};
  const none = paths.length === 0;
  return lines([
    notRead !== undefined && `note: agt could not look for uncommitted work in your worktree: ${notRead}`,
    !none && `note: uncommitted work stays in your worktree alone: ${listSome(paths, FEW)}`,
    !none && taken.length === 0 && 'note: for a session that takes it along: agt session new --with-changes',
  ]);
}

export function describeSetAside(paths: readonly string[]): string {
  return `your uncommitted work, until the session ends: ${listSome(paths, FEW)}`;
}
