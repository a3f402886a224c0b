/**
 * Where the work of a session begins, so that what the branch has is no difference: also work that was not committed when
 * the session began with it.
 */
import { join } from 'node:path';
import { takenRef, tipRef } from '../filter/agent-refs.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { findObject, findObjects, readObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, entryOf } from '../git/objects/raw-diff.ts';
import {
  editTree,
  type IndexEdit,
  mergeTrees,
  plainCommit,
  withIndex,
} from '../git/objects/scratch-index.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import { type Git, gitAnswer, gitBytes, isAncestor } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { landingsOf } from '../session/landings.ts';
import { type Landed, listRecords, type SessionRecord } from '../session/record.ts';
import { sandboxHead } from '../session/sandbox.ts';
import { type Session, startCommit } from '../session/session.ts';
import { parseSnapshot } from '../snapshot/history.ts';
import { decodePath, encodePath } from '../snapshot/tree-names.ts';
import type { Work } from './examine.ts';
import { findStartApart, isMerged, tipWithFamily } from './merged.ts';
import { mergingIn } from './sandbox-facts.ts';

interface Ends {
  /** Of the merge. `isAccepted`: what the session itself has landed. */
  readonly base: string;
  readonly isAccepted?: boolean;
  /** The branch. */
  readonly from: string;
  /** HEAD of the session. */
  readonly head: string | undefined;
  /** The content of the session; of its changes, `more` are those that no commit has. */
  readonly tree: string;
  readonly more?: readonly string[];
  /** Sessions that have landed before this one, in a dry run of several. */
  readonly planned?: readonly SessionId[];
}

/**
 * The files that the branch has as at the snapshot where the session was forked, or a fork of it began, or an earlier one,
 * or as the session took them along from the user; and with a family of which something has landed, as the session has them.
 * Where the other one of a fork has gone on before all its work landed, both sides come from the file at the fork.
 */
export async function sharedFiles(
  records: readonly SessionRecord[],
  { session_id: id, from: parent, landed, moved }: SessionRecord,
  git: Git,
  { base, from, head, tree, more = [], planned = [], isAccepted = false }: Ends,
): Promise<IndexEdit[]> {
  const family = records.filter((one) => (one.session_id === id ? parent : one.from === id));
  const ids = new Set([id, parent, ...family.map(({ session_id }) => session_id)]);
  const isPlanned = planned.some((one) => one !== id && ids.has(one));
  const hasLanded = isPlanned || records.some((one) => ids.has(one.session_id) && one.landed);
  // A session that began with the commits of another one alone names that one, and no snapshot.
  const forks = (hasLanded ? family : []).flatMap((one) => one.from_spec ?? []);
  const found = (await findObjects(git, forks)).map((one) => one?.oid);
  const snapshots = forks.filter((one, i) => one === found[i]);
  // A pull may have left what a fork has: the copy that came has only what both began with.
  const split = (one: string) => gitAnswer(git, ['merge-base', '--all', one, tipRef(id)]);
  const had = moved && (await Promise.all(snapshots.map(split))).flatMap((all) => all?.split('\n') ?? []);
  const forkedAt = await notAheadOf(git, head, had ?? snapshots);
  const taken = await findObject(git, `${takenRef(id)}^{commit}`);
  const namesOf = (path: string) => [
    ...forkedAt.map((at) => `${at}:sandbox/${encodePath(path)}`),
    ...(taken === undefined ? [] : [`${taken}:${path}`]),
  ];
  if (namesOf('').length === 0) return [];
  const changedTo = (to: string) => diffTrees(git, base, to, { countLines: false });
  // A session that has given a file up, as by git reset, does not take it off the branch.
  const own = new Map((await changedTo(tree)).map(({ path, after }) => [path, entryOf(after)]));
  const isOwn = ({ path, after }: DiffEntry) =>
    hasLanded && own.has(path) && own.get(path) === entryOf(after) && !more.includes(path);
  const isChanged = (path: string) => own.has(path) || more.includes(path);
  const changes = (await changedTo(from)).filter((one) => isOwn(one) || (one.after && isChanged(one.path)));
  const names = changes.flatMap(({ path }) => namesOf(path));
  const oids = new Map((await findObjects(git, names)).map((object, i) => [names[i], object?.oid]));
  const isAtFork = ({ path, after }: DiffEntry) =>
    after !== undefined && namesOf(path).some((name) => oids.get(name) === after.oid);
  const others = changes.filter((one) => one.after && !isOwn(one) && !isAtFork(one));
  const earlier = await versionsUpTo(git, forkedAt, others);
  const having = others.flatMap((one) => earlier.get(versionOf(one)) ?? []);
  const usable = new Set(await notAheadOf(git, head, having));
  const wasThere = (one: DiffEntry) =>
    earlier.get(versionOf(one))?.some((commit) => usable.has(commit)) === true;
  const shared = changes.filter((one) => !isOwn(one) && (isAtFork(one) || wasThere(one)));
  // There the branch has taken something back since.
  const ours = isAccepted && shared.length > 0 ? await broughtBy(git, landingsOf(landed)) : [];
  const brought = new Set(ours.map(({ path }) => path));
  const chosen = changes.filter((one) => isOwn(one) || (shared.includes(one) && !brought.has(one.path)));
  const edits = chosen.map(({ path, after }): IndexEdit => [path, entryOf(after)]);
  const rest = isAccepted ? [] : changes.filter((one) => !isOwn(one) && !shared.includes(one));
  for (const one of rest.length === 0 ? [] : family.filter((of) => forkedAt.includes(of.from_spec ?? ''))) {
    const other = one.session_id === id ? records.find(({ session_id }) => session_id === parent) : one;
    const isThere = await broughtWith(git, one.created_at, other?.landed, from);
    for (const { path, after } of rest) {
      const atFork = oids.get(`${one.from_spec}:sandbox/${encodePath(path)}`);
      if (after && atFork && isThere(path, atFork)) edits.push([path, `${after.mode} ${atFork}`]);
    }
  }
  return edits;
}

