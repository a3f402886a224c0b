/**
 * The one reader of a session's history: its snapshots, newest first, from agt's own tip, whatever other programs did to
 * the shadow branch. The history of a fork goes on into the session that it came from. It ends at the first commit that
 * is no snapshot: the commit that the session started at.
 */
import { type Git, gitText, resolveObject } from '../git/run/git.ts';

/** Which session's history, and where it ends. */
export interface SnapshotRefs {
  readonly session: string;
  /** agt's own record of the tip; a full ref name, as is `shadow`. */
  readonly tip: string;
  readonly shadow: string;
  /** The commit that the session started at, which ends its history; undefined if the history goes on into another. */
  readonly base: string | undefined;
}

/** One commit of a shadow branch, as far as its commit object tells. */
export interface Snapshot {
  readonly commit: string;
  readonly tree: string;
  /** The previous snapshot or the base; then the user branch, and what else this snapshot keeps reachable. */
  readonly parents: readonly string[];
  /** Undefined for the first snapshot of a history. */
  readonly previous: string | undefined;
  readonly at: Date;
  readonly authorEmail: string;
  /** The session that it was made in: for a fork, up to the fork, another one. */
  readonly session: string;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  /** The snapshot that a restore brought back. */
  readonly restored: string | undefined;
  readonly restoredBy: 'restore' | 'undo' | 'redo' | undefined;
  /** The agent's HEAD; undefined if its branch had no commit. */
  readonly head: string | undefined;
}

const TRAILERS = ['Session', 'Label', 'Tool', 'Restored', 'Restored-By', 'Head'] as const;
const FORMAT = [
  '%H',
  '%T',
  '%P',
  '%ct',
  '%ae',
  ...TRAILERS.map((name) => `%(trailers:key=Agt-${name},valueonly,unfold,separator=)`),
];

/** Commits that one git call reads: behind the snapshots lies the user's history, which may be long. */
const PAGE = 4096;

/** Newest first. */
export async function readHistory(git: Git, refs: SnapshotRefs): Promise<Snapshot[]> {
  const listed: ListedCommit[] = [];
  let from = await newestCommit(git, refs);
  while (from !== undefined) {
    const page = await readPage(git, from);
    const end = page.findIndex(({ session, commit }) => session === '' || commit === refs.base);
    listed.push(...(end < 0 ? page : page.slice(0, end)));
    from = end < 0 ? page.at(-1)?.parents[0] : undefined;
  }
  return listed.map((snapshot, i) => ({
    ...snapshot,
    previous: i + 1 < listed.length ? snapshot.parents[0] : undefined,
  }));
}

async function newestCommit(git: Git, refs: SnapshotRefs): Promise<string | undefined> {
  for (const ref of [refs.tip, refs.shadow]) {
    const commit = await resolveObject(git, `${ref}^{commit}`);
    if (commit !== undefined) return commit;
  }
  return undefined;
}

type ListedCommit = Omit<Snapshot, 'previous'>;

async function readPage(git: Git, from: string): Promise<ListedCommit[]> {
  const output = await gitText(git, [
    '-c',
    'trailer.separators=:',
    'log',
    '--first-parent',
    `--max-count=${PAGE}`,
    '--no-show-signature',
    '--no-mailmap',
    '--no-color',
    '--encoding=UTF-8',
    '-z',
    `--format=tformat:${FORMAT.join('%x00')}`,
    from,
    '--',
  ]);
  // No commit holds a NUL, so the fields can be counted.
  const fields = output.split('\0');
  const commits: ListedCommit[] = [];
  for (let i = 0; i + FORMAT.length <= fields.length; i += FORMAT.length) {
    commits.push(toCommit(fields.slice(i, i + FORMAT.length)));
  }
  return commits;
}

function toCommit(fields: readonly string[]): ListedCommit {
  const [commit = '', tree = '', parents = '', seconds = '', authorEmail = '', session = '', ...rest] =
    fields;
  const [label, tool, restored, by, head] = rest.map((value) => value || undefined);
  return {
    commit,
    tree,
    parents: parents.split(' ').filter((oid) => oid !== ''),
    at: new Date(Number(seconds) * 1000),
    authorEmail,
    session,
    label,
    tool,
    restored,
    restoredBy: by as Snapshot['restoredBy'],
    head,
  };
}
