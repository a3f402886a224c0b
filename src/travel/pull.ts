import { failurePoint } from '../disk/failure-point.ts';
import { AgtError } from '../errors.ts';
import { sharedPartsRef } from '../filter/agent-refs.ts';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import { runGit } from '../git/run/git.ts';
import { requireFreeId } from '../lifecycle/create.ts';
import { reportProgress } from '../process/progress.ts';
import type { Repository } from '../repository/repository.ts';
import { checkId } from '../session/id.ts';
import { withSessionLock } from '../session/lock.ts';
import { readRecord, withId } from '../session/record.ts';
import { Session } from '../session/session.ts';
import {
  type Held,
  type Part,
  readShares,
  type Share,
  withCopy,
  writeShares,
} from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { arrived, goOn, leave, requireLeavable } from './arrive.ts';
import { recipientsFor } from './content.ts';
import {
  commandToPull,
  commandToPullAs,
  findThere,
  goOnHere,
  heldError,
  ownShare,
  type Pulled,
  type PullRequest,
  takeBack,
} from './find-share.ts';
import { becomeAway, noteHolders } from './held.ts';
import { type Keys, readKeys } from './keys.ts';
import { areHere, chainOf, rangeOf, takePart } from './parts.ts';
import { fetchRefs } from './remote.ts';
import {
  type Head,
  holderHere,
  holdingShares,
  idOf,
  isHere,
  listShares,
  moveShare,
  type RemoteShare,
} from './share.ts';

export async function pullSession(repository: Repository, request: PullRequest): Promise<Pulled> {
  const keys = await readKeys(request.env);
  const { remote, there, here } = await findThere(repository, keys, request);
  const named = request.as === undefined ? here : checkId(request.as);
  const id = named ?? idOf(there?.head as Head);
  return holdingShares({ repository, id }, () =>
    there?.head === undefined
      ? takeBack(repository, id, request, remote)
      : pullFound({ repository, id }, remote, { ...there, head: there.head }, keys, request),
  );
}

async function pullFound(
  { repository, id }: Held,
  remote: string,
  there: RemoteShare & { readonly head: Head },
  keys: Keys | undefined,
  request: PullRequest,
): Promise<Pulled> {
  const { head } = there;
  const own = ownShare(repository, id, there, remote, request);
  const local = readRecord(repository, id);
  const living = local === undefined || isEnded(local) ? undefined : local;
  const shares = readShares({ repository, id });
  // Not a state that agt has only seen: it wrote that down before it took the session.
  const held = [own, shares.pushing].find((one) => one?.head === there.refs.head && one?.holder);
  if (held !== undefined && local !== undefined && !own?.pulling) {
    // A push that was to give it away has failed, and so has the way back, as where the disk is full.
    const isStuck = local.away !== undefined && !request.dryRun;
    const record = isStuck ? await goOnHere({ repository, id }) : local;
    return { record, remote, head, wasHere: true, fork: undefined };
  }
  if (own !== undefined && head.number < own.number)
    throw new AgtError(`"${remote}" has an older state of session "${id}" than it had before`, {
      hints: [`push what is here: agt session push ${id} ${remote} --again`],
    });
  if (head.plain !== undefined && own !== undefined && own.plain === undefined)
    throw new AgtError(
      `session "${id}" on ${remote} is no longer encrypted, and agt has not done that here`,
      {
        hints: [
          `if you trust it, pull it as another one: ${commandToPullAs({ ...request, as: undefined }, there)}`,
          `to send what is here, encrypted: agt session push ${id} ${remote} --again`,
        ],
      },
    );
  // Somebody has removed it here, with its branches.
  const isGone = isHere({ repository }, head.holder) && readRecord(repository, idOf(head)) === undefined;
  if (head.holder !== undefined && !isEnded(head.record) && !request.take && held === undefined && !isGone) {
    // An earlier pull was killed before the remote took it for this repository.
    if (own?.pulling) {
      const copies = local === undefined ? [] : withCopy(shares, { ...own, pulling: undefined }).copies;
      writeShares({ repository, id }, { copies, deleted: shares.deleted });
    }
    await noteHolders(repository, remote, [there]);
    throw heldError(head, head.holder, request);
  }
  if (local === undefined && own === undefined) await requireFreeId(repository, id, head.refs['work']);
  const parts = await takeParts(repository, there, head, keys, remote, own?.parts ?? []);
  await requireComplete(repository, head, lostParts(remote));
  if (request.dryRun) {
    const left = local && (await leave(repository, local, head, request));
    return { record: local ?? head.record, remote, head, wasHere: false, fork: left?.fork };
  }
  if (living !== undefined) {
    await requireLeavable(new Session(repository, living), head, request.now);
    const holder = isHere({ repository }, head.holder) ? undefined : head.holder;
    // Nobody is to go on with what is here if this pull is killed.
    if (living.away === undefined)
      await withSessionLock({ repository, id }, async (locked) => {
        becomeAway(locked, { remote, ...(holder && { holder }) }, request.now);
      });
  }
  // After agt gc, this repository knows by it when the session was here.
  const { moved } = await arrived(repository, id, head, request.now.toISOString());
  const taken = { ...head, record: { ...head.record, moved } };
  const share = await takeLease({ repository, id }, there, taken, { remote, parts, held }, request);
  failurePoint('pull: taken');
  const left = local && (await leave(repository, local, head, request));
  const arriving = { ...left, share, marks: own?.refs['review'] };
  const done = await goOn(repository, id, head, request.now, arriving);
  const { record } = done;
  const landed = local?.state === 'accepted' && !isEnded(record) ? local.landed : undefined;
  return { ...done, remote, head, wasHere: false, fork: left?.fork, landed, checkout: living?.checkout };
}

