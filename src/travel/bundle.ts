/**
 * A session as one file: a line, and one part, as on a remote, which begins with the head. By default it leaves out what
 * every clone of the same remote has; the head names the commits that a repository must have to open it.
 */
import { createReadStream, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { flush } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError, EXIT, isAgtError, systemReason, usageError } from '../errors.ts';
import { tipRef } from '../filter/agent-refs.ts';
import { isActive } from '../filter/session-file.ts';
import { REMOTES } from '../git/files/ref-files.ts';
import { findObject, findObjects } from '../git/objects/object-reader.ts';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import { gitLines } from '../git/run/git.ts';
import { requireFreeId } from '../lifecycle/create.ts';
import { shellQuote } from '../process/shell-quote.ts';
import type { Repository } from '../repository/repository.ts';
import { checkId, type SessionId } from '../session/id.ts';
import { withSessionLock } from '../session/lock.ts';
import { readRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { readShares } from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { captureSession } from '../workspace/capture-session.ts';
import { goOn } from './arrive.ts';
import { contentOf, existingRefs, plainMode, recipientsFor, type Wish } from './content.ts';
import type { PullRequest } from './find-share.ts';
import { isForOthers, isSealed, requireKeys } from './keys.ts';
import { edgesOf, openPart, rangeOf, takePack, writePart } from './parts.ts';
import { requireComplete } from './pull.ts';
import { type Head, idOf, requireHead } from './share.ts';

const FIRST_LINE = 'agt session 1\n';

export interface BundleRequest extends Wish {
  readonly env: NodeJS.ProcessEnv;
  readonly now: Date;
  /** Absolute. */
  readonly file: string;
  /** Also what every clone has. */
  readonly whole: boolean;
  readonly force: boolean;
}

/** `requires`: the commits that the file leaves out. `madeKey`: the file of a key that agt has just made. */
export async function bundleSession(session: Session, request: BundleRequest) {
  const plain = plainMode(session.record, request);
  requireNewFile(request.file, request.force);
  const [share] = readShares(session).copies;
  const sealing = { again: true };
  const { recipients, madeKey } = await recipientsFor(session.repository, request.env, plain, share, sealing);
  const record = await withSessionLock(session, async (held) => {
    if (isActive(held.record)) await captureSession(held, { now: request.now });
    return held.read() ?? held.record;
  });
  const { git } = session;
  const refs = await existingRefs(session);
  const known = request.whole ? [] : await gitLines(git, ['for-each-ref', '--format=%(objectname)', REMOTES]);
  const sending = { refs, plain, allowSecrets: request.allowSecrets ?? false, known, kept: [] };
  const snapshots = (await session.history()).length;
  if (snapshots === 0) throw new AgtError(`session "${session.id}" has no snapshot to send`);
  return withScratchObjects(session.repository, async (scratch) => {
    const { refs: sent } = await contentOf(session, scratch, sending);
    const tips = Object.values(sent);
    const requires = await edgesOf(scratch.git, tips, known);
    const first: Head = {
      ...{ version: 1, record, refs: sent, parts: '', number: 0, plain, requires },
      ...{ pushed_at: request.now.toISOString(), snapshots, size: 0 },
    };
    const size = await writeFile(request, async (path) => {
      writeFileSync(path, FIRST_LINE, { flag: 'wx' });
      return writePart({ scratch, recipients, wanted: rangeOf(tips, known), first }, path);
    });
    return { snapshots, size, requires, madeKey };
  });
}

/** Nobody sees a part of the file, and a link in its place is replaced, not followed. */
export async function writeFile<T>(
  { file, force }: Pick<BundleRequest, 'file' | 'force'>,
  write: (path: string) => Promise<T>,
): Promise<T> {
  const temporary = join(dirname(file), `.agt-${basename(file)}`);
  rmSync(temporary, { force: true });
  try {
    const result = await write(temporary);
    flush(temporary);
    failurePoint('bundle: written');
    requireNewFile(file, force);
    renameSync(temporary, file);
    return result;
  } catch (error) {
    if (isAgtError(error) || !(error instanceof Error && 'errno' in error)) throw error;
    throw new AgtError(`cannot write ${file}: ${systemReason(error)}`, { cause: error });
  } finally {
    rmSync(temporary, { force: true });
  }
}

function requireNewFile(file: string, force: boolean): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw usageError(`${file} is a directory`, 'give the name of a new file in it');
  if (stat !== undefined && !force) throw usageError(`${file} exists already`, 'to replace it: --force');
}

