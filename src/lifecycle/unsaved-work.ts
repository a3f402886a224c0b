/** The work of a session that would be lost with its branches. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { displayPath } from '../disk/path-bytes.ts';
import { FEW, listSome, plural } from '../errors.ts';
import { landedRef, reviewRef, shadowNamespaces, takenRef, tipRef } from '../filter/agent-refs.ts';
import { objectName } from '../git/objects/commits.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import { findObjects, readObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, diffTreeWords, parseRawDiff } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import { shownFiles } from '../git/objects/status.ts';
import { gitAnswer, gitBytes, gitLines, gitText, isAncestor, resolveObject } from '../git/run/git.ts';
import { once } from '../once.ts';
import type { Repository } from '../repository/repository.ts';
import { landingsOf } from '../session/landings.ts';
import type { SessionRecord } from '../session/record.ts';
import { ignoredPaths, requireReadableSandbox, sandboxHead, uncommittedFiles } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import { stashEntries } from '../session/stash.ts';
import { unpushedInSubmodules } from '../session/submodules.ts';
import { isMadeAgain } from '../snapshot/build-output.ts';
import { labelByPerson } from '../snapshot/format.ts';
import { readSnapshotTree, readStartTree } from '../snapshot/tree.ts';
import { decodePath } from '../snapshot/tree-names.ts';
import { isAsLanded, isMerged, landedSource } from '../survey/merged.ts';
import { readSessionStatus } from '../survey/status.ts';
import { observeSession } from '../workspace/capture-session.ts';

/** All that goes with the branches and the snapshots. `going`: other sessions that go as well. */
export async function lostWithBranches(
  session: Session,
  going: readonly SessionRecord[] = [],
): Promise<string[]> {
  const refs = [session.record, ...going].flatMap(refsOfSession);
  const unsaved = await unsavedWork(session, refs);
  const labelled = await labelledSnapshots(session, refs);
  const paths = await onlyInSnapshots(session, refs);
  const files = `files that only its snapshots have (${listSome(paths, FEW)})`;
  return [...unsaved, ...labelled, ...(paths.length === 0 ? [] : [files])];
}

/** Those that go with its branches. */
export function refsOfSession({ session_id: id, branch, work_branch }: SessionRecord): string[] {
  return [work_branch, branch, tipRef(id), takenRef(id), landedRef(id), reviewRef(id)];
}

/**
 * One entry each: files that are not committed, commits that are neither exported nor merged, and the stash. `refs`: those
 * that go. `cancelled`: a commit of which nothing is left.
 */
export async function unsavedWork(
  session: Session,
  refs = refsOfSession(session.record),
  cancelled?: string,
): Promise<string[]> {
  const { length: stashed } = await stashEntries(session);
  const unmerged = await unmergedWork(session, refs, cancelled);
  const dropped = unmerged.length > 0 ? [] : await droppedFiles(session, refs);
  return [
    ...unmerged,
    ...(dropped.length === 0
      ? []
      : [`files that have landed, and that no branch has now (${listSome(dropped, FEW)})`]),
    ...(stashed === 0 ? [] : [plural(stashed, 'stashed change')]),
  ];
}

async function unmergedWork(session: Session, refs: readonly string[], cancelled?: string) {
  const { repository, record } = session;
  const unsaved = await unpushedInSubmodules(repository, record);
  const survey = once(() => readSessionStatus(session));
  const isListedMerged = async (commit: string) => {
    const { merged, headCommit, ...status } = await survey();
    const isKnown = merged && status.cancelled === cancelled && headCommit !== undefined;
    return isKnown && isAncestor(repository.git, commit, headCommit);
  };
  const openCommits = async (commit: string, name: string) => {
    const open = commit === cancelled ? 0 : await unmergedCommits(session, commit, refs);
    if (open === 0 || (session.place === 'here' && (await isListedMerged(commit)))) return [];
    return [`${plural(open, 'commit')} ${name} neither exported nor merged`];
  };
  if (session.place === 'here') {
    requireReadableSandbox(session);
    const { commit } = await sandboxHead(session);
    const landed = commit && (await landedSource(repository.git, record, commit));
    if (landed && unsaved.length === 0 && (await isAsLanded(session, landed))) return [];
    const uncommitted = await uncommittedFiles(session);
    // The survey does not look into submodules.
    const isKnown = uncommitted.length > 0 && !uncommitted.some(({ isSubmodule }) => isSubmodule);
    if (commit && isKnown && (await isListedMerged(commit))) return unsaved;
    if (uncommitted.length > 0) unsaved.push(plural(shownFiles(uncommitted).length, 'uncommitted file'));
    if (commit !== undefined) unsaved.push(...(await openCommits(commit, 'on its HEAD')));
  }
  const tip = await resolveObject(repository.git, record.work_branch);
  const head = session.place === 'here' ? tip : (tip ?? (await session.history())[0]?.head);
  if (head === undefined || unsaved.length > 0) return unsaved;
  const landed = record.landed?.in_part ? undefined : await landedSource(repository.git, record, head);
  if (landed && (await isAncestor(repository.git, head, landed))) return unsaved;
  return openCommits(head, tip === undefined ? 'in its last snapshot' : 'on its work branch');
}

