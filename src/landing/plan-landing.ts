/** Merges the work of a session with a branch, and decides which commit the branch gets. */
import { join } from 'node:path';
import { displayPath } from '../disk/path-bytes.ts';
import { listSome, plural } from '../errors.ts';
import { SUBMODULE } from '../git/modes.ts';
import { findObject } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees } from '../git/objects/raw-diff.ts';
import { plainCommit } from '../git/objects/scratch-index.ts';
import { type Git, gitAnswer, gitLines, isAncestor, resolveObject } from '../git/run/git.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { hasCommitted, type SessionRecord } from '../session/record.ts';
import { dirtySubmodules } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import { baseWithShared, joined } from '../survey/base-of-work.ts';
import {
  familyOf,
  findStartApart,
  isMerged,
  knownStarts,
  landedSource,
  tipWithFamily,
} from '../survey/merged.ts';
import { readSessionStatus } from '../survey/status.ts';
import type { Landable, NewPlan } from './accept-request.ts';
import { refuseSessionFolders } from './export.ts';
import {
  conflictError,
  LISTED,
  nothing,
  nothingSeen,
  nothingToAccept,
  solveInSandbox,
} from './landing-errors.ts';
import { commitTree } from './make-commit.ts';
import { commitFirst, draftMessage } from './message.ts';
import { choosePaths, leaveOut, pathsLacking, refuseUnstorable } from './path-filter.ts';
import { pickCommits } from './pick-commits.ts';
import { hasAllCommitted, mergeBase, readSandbox, type SandboxContent } from './sandbox-content.ts';
import {
  commitsToTell,
  commitsTouching,
  landedBelow,
  landedUncommitted,
  warnOfReturn,
} from './session-commits.ts';
import { withoutFailedCalls } from './snapshot-step.ts';
import { baseWithTaken, takenChanges } from './taken.ts';
import { othersCommits, warnOfOthers } from './taken-back.ts';
import { secretWarning, untrackedAmong, untrackedByCommits, untrackedToLeaveOut } from './untracked.ts';
import { refuseHidden, usersOwn } from './users-side.ts';
import { mergeInMemory, mergeWithBase } from './workbench.ts';

