/**
 * The snapshots of a session: the chain of its autocommits, newest first, read from agt's own tip whatever others did to
 * the shadow branch. A fork's chain goes on into the session that it came from. The chain ends at the first commit that
 * is no autocommit: the commit that the session started at.
 */
import { type Git, gitAnswer, gitText } from '../git/run/git.ts';

/** Which session's history, and where it ends. */
export interface SnapshotRefs {
  readonly session: string;
  /** agt's own record of the tip; full ref names. */
  readonly tip: string;
  readonly shadow: string;
}

export interface Snapshot {
  readonly commit: string;
  /** Undefined for the first autocommit of a chain, whose parent is no state. */
  readonly previous: string | undefined;
  readonly at: Date;
  /** Whose state it is: another session's id before the point of a fork. */
  readonly session: string;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  /** The state that a restore brought back. */
  readonly restored: string | undefined;
  readonly restoredBy: 'restore' | 'undo' | 'redo' | undefined;
  /** The agent's HEAD then; undefined where its branch had no commit. */
  readonly head: string | undefined;
}

const TRAILERS = ['Session', 'Label', 'Tool', 'Restored', 'Restored-By', 'Head'] as const;
const FORMAT = [
  '%H',
  '%P',
  '%ct',
  ...TRAILERS.map((name) => `%(trailers:key=Agt-${name},valueonly,unfold,separator=)`),
];

/** Commits asked for at once: past the chain there is the user's history, which may be long. */
const PAGE = 4096;

export async function readHistory(git: Git, refs: SnapshotRefs): Promise<Snapshot[]> {
  const states: ListedCommit[] = [];
  let from = await chainEnd(git, refs);
  while (from !== undefined) {
    const page = await readPage(git, from);
    const end = page.findIndex(({ session }) => !session);
    states.push(...(end < 0 ? page : page.slice(0, end)));
    from = end < 0 ? page.at(-1)?.parent : undefined;
  }
  return states.map(({ parent, ...snapshot }, i) => ({
    ...snapshot,
    previous: i + 1 < states.length ? parent : undefined,
  }));
}

async function chainEnd(git: Git, refs: SnapshotRefs): Promise<string | undefined> {
  for (const ref of [refs.tip, refs.shadow]) {
    const commit = await gitAnswer(git, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
    if (commit !== undefined) return commit;
  }
  return undefined;
}

interface ListedCommit extends Omit<Snapshot, 'previous'> {
  readonly parent: string | undefined;
}

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
  // Nothing in a commit holds a NUL, so fields are counted.
  const fields = output.split('\0');
  const commits: ListedCommit[] = [];
  for (let i = 0; i + FORMAT.length <= fields.length; i += FORMAT.length) {
    const [commit = '', parents = '', at = '', session = '', ...rest] = fields.slice(i, i + FORMAT.length);
    const [label, tool, restored, by, head] = rest.map((value) => value || undefined);
    const parent = parents.split(' ')[0] || undefined;
    const time = new Date(Number(at) * 1000);
    const restoredBy = by as Snapshot['restoredBy'];
    commits.push({ commit, parent, at: time, session, label, tool, restored, restoredBy, head });
  }
  return commits;
}