/** Whether the branch got a file as at the fork, or from an acceptance of all work, which came after the fork. */
async function broughtWith(git: Git, fork: string, landed: Landed | undefined, tip: string) {
  const brought: DiffEntry[] = [];
  const known = new Set<string>();
  for (const one of landingsOf(landed)) {
    if (!(await isAncestor(git, one.commit, tip))) continue;
    const files = await broughtBy(git, [one]);
    brought.push(...files);
    if (one === landed && !one.in_part && one.at >= fork) for (const { path } of files) known.add(path);
  }
  const exact = new Set(brought.map(versionOf));
  return (path: string, atFork: string) => known.has(path) || exact.has(`${atFork} ${path}`);
}

/** The files of these acceptances. */
async function broughtBy(git: Git, landings: readonly Landed[]): Promise<DiffEntry[]> {
  const diffs = landings.map(({ from, commit }) =>
    diffTrees(git, from, commit, { countLines: false }).catch(() => []),
  );
  return (await Promise.all(diffs)).flat();
}

/** A session that has gone back behind a sync takes nothing off the branch that a snapshot has by that sync. */
async function notAheadOf(git: Git, head: string | undefined, snapshots: readonly string[]) {
  if (head === undefined) return snapshots;
  const contents = (await readObjects(git, snapshots)).map((object) => object?.content.toString('latin1'));
  const isBefore = contents.map(async (content = '', i) => {
    const { head: then, parents } = parseSnapshot(snapshots[i] ?? '', content);
    const [, user] = parents;
    const newest = then && user && (await gitAnswer(git, ['merge-base', then, user]));
    return !newest || isAncestor(git, newest, head);
  });
  const kept = await Promise.all(isBefore);
  return snapshots.filter((_, i) => kept[i]);
}

export const versionOf = ({ path, after }: DiffEntry) => `${after?.oid} ${path}`;

