/** Creates a session where fs.workingCopy says, for `session new` and `session run --new`. */
import { existsSync } from 'node:fs';
import { usageError } from '../errors.ts';
import { newSessionInPlace } from '../lifecycle/in-place/new.ts';
import { type NewRequest, newSession } from '../lifecycle/new.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';
import { usersPath } from '../workspace/namespace.ts';
import type { Context } from './context.ts';
import type { NewFiles } from './output/session.ts';

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

export async function createWanted(
  context: Context,
  repository: Repository,
  wanted: Wanted,
): Promise<Created> {
  const { directory, refused } = await repository.sessionsPlace();
  const isFirst = !existsSync(directory);
  const created = await create(context, repository, wanted);
  if (created.record.user_branch === undefined)
    context.err('note: the session starts from a detached HEAD, so agt accept will need --onto BRANCH\n');
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
export async function overlayPath(
  context: Context,
  repository: Repository,
  asked: string | undefined,
): Promise<string | undefined> {
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