export interface OpenRequest extends Pick<PullRequest, 'as' | 'dryRun' | 'env' | 'now'> {
  /** Absolute. */
  readonly file: string;
}

export async function openBundle(repository: Repository, request: OpenRequest) {
  const { file, as, env, now } = request;
  const isEncrypted = await readStart(file);
  const identities = isEncrypted ? (await requireKeys(env, FOR_YOU)).identities : undefined;
  const source = createReadStream(file, { start: FIRST_LINE.length });
  const refuse = (cause: unknown) => {
    throw isForOthers(cause) ? forOthers(file) : damaged(file, cause);
  };
  const opening = openPart(identities, source);
  const reading = opening.then(({ first, pack }) => ({ head: requireHead(first), pack }));
  const { head, pack } = await reading.catch(refuse);
  const id = as === undefined ? idOf(head) : checkId(as);
  await requireOwnId(repository, id, head, file);
  await requireCommits(repository, head, file);
  const { snapshots } = head;
  if (request.dryRun) return { record: { ...head.record, session_id: id }, snapshots };
  await takePack(repository.git, pack).catch(refuse);
  await requireComplete(repository, head, damaged(file, undefined));
  const { record } = await goOn(repository, id, head, now);
  return { record, snapshots };
}

/** Whether what follows the first line is encrypted. */
async function readStart(file: string): Promise<boolean> {
  const start = Buffer.concat(await Array.fromAsync(createReadStream(file, { end: 100 })));
  if (start.indexOf(FIRST_LINE) === 0) return isSealed(start.subarray(FIRST_LINE.length));
  const [, version] = /^agt session (\d+)\b/.exec(start.toString('latin1')) ?? [];
  if (version === undefined)
    throw new AgtError(`${file} is no session of agt`, {
      hints: ['agt session bundle ID FILE makes such a file'],
    });
  throw new AgtError(`${file} has version ${version} of this format, which this agt cannot read`, {
    hints: ['agt upgrade'],
  });
}

const FOR_YOU =
  'let them write it again for you: agt config add --global agt.recipients WHAT-AGT-KEY-SHOW-PRINTS, then agt session bundle';

function forOthers(file: string): AgtError {
  return new AgtError(`${file} is encrypted for other keys`, {
    hints: ['import the key for which it was made: agt key import FILE', `or ${FOR_YOU}`],
  });
}

function damaged(file: string, cause: unknown): AgtError {
  return new AgtError(`${file} is damaged, or a part of it is missing`, {
    cause,
    hints: ['fetch it again from where it was made'],
  });
}

/** The same session may be here as an earlier agt, which was killed, has left it; or somebody has removed it. */
async function requireOwnId(repository: Repository, id: SessionId, { refs }: Head, file: string) {
  const record = readRecord(repository, id);
  const isEnding = record === undefined || isEnded(record);
  if (isEnding && (await findObject(repository.git, tipRef(id))) === refs['tip']) return;
  if (record !== undefined)
    throw new AgtError(`session "${id}" is here already`, {
      exitCode: EXIT.failed,
      hints: [`open it under another id: agt session open ${shellQuote(file)} --as ID`],
    });
  await requireFreeId(repository, id);
}

async function requireCommits({ git }: Repository, { requires = [] }: Head, file: string): Promise<void> {
  const found = await findObjects(git, requires);
  const missing = requires.find((_, i) => found[i] === undefined);
  if (missing === undefined) return;
  throw new AgtError(`${file} builds on commit ${missing}, which is not here`, {
    hints: [
      'fetch it from the remote of the session: git fetch',
      'or let the file be made with everything: agt session bundle ID FILE --whole',
    ],
  });
}