/** Those of acceptances of which a branch has another form, as after an amend, that has nothing of these files. */
async function droppedFiles({ git, repository, record }: Session, refs: readonly string[]) {
  const dropped: DiffEntry[] = [];
  for (const { commit, from, onto } of landingsOf(record.landed)) {
    const found = await findObjects(git, [commit, from, onto]);
    if (found.includes(undefined) || (await isAncestor(git, commit, onto))) continue;
    const changed = (to: string) => diffTrees(git, from, to, { countLines: false });
    const since = new Set((await changed(onto)).map(({ path }) => path));
    const gone = (await changed(commit)).filter(({ path, after }) => after && !since.has(path));
    if (gone.length === 0) continue;
    const words = ['rev-list', '--objects', ...othersThan(repository, refs), '--not', from, '--'];
    const newer = (await gitLines(git, words)).map((line) => line.split(' ')[0]);
    const there = new Set([...newer, ...(await listTree(git, from, 'files')).map(({ oid }) => oid)]);
    dropped.push(...gone.filter(({ after }) => !there.has(after?.oid)));
  }
  return dropped.map(({ path }) => displayPath(path));
}

/**
 * Files of the sandbox that no commit of the user has, nor one of the session: they are in the last snapshot or come into it,
 * or they were in an older one and nothing has come of them. Not what a build makes again, if git ignores it. For a sandbox
 * that is there, `git status` knows those that git does not ignore.
 */
async function onlyInSnapshots(session: Session, refs: readonly string[]): Promise<string[]> {
  const { git, record } = session;
  const isHere = session.place === 'here';
  const seen = isHere ? await observeSession(session) : undefined;
  const last = isHere ? await sandboxHead(session) : undefined;
  const head = last?.commit ?? (await session.history())[0]?.head;
  const { landed, from_commit: start, work_branch: work, user_branch: home } = record;
  const base = (await readStartTree(git, start)).files;
  const saved = new Set([...base.values()].map(({ oid }) => oid));
  const tracked = new Set(base.keys());
  for (const name of [head, work, home, landed?.source, landed?.commit]) {
    const tree = name && (await resolveObject(git, `${name}^{tree}`));
    for (const { oid, path } of tree ? await listTree(git, tree, 'files') : []) {
      saved.add(oid);
      tracked.add(SANDBOX + path);
    }
  }
  const tip = await resolveObject(git, tipRef(session.id));
  const files = seen || tip === undefined ? undefined : await readSnapshotTree(git, tip);
  const gone = new Set(seen?.scanned.deletions);
  const now = (path: string) =>
    gone.has(path)
      ? undefined
      : (seen?.scanned.writes.get(path) ?? seen?.last.find(path) ?? files?.get(path));
  const versions = await ownVersions(session, refs);
  for (const path of seen?.scanned.writes.keys() ?? [])
    if (!versions.has(path)) versions.set(path, new Set());
  const lost = new Map<string, 'now' | 'before'>();
  for (const [path, oids] of versions) {
    const { oid } = now(path) ?? {};
    if (!path.startsWith(SANDBOX)) continue;
    if (oid !== undefined && !saved.has(oid)) lost.set(path.slice(SANDBOX.length), 'now');
    else if (oid === base.get(path)?.oid && [...oids].some((one) => !saved.has(one)))
      lost.set(path.slice(SANDBOX.length), 'before');
  }
  // The worktree may have other ends of lines than the commit.
  const converted = [...lost.keys()].filter(
    (path) => lost.get(path) === 'now' && tracked.has(SANDBOX + path),
  );
  const oids = converted.map((path) => now(SANDBOX + path)?.oid ?? '');
  const contents = await readObjects(git, oids);
  for (const [i, path] of converted.entries()) {
    const text = contents[i]?.content.toString('latin1').replaceAll('\r\n', '\n');
    const content = Buffer.from(text ?? '', 'latin1');
    if (text !== undefined && saved.has(objectName({ type: 'blob', content }, start))) lost.delete(path);
  }
  const ignored = await ignoredPaths(isHere ? session.sandboxGit : git, [...lost.keys()]);
  const isLost = ([path, when]: [string, string]) =>
    ignored.has(path)
      ? !isMadeAgain(path, (one) => tracked.has(SANDBOX + one)) &&
        !(isHere && record.checkout !== undefined && when === 'now')
      : !isHere || when === 'before';
  const found = [...lost].filter(isLost).map(([path]) => path);
  const only = (path: string) =>
    lost.get(path) === 'now'
      ? [now(SANDBOX + path)?.oid]
      : [...(versions.get(SANDBOX + path) ?? [])].filter((oid) => !saved.has(oid));
  // Such as the copies that `.worktreeinclude` names, and what a session in place has brought back at its end.
  const isInCheckout = await Promise.all(
    found.map(async (path) => {
      const words = ['hash-object', '--no-filters', '--', displayPath(path)];
      const there = existsSync(join(git.cwd, displayPath(path))) ? await gitAnswer(git, words) : undefined;
      return there !== undefined && only(path).every((oid) => oid === there);
    }),
  );
  return found.filter((_, i) => !isInCheckout[i]).map(displayPath);
}