/** `there`: what the branch has in another form. @throws AgtError for conflicts, or if there is nothing to accept */
export async function planLanding(session: Session, landable: Landable, there?: string): Promise<NewPlan> {
  const { id, record } = session;
  const { sandbox } = record;
  const { target, bench, request } = landable;
  const { git } = bench;
  if (request.commits.length > 0) return pickCommits(session, landable);
  const content = await readSandbox(session, bench, request);
  const { unstorable, unreadable } = content;
  const { chooseTree } = request;
  await refuseUnstorable(id, unstorable, {
    ...request,
    committedOnly: request.committedOnly || chooseTree !== undefined,
    untracked: request.untracked ?? session.repository.settings.untracked,
  });
  const calls =
    request.withFailed || chooseTree !== undefined
      ? { tree: content.tree, leftOut: [] }
      : await withoutFailedCalls(session, bench, content, landable.newer);
  const landed = there ?? (await landedSource(git, record, content.head, target));
  const tip = await tipWithFamily(session, git, content.head, target);
  const isWhole = request.keepCommits || landed !== undefined;
  const start = isWhole ? undefined : await findStartApart(session, git, content.head, tip);
  // The branch has the commits in another form: what is not committed is all that can land.
  const isJoined = async () => (await gitAnswer(git, ['merge-base', tip, content.head])) !== undefined;
  const mayBeThere = landed === undefined && (start === undefined || !(await isJoined()));
  if (mayBeThere && (await isMerged(session, content.head, target.from, git)))
    return planLanding(session, landable, content.head);
  const fork = landed ?? (await mergeBase(git, tip, content.head));
  const common = start === undefined ? fork : await joined(git, start, fork);
  const taken = await takenChanges(session);
  const begun = await baseWithTaken(session, bench, common, target, taken);
  const planned = request.planned?.map((one) => one.session.id) ?? [];
  const { head } = content;
  const isAccepted = landed !== undefined && there === undefined;
  const ends = { base: begun, isAccepted, from: target.from, head, tree: content.tree, planned };
  const base = await baseWithShared(session, bench, ends);
  const work = { ...content, tree: calls.tree };
  const standing = await request.withoutRejected?.(session, bench, work);
  const { rejected = 0 } = standing ?? {};
  const whole = { tree: standing?.tree ?? work.tree, prompts: [], isPart: false };
  const { tree: wanted, ...told } = (await chooseTree?.(bench, content, { ...ends, base })) ?? whole;
  const chosen = await choosePaths(bench, { ...content, base, tree: wanted }, request);
  const added = await diffTrees(git, base, chosen.tree);
  const untracked = request.committedOnly ? [] : await untrackedAmong(session, added);
  const known = await knownStarts(session, git);
  const family = await familyOf(session.repository, git)(record, target.onto, target.from);
  const sources = family.map(({ source }) => source);
  const excluded = [tip, landed ?? [], start ? [start, ...known] : [], sources].flat();
  const commits = await commitsBetween(git, excluded, content.head);
  const { isUsers } = await usersOwn(session);
  const uncommitted =
    landed === undefined
      ? await untrackedByCommits(session, content, request)
      : request.committedOnly
        ? await landedUncommitted(git, content, landed, target.from, added)
        : [];
  const mergeWith = async (tree: string) => {
    const theirs = await commitToMerge(session, { ...content, tree }, landable);
    const merged =
      landed === undefined && start === undefined && base === common
        ? await mergeInMemory(bench, tip, theirs)
        : await mergeWithBase(bench, { base, ours: target.from, theirs });
    return { theirs, merged };
  };
  const tryWithout = async (unwanted: ReadonlySet<string>, from: string) => {
    const left = [...added.filter((change) => unwanted.has(change.path) || isUsers(change)), ...uncommitted];
    const { tree, leftOut } = await leaveOut(bench, from, left);
    return { left, leftOut, ...(await mergeWith(tree)) };
  };
  const mergeWithout = async (unwanted: ReadonlySet<string>) => {
    const { merged, ...rest } = await tryWithout(unwanted, chosen.tree);
    if (merged.conflicts === undefined) return { ...rest, merged };
    // The branch may have gone on with a copy of the work.
    const { merged: isThere, isLanded } = await readSessionStatus(session);
    const isHome = target.onto === record.user_branch && (!isLanded || record.landed?.onto === target.onto);
    if (isHome && isThere) throw nothingToAccept(git, record, target, { head, starts: known });
    const parted = await mergeBase(git, target.from, content.head);
    const theirChanges = new Set((await diffTrees(git, parted, target.from)).map(({ path }) => path));
    // A sync does not solve it then.
    const isElsewhere = start !== undefined && target.onto !== record.user_branch;
    const inTheWay = isElsewhere ? [] : content.uncommitted;
    const open = inTheWay.flatMap(({ path }) => (theirChanges.has(path) ? path : []));
    const way = open.length === 0 ? [] : [await commitFirst(session, open)];
    const isSynced = parted === target.from;
    const solve = solveInSandbox(record, target, { hasDropped: start !== undefined, isSynced });
    const hints = way.length === 0 ? [solve] : [...way, `then ${solve}`];
    throw conflictError(record, target, merged.conflicts, hints);
  };
  // No answer to the question would help.
  const isAsked = request.askUntracked !== undefined && untracked.length > 0;
  if (isAsked) await mergeWithout(new Set(untracked));
  const unwanted = await untrackedToLeaveOut(session, untracked, commits.length > 0, request);
  const { left, leftOut, theirs, merged } = await mergeWithout(unwanted);
  const changes = await diffTrees(git, target.from, merged.tree);
  const dirty = request.committedOnly ? [] : await dirtySubmodules(session);
  if (changes.length === 0) {
    if (calls.leftOut.length > 0)
      throw nothing(
        `only changes by failed calls are left in session "${id}"`,
        `take them all the same: --with-failed (${listSome(calls.leftOut, LISTED)})`,
      );
    const isCommittedOnly = request.committedOnly && !left.some(isUsers);
    if (isCommittedOnly && (await diffTrees(git, base, content.whole)).length > 0)
      throw nothing(
        `nothing new is committed in session "${id}"`,
        'take its uncommitted files, too: without --committed-only',
      );
    if (rejected > 0 && leftOut.length === 0)
      throw nothing(
        `only ${plural(rejected, 'rejected hunk')} of agt review ${rejected === 1 ? 'is' : 'are'} left in session "${id}"`,
        `undo them in the sandbox: agt review ${id} --now`,
        `or let them land after all: agt review ${id} --new FILE`,
        `or end the session: agt session remove ${id}`,
      );
    if (chooseTree !== undefined) throw nothingSeen(record);
    const more = await pathsLacking(git, chosen.leftOut, merged.tree, () => tryWithout(unwanted, wanted));
    if (more.length > 0)
      throw nothing(
        `you left out all that is left of session "${id}"`,
        `take it, too: without --include and --exclude (${listSome(more, LISTED)})`,
      );
    const hasNone = added.length === 0 && commits.length === 0 && landed === undefined;
    if (hasNone && dirty.length > 0)
      throw nothing(
        `session "${id}" has only uncommitted changes inside submodules`,
        ...dirty.map((path) => `commit them there: git -C ${shellQuote(join(sandbox, path))} commit`),
      );
    const isClean = hasNone && content.uncommitted.length === 0;
    const within = record.landed || hasCommitted(record, head) ? known.slice(-1) : known;
    if (isClean && (await Promise.all(within.map((one) => isAncestor(git, head, one)))).some(Boolean))
      throw nothing(
        `session "${id}" has changed nothing yet, or only files that git ignores`,
        `see: agt session show ${id}`,
      );
    if (isCommittedOnly || leftOut.length === 0)
      throw nothingToAccept(git, record, target, { head, starts: known });
    // In place: an accept would take the user's change with that of the agent.
    if (left.every(isUsers))
      throw nothing(
        `in what session "${id}" changed, git passes over changes of yours (${listSome(leftOut, LISTED)})`,
        `see all changes: agt session diff ${id} --base`,
        `end the session: agt session reject ${id}`,
      );
    throw nothing(
      `only untracked files are left in session "${id}"`,
      `take them all the same: --untracked=all (${listSome(leftOut, LISTED)})`,
    );
  }
  if (request.keepCommits) {
    await refuseSessionFolders(session.git, commits);
    refuseHidden(added, new Set(added.filter(isUsers).map(({ path }) => path)));
  }
  const hasRest = chooseTree !== undefined && chosen.tree !== content.tree;
  const isPart = request.include.length + request.exclude.length > 0 || hasRest;
  const landing = new Set(changes.map(({ path }) => path));
  const isTakenBack = !request.committedOnly && content.uncommitted.some(({ path }) => !landing.has(path));
  const leftOutCommits = await landedBelow(session, git, tip, start);
  const isLessThere = base !== common || changes.length < added.length || leftOutCommits.length > 0;
  // A sync may have brought a squash of some commits.
  const isMixed = rejected > 0 || record.synced !== undefined;
  const isSome = isPart || isTakenBack || isLessThere || isMixed;
  // The branch may have renamed a file that the session changed.
  const isRenamed = changes.some(({ path }) => !added.some((one) => one.path === path));
  const touched = isRenamed ? [...changes, ...added.filter(({ path }) => !landing.has(path))] : changes;
  const isApart = isMixed || record.landed?.in_part === true;
  const onto = (await resolveObject(git, `${target.from}^{tree}`)) ?? '';
  const trees = { before: onto, after: merged.tree };
  const way = { tip, head: content.head, landed, commits, changes: touched, isSome, isApart, ...trees };
  const others = await othersCommits(session, commits, tip);
  const ofOthers = new Set(others.map(({ commit }) => commit));
  const messages = (await commitsToTell(git, record, way)).filter((commit) => !ofOthers.has(commit));
  // Those that the branch gets with the work of the session.
  const touching = others.length === 0 ? [] : await commitsTouching(git, way, touched);
  const landingToo = new Set(touching.map(({ commit }) => commit));
  const along = others.filter(({ commit, isThere }) => !isThere && landingToo.has(commit));
  const paths =
    (chosen.leftOut.length > 0 || (hasRest && told.prompts.length === 0)) && messages.length === 0
      ? changes.map(({ path }) => displayPath(path))
      : undefined;
  const isSomeThere = !isAccepted && (landed !== undefined || base !== common);
  const writers = isApart || isSomeThere ? await standing?.turnsBetween(base, theirs) : undefined;
  const open = request.committedOnly ? await diffTrees(git, merged.tree, content.whole) : [];
  const stays = new Set(open.map(({ path }) => path));
  const notTaken = content.uncommitted.flatMap(({ path }) => (stays.has(path) ? displayPath(path) : []));
  const allLeftOut = [calls.leftOut, chosen.leftOut, leftOut, notTaken].flat();
  const lacking = await pathsLacking(git, allLeftOut, merged.tree, () => mergeWith(content.whole));
  const stayOut = new Set([...lacking, ...unstorable, ...unreadable]);
  const isLess = hasRest || rejected > 0 || stayOut.size > 0;
  const telling = { ...told, target, along, paths, changes, writers };
  return {
    ...target,
    tree: merged.tree,
    parents: [target.from, ...(request.keepCommits ? [theirs] : [])],
    message: await draftMessage(session, messages, request, telling),
    commit: undefined,
    // git sees commits that are excluded; what was uncommitted has become one that the sandbox does not have.
    source: request.keepCommits && theirs === content.head ? undefined : theirs,
    hasRest: hasRest || rejected > 0,
    hasCommits: isLess && (await hasAllCommitted(git, content, base, theirs)),
    leftOutCommits,
    changes,
    untracked,
    leftOut: [...stayOut],
    warnings: [
      ...(standing?.warnings ?? []),
      ...(record.failure === undefined ? [] : [`the session had failed: ${record.failure.reason}`]),
      ...unreadable.map((path) => `stays out, because its mode keeps agt from it: ${path}`),
      ...(calls.leftOut.length === 0
        ? []
        : [`changes by failed calls stay out (${calls.leftOut.join(', ')}); take them too: --with-failed`]),
      ...dirty.map((path) => `uncommitted changes inside submodule ${path} stay out: commit them there`),
      ...changes.flatMap((change) => submoduleWarning(record, change)),
      ...(await warnOfReturn(session, git, { tip: target.from, theirs }, changes)),
      ...(await warnOfOthers(git, record, content.head, { target, request, along })),
      ...secretWarning(record, changes, new Set(untracked), request),
    ],
  };
}