/** The snapshots up to these that have brought a version of a file, by `versionOf`. */
export async function versionsUpTo(git: Git, snapshots: readonly string[], files: readonly DiffEntry[]) {
  const found = new Map<string, string[]>();
  if (snapshots.length === 0 || files.length === 0) return found;
  const paths = files.map(({ path }) => `sandbox/${Buffer.from(encodePath(path), 'latin1')}`);
  const words = '--literal-pathspecs log -z --raw --no-abbrev --no-renames --first-parent --format=commit:%H';
  const log = await gitBytes(git, [...words.split(' '), ...snapshots, '--', ...paths]);
  let snapshot = '';
  const parts = /commit:(\w+)\0|:\d+ \d+ \w+ (\w+) \w\0sandbox\/([^\0]+)/g;
  for (const [, commit, oid, path = ''] of log.toString('latin1').matchAll(parts)) {
    snapshot = commit ?? snapshot;
    const key = `${oid} ${decodePath(path)}`;
    if (commit === undefined) found.set(key, [...(found.get(key) ?? []), snapshot]);
  }
  return found;
}

type Scratch = Pick<ScratchObjects, 'git' | 'dir'>;

/** The base with those: both sides of the merge come from it. A tree, if there are some. */
export async function baseWithShared(
  { repository, record }: Session,
  { git, dir }: Scratch,
  ends: Ends,
): Promise<string> {
  const edits = await sharedFiles(listRecords(repository).records, record, git, ends);
  if (edits.length === 0) return ends.base;
  return editTree(withIndex(git, join(dir, 'base-index')), { tree: ends.base }, edits);
}

/** `records`: all of the repository. */
export async function workWithShared(
  { git }: Repository,
  record: SessionRecord,
  work: Work | undefined,
  records: readonly SessionRecord[],
): Promise<Work | undefined> {
  const { base, tip, head = '', sandbox, isAccepted = false } = work ?? {};
  if (work === undefined || base === undefined || tip === undefined) return work;
  const more = sandbox?.files.map(({ path }) => path) ?? [];
  const ends = { base, isAccepted, from: tip, head, tree: head, more };
  const shared = await sharedFiles(records, record, git, ends);
  return shared.length === 0 ? work : { ...work, shared };
}

/** A commit or a tree. `tree`: the content of the session. `landed`: what the branch has of it. */
export async function baseOfWork(
  session: Session,
  scratch: Scratch,
  tree: string | undefined,
  landed?: string,
): Promise<string> {
  const { user_branch: from } = session.record;
  const { commit: head } = await sandboxHead(session);
  const base = landed || (await commonBase(session, scratch.git, head));
  return from === undefined || tree === undefined
    ? base
    : baseWithShared(session, scratch, { base, isAccepted: !!landed, from, head, tree });
}

/** The content without what a merge would bring to the branch, which may have some of it in another form. */
export async function withoutLanding(
  git: Git,
  { base, from, tree }: Pick<Ends, 'base' | 'from' | 'tree'>,
): Promise<string | undefined> {
  const names = [base, from].map((name) => `${name}^{tree}`);
  const [before, onto] = (await findObjects(git, names)).map((object) => object?.oid);
  if (before === undefined || onto === undefined || before === onto) return undefined;
  const landing = await mergeTrees(git, before, onto, tree);
  return landing && (landing === onto ? tree : mergeTrees(git, landing, tree, onto));
}

/**
 * Where the work of the session begins: its start, if the user has dropped that, with what it has from the branch since;
 * HEAD, if the user branch has the commits in another form; else where the two part. `git` may store objects.
 */
async function commonBase(session: Session, git: Git, commit: string | undefined): Promise<string> {
  const { record } = session;
  const { work_branch, user_branch: home, from_commit } = record;
  const [head, tip] = [commit ?? work_branch, home ?? from_commit];
  const onto = await tipWithFamily(session, git, head, { onto: tip, from: tip });
  const start = await findStartApart(session, git, head, onto);
  if (commit && home && (await isMerged(session, commit, home, git))) return commit;
  const common = (await gitAnswer(git, ['merge-base', '--all', head, onto]))?.split('\n') ?? [];
  const [base, other] = [start, ...common].filter((one) => one !== undefined);
  const gitDir = gitDirOf(record.sandbox);
  const merging = gitDir && mergingIn(gitDir);
  return base === undefined ? startCommit(session) : joined(git, base, merging ?? other);
}

/** A commit with the content of both, if they do not conflict. `git` may store objects. */
export async function joined(git: Git, base: string, other: string | undefined): Promise<string> {
  const both = other && (await gitAnswer(git, ['merge-tree', '--write-tree', base, other]));
  return both ? plainCommit(git, both, [base]) : base;
}