const SANDBOX = 'sandbox/';

/** Each file that a snapshot has changed which no other ref has. A fork shares the older ones with its parent. */
async function ownVersions(session: Session, refs: readonly string[]) {
  const { git } = session;
  const input = (await ownSnapshots(session, refs)).map((commit) => `${commit}\n`).join('');
  const diff = [...diffTreeWords(false), '--stdin', '--diff-merges=first-parent', '--', 'sandbox'];
  const listed = await gitBytes(withoutIndex(git), diff, { input });
  const versions = new Map<string, Set<string>>();
  for (const changes of parseRawDiff(listed.toString('latin1'), decodePath).values())
    for (const { path, after } of changes) {
      const oids = versions.get(path) ?? new Set();
      versions.set(path, after === undefined ? oids : oids.add(after.oid));
    }
  return versions;
}

/** Without those that other refs have. */
function ownSnapshots({ git, record, id }: Session, refs: readonly string[]): Promise<string[]> {
  const excluded = refs.map((ref) => `--exclude=${ref}`);
  const words = ['rev-list', '--first-parent', '--ignore-missing', tipRef(id)];
  return gitLines(git, [...words, '--not', record.from_commit, ...excluded, '--all', '--']);
}

/** How many a person has labelled, as text; `agt gc` keeps those as well. */
async function labelledSnapshots(session: Session, refs: readonly string[]): Promise<string[]> {
  const own = new Set(await ownSnapshots(session, refs));
  const labelled = (await session.history()).filter(
    (one) => own.has(one.commit) && one.agent === undefined && labelByPerson(one) !== undefined,
  );
  return labelled.length === 0 ? [] : [plural(labelled.length, 'labelled snapshot')];
}

/** How many neither a remote nor a branch of others has, in this form or another. `refs`: those that go. */
export async function unmergedCommits(
  session: Session,
  commit: string,
  refs: readonly string[] = refsOfSession(session.record),
): Promise<number> {
  const { repository } = session;
  const others = othersThan(repository, refs);
  const args = ['rev-list', '--count', commit, '--not', ...others, '--'];
  const unmerged = Number(await gitText(repository.git, args));
  return unmerged === 0 || (await isMerged(session, commit)) ? 0 : unmerged;
}

/** Words for git: the branches of others, and the tags. */
function othersThan({ prefixes }: Repository, refs: readonly string[]): string[] {
  const shadows = shadowNamespaces(prefixes).map((namespace) => `${namespace}*`);
  const excluded = [...refs, ...shadows].map((ref) => `--exclude=${ref}`);
  return [...excluded, '--glob=refs/heads/*', '--remotes', '--tags'];
}