/** The branch gets the name of a commit alone: it may be only in the sandbox. */
function submoduleWarning({ sandbox, session_id: id }: SessionRecord, { path, after }: DiffEntry): string[] {
  if (after?.mode !== SUBMODULE) return [];
  const [name, commit] = [displayPath(path), after.oid.slice(0, 10)];
  const push = `git -C ${shellQuote(join(sandbox, name))} push origin ${commit}:refs/heads/BRANCH`;
  return [
    `submodule ${name} is now at ${commit}; if its remote lacks that: ${push} (once the sandbox is gone, first: agt undo ${id})`,
  ];
}

/** With --keep-commits the branch gets this commit too, so the user makes it. */
async function commitToMerge(session: Session, content: SandboxContent, { bench, request }: Landable) {
  const { git } = bench;
  if ((await findObject(git, `${content.head}^{tree}`)) === content.tree) return content.head;
  if (!request.keepCommits) return plainCommit(git, content.tree, [content.head]);
  const message = await draftMessage(session, [], {
    text: `Uncommitted work of session ${session.id}`,
    summary: undefined,
  });
  return commitTree(git, { tree: content.tree, parents: [content.head], message });
}

/** The commits of `head` that the others lack, oldest first. */
export async function commitsBetween(git: Git, others: readonly string[], head: string): Promise<string[]> {
  const args = ['rev-list', '--reverse', '--topo-order', head, '--not', ...others, '--'];
  return gitLines(git, args);
}
