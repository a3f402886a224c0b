/**
 * Files that a person has committed since stay at an undo, as the branch does, if no agent has changed them meanwhile.
 * Otherwise git would show committed files as deleted. An uncommitted edit of such a file goes back to the commit.
 */
import { listConverted } from '../../autocommit/stat-cache/converted.ts';
import type { CheckoutPlan } from '../../checkout/plan.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { repositoryOf } from '../../folders/git-state/kept-repositories.ts';
import { capturedRefs } from '../../folders/git-state/read-state.ts';
import { resolveRef } from '../../folders/git-state/ref-plan.ts';
import { shownPath } from '../../folders/store.ts';
import { SUBMODULE } from '../../git/modes.ts';
import { storeObjects } from '../../git/objects/commits.ts';
import { findObjects, readObjects } from '../../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, entryOf } from '../../git/objects/raw-diff.ts';
import { withoutIndex } from '../../git/objects/scratch-index.ts';
import { type ScratchObjects, withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { type Git, inOtherRepository, isAncestor, resolveObject } from '../../git/run/git.ts';
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import {
  type ChangedFile,
  diffSnapshots,
  emptyTree,
  parentDirectories,
  readSnapshotTree,
} from '../../snapshot/tree.ts';
import { compareWithPrevious } from '../timeline.ts';
import { type Latest, type OthersRefs, othersRefs } from './others-changes.ts';
import { obstructed, snapshotWith } from './take-back.ts';

export interface CommittedFiles {
  /** As they are to be, by path in the session folder; undefined: deleted. */
  readonly files: ReadonlyMap<string, DiffEntry['after']>;
  /** Those that are so already. */
  readonly staying: ReadonlySet<string>;
}

const NONE_COMMITTED: CommittedFiles = { files: new Map(), staying: new Set() };

export async function committedFiles(
  session: Session,
  latest: Latest & { readonly from: string },
  to: string,
  known?: OthersRefs,
): Promise<CommittedFiles> {
  const { git, record } = session;
  const folder = record.checkout ?? record.sandbox;
  const places = isAttached(record) ? repositoryOf(folder) : undefined;
  if (places === undefined) return NONE_COMMITTED;
  const others = known ?? (await othersRefs(session, { ...latest, isUndo: true }, to));
  const then = await capturedRefs(git, to);
  if (then === undefined) return NONE_COMMITTED;
  const before = resolveRef(then, 'HEAD');
  const refs = new Map(then);
  for (const [ref, { to: moved }] of others.moved) if (moved !== undefined) refs.set(ref, moved);
  const head = resolveRef(refs, 'HEAD');
  if (head === undefined || head === before) return NONE_COMMITTED;
  const landed = await landedEntries(usersGit(session), others.accepted);
  const { byPerson, byAgent } = await touched(git, others, before, landed);
  const between = new Map(byPerson.map(({ path, after }) => [path, { path, before: after, after }]));
  for (const change of await diffSnapshots(git, to, latest.from)) between.set(change.path, change);
  const now = await resolveObject(usersGit(session), 'HEAD^{commit}');
  if (now !== head)
    for (const change of await filesOfOther(session, before, head, to))
      if (!between.has(change.path)) between.set(change.path, change);
  const changes = [...between.values()];
  const found = await asCommitted(usersGit(session), before, head, changes);
  for (const alike of Map.groupBy(byAgent, ([, { begin, end }]) => `${begin} ${end}`).values()) {
    const { begin, end } = alike[0]?.[1] ?? {};
    const during = end && (await filesBetween(usersGit(session), begin, end));
    const later = end && (await filesBetween(usersGit(session), end, head));
    const isWithout = (path: string) => later && during && (later.has(path) || !during.has(path));
    for (const [path] of alike) if (!isWithout(path)) found.delete(path);
  }
  const isNow = ({ path, after }: ChangedFile) =>
    found.has(path) && entryOf(found.get(path)) === entryOf(after);
  const staying = new Set(changes.filter(isNow).map(({ path }) => path));
  const edited = [...found.keys()].filter((path) => !staying.has(path));
  for (const path of await converted(usersGit(session), places.commonDir, edited)) found.delete(path);
  const coming = [...found].flatMap(([path, file]) => (file && !staying.has(path) ? [[path, file.oid]] : []));
  const oids = coming.map(([, oid = '']) => oid);
  const blobs = await findObjects(usersGit(session), oids);
  for (const [i, [path = '']] of coming.entries()) if (blobs[i] === undefined) found.delete(path);
  if (found.size > 0)
    for (const path of await obstructed(git, { commit: to }, found)) {
      found.delete(path);
      staying.delete(path);
    }
  return { files: found, staying };
}

/** Files of the branch to which HEAD comes back: no snapshot has them, because another one was checked out. */
async function filesOfOther(session: Session, before: string | undefined, head: string, to: string) {
  const user = usersGit(session);
  const files = await readSnapshotTree(session.git, to);
  const committed = await filesBetween(user, before, head);
  return [...committed].flatMap(([path, { before: was }]): ChangedFile[] => {
    const file = files.get(path);
    return entryOf(file) === entryOf(was) ? [{ path, before: file, after: file }] : [];
  });
}

/** HEAD before the agent's first change of a file, and once nothing of that was left. A commit between the two may have it. */
interface ByAgent {
  readonly begin: string | undefined;
  readonly end: string | undefined;
  /** A person who brings one of them back brings the agent's change back. */
  readonly versions: ReadonlySet<string | undefined>;
}

/** `byPerson`: newest last. A file that a person has changed and changed back differs between no two snapshots but these. */
async function touched(
  git: Git,
  { going, theirs, isAfterAcceptance }: OthersRefs,
  start: string | undefined,
  landed: ReadonlySet<string>,
) {
  const byPerson: ChangedFile[] = [];
  const byAgent = new Map<string, ByAgent>();
  const withoutAgent = new Map<string, Set<string | undefined>>();
  let begin = start;
  const changes = await compareWithPrevious(git, going);
  for (const one of going.toReversed()) {
    const isRestore = one.restoredBy !== undefined;
    const isOfOthers = theirs.includes(one) || isRestore || isAfterAcceptance(one);
    for (const change of changes.get(one.commit) ?? []) {
      const { path, before, after } = change;
      const isPersons = isOfOthers || landed.has(`${path} ${entryOf(after)}`);
      const known = byAgent.get(path);
      const versions = withoutAgent.get(path) ?? new Set([entryOf(before)]);
      withoutAgent.set(path, versions);
      const isBack = versions.has(entryOf(after));
      const isAgents = known?.versions.has(entryOf(after)) === true;
      if (isPersons) byPerson.push(change);
      if (!isPersons || (known && (isBack || isRestore || isAgents)))
        byAgent.set(path, {
          begin,
          ...known,
          end: isBack ? (known?.end ?? one.head) : undefined,
          versions: new Set([...(known?.versions ?? []), ...(isPersons || isBack ? [] : [entryOf(after)])]),
        });
      else if (known === undefined || known.end !== undefined) versions.add(entryOf(after));
    }
    begin = one.head;
  }
  return { byPerson, byAgent };
}

/** Each path with the content that an acceptance has brought. */
async function landedEntries(user: Git, accepted: OthersRefs['accepted']): Promise<ReadonlySet<string>> {
  const all = await Promise.all(accepted.map(({ from, commit }) => filesBetween(user, from, commit)));
  return new Set(all.flatMap((files) => [...files].map(([path, { after }]) => `${path} ${entryOf(after)}`)));
}

function usersGit({ git, record }: Session): Git {
  return withoutIndex(inOtherRepository(git, record.checkout ?? record.sandbox));
}

/** The blob of such a file does not tell its bytes on disk. */
async function converted(user: Git, commonDir: string, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const names = paths.map((path) => path.slice(SANDBOX.length));
  const above = ['', ...names.flatMap(parentDirectories).map((path) => `${path}/`)];
  const rules = [...new Set(above)].map((path) => `${path}.gitattributes`);
  const found = await listConverted(user, commonDir, [...names, ...rules]);
  return found === 'all' ? paths : [...found].map((path) => SANDBOX + path);
}

const SANDBOX = 'sandbox/';

/**
 * The files that the commits have changed. If the commits only came on top, a person may have gone on from an uncommitted
 * file. Otherwise, as after git reset, the file must have been clean, so that no uncommitted work is passed over.
 */
async function asCommitted(
  user: Git,
  before: string | undefined,
  head: string,
  changes: readonly ChangedFile[],
): Promise<Map<string, DiffEntry['after']>> {
  const isOnTop = before === undefined || (await isAncestor(user, before, head));
  const committed = await filesBetween(user, before, head);
  return new Map(
    changes.flatMap(({ path, before: was }): [string, DiffEntry['after']][] => {
      const commit = committed.get(path);
      if (commit === undefined || [commit.before?.mode, commit.after?.mode].includes(SUBMODULE)) return [];
      return isOnTop || entryOf(commit.before) === entryOf(was) ? [[path, commit.after]] : [];
    }),
  );
}

/** By path in the session folder. */
async function filesBetween(
  user: Git,
  from: string | undefined,
  to: string,
): Promise<Map<string, DiffEntry>> {
  const start = from ?? (await emptyTree(user));
  const entries = await diffTrees(user, start, to, { countLines: false }).catch(() => []);
  return new Map(entries.map((entry) => [SANDBOX + entry.path, entry]));
}

/** A plan that passes over those that stay. */
export function withoutStaying(plan: CheckoutPlan, { staying }: CommittedFiles): CheckoutPlan {
  if (staying.size === 0) return plan;
  const above = new Set([...staying].flatMap(parentDirectories));
  const isOther = (path: string) => !staying.has(path);
  const { made, removed } = plan.emptyDirectories;
  return {
    ...plan,
    deletions: plan.deletions.filter(isOther),
    writes: plan.writes.filter(({ path }) => isOther(path)),
    modes: new Map([...plan.modes].filter(([path]) => isOther(path))),
    emptyDirectories: { made, removed: removed.filter((path) => !above.has(path)) },
  };
}

/** A snapshot as an undo brings it back: with these files. `scratch` gets the objects. `from`: the folder as it is. */
async function withCommittedFiles(
  session: Session,
  snapshot: Snapshot,
  { files, staying }: CommittedFiles,
  from: SnapshotMetadata,
  scratch: ScratchObjects,
): Promise<SnapshotMetadata> {
  const wanted = await readSnapshotMetadata(session.git, snapshot.commit);
  const edited = [...files].flatMap(([path, file]) => (file && !staying.has(path) ? file.oid : []));
  const blobs = await readObjects(usersGit(session), edited);
  const contents = blobs.flatMap((blob) =>
    blob === undefined ? [] : { type: 'blob' as const, content: blob.content },
  );
  await storeObjects(scratch.git, contents, snapshot.commit);
  const others = new Map(wanted.modes.others);
  for (const path of files.keys()) {
    const bits = from.modes.others.get(path);
    if (bits === undefined) others.delete(path);
    else others.set(path, bits);
  }
  const full = new Set([...files].flatMap(([path, file]) => (file ? parentDirectories(path) : [])));
  const { commit } = await snapshotWith(scratch.git, scratch, snapshot, files);
  const emptyDirectories = wanted.emptyDirectories.filter((path) => !full.has(path));
  return { ...wanted, commit, modes: { ...wanted.modes, others }, emptyDirectories };
}

/** Those that make `content` differ from the snapshot that it was made of, as shown to people. */
export async function committedSince({ git, record }: Session, { commit }: Snapshot, content: string) {
  const changes = content === commit ? [] : await diffSnapshots(git, commit, content);
  return changes.map(({ path }) => shownPath(record, displayPath(path)));
}

/** Committed files stay, except at a restore. */
export async function contentToRestore(
  session: Session,
  snapshot: Snapshot,
  from: string | undefined,
  by: 'restore' | 'undo' | 'redo',
): Promise<SnapshotMetadata> {
  const { git, repository } = session;
  const latest = from === undefined || by === 'restore' ? undefined : { from };
  const committed = latest && (await committedFiles(session, latest, snapshot.commit));
  if (latest === undefined || !committed?.files.size) return readSnapshotMetadata(git, snapshot.commit);
  const now = await readSnapshotMetadata(git, latest.from);
  return withScratchObjects(repository, ({ dir }) =>
    withCommittedFiles(session, snapshot, committed, now, { git, dir }),
  );
}