/** Takes the objects of all parts that are not here yet. */
async function takeParts(
  { git }: Repository,
  { share }: RemoteShare,
  { parts: last, plain }: Head,
  keys: Keys | undefined,
  remote: string,
  known: readonly Part[],
): Promise<readonly Part[]> {
  const tips = known.flatMap((part) => part.tips);
  const had = (await areHere(git, tips)) ? known : [];
  if (had.at(-1)?.commit === last) return had;
  reportProgress('receiving');
  await fetchRefs(git, remote, [sharedPartsRef(share)]).catch((error: unknown) => {
    throw /couldn't find remote ref/.test((error as Error).message) ? lostParts(remote) : error;
  });
  const chain = await chainOf(git, last).catch(() => []);
  if (chain.length === 0) throw lostParts(remote);
  const identities = plain === undefined ? (keys?.identities ?? []) : undefined;
  const parts: Part[] = [];
  for (const [i, link] of chain.entries()) {
    reportProgress('opening', i, chain.length);
    const take = () =>
      takePart(git, identities, link).catch((cause: unknown) => {
        throw lostParts(remote, cause);
      });
    parts.push(had.find(({ commit }) => commit === link.commit) ?? (await take()));
  }
  return parts;
}

function lostParts(remote: string, cause?: unknown): AgtError {
  return new AgtError(`"${remote}" has lost a part of the session, or damaged it`, {
    cause,
    hints: ['where the session was, this sends it whole again: agt session push ID --again'],
  });
}

/** As git does after a fetch: nothing that the refs lead to is missing. */
export async function requireComplete({ git }: Repository, { refs }: Head, error: AgtError): Promise<void> {
  const words = ['rev-list', '--objects', '--stdin', '--not', '--all', '--quiet'];
  const { exitCode } = await runGit(git, words, { input: rangeOf(Object.values(refs), []) });
  if (exitCode !== 0) throw error;
}

/** `held`: as an earlier pull has taken it. @throws AgtError if another repository has taken it meanwhile. */
async function takeLease(
  session: Held,
  { share, refs: there }: RemoteShare,
  { refs, number, plain, pushed_at, sealedFor, snapshots, record, holder }: Head,
  { remote, parts, held }: { remote: string; parts: readonly Part[]; held: Share | undefined },
  request: PullRequest,
): Promise<Share> {
  const { repository, id } = session;
  const { env, now } = request;
  const from: Share = {
    ...{ remote, share, head: there.head, parts, pulling: true, state: record.state },
    ...{ refs, number, snapshots, plain, pushed_at, sealedFor },
  };
  const { recipients } = await recipientsFor(repository, env, plain, from);
  const before = readShares(session);
  const known = held ? { ...from, takenFrom: held.takenFrom, holder } : from;
  writeShares(session, { ...withCopy(before, known), pushing: undefined });
  if (held) return known;
  const takenFrom = isHere(session, holder) ? undefined : holder;
  const to = { ...from, takenFrom, holder: holderHere(session, now), number: number + 1 };
  const moving = { from: there, to, record: withId(record, id), refs, recipients };
  const taken = await withScratchObjects(repository, (scratch) =>
    moveShare(session, scratch, { ...moving, step: 'pull' }),
  );
  if (taken !== undefined) return taken;
  writeShares(session, before);
  const winners = await listShares(repository, remote, await readKeys(env), share);
  await noteHolders(repository, remote, winners);
  const taker = winners[0]?.head?.holder;
  const who = taker === undefined ? 'somebody' : `${taker.name}, in ${taker.repository},`;
  throw new AgtError(`${who} has taken session "${id}" meanwhile`, {
    hints: [`take it all the same: ${commandToPull(request, { take: true })}`],
  });
}
