/**
 * Reads the history of a session: its snapshots, newest first. It starts at agt's own tip, so it does not
 * matter if another program moved the shadow branch. It ends at the first commit that is not a snapshot, the
 * start commit; the history of a fork continues into the session that it was forked from. A commit that
 * `accept` made names its session as well, but not the agent's HEAD, and agt is not its author.
 */
import { AgtError } from '../errors.ts';
import { findObject } from '../git/objects/object-reader.ts';
import { type Git, resolveObject } from '../git/run/git.ts';
import { readGit } from '../git/run/start-git.ts';

/** The refs that name the history of a session, and the commit where it ends. */
export interface SnapshotRefs {
  readonly session: string;
  /** agt's own ref to the newest snapshot; a full name, like `shadow`. */
  readonly tip: string;
  readonly shadow: string;
  /** The start commit, which ends the history. Undefined if the history continues into another session. */
  readonly base: string | undefined;
  /** The command that lists the history, for messages. */
  readonly list: string;
}

/** One commit of a shadow branch: what its commit object records. */
export interface Snapshot {
  readonly commit: string;
  readonly tree: string;
  /** The previous snapshot or the start commit; the user branch; other commits to keep reachable. */
  readonly parents: readonly string[];
  /** Undefined for the first snapshot of a history. */
  readonly previous: string | undefined;
  readonly time: Date;
  readonly authorEmail: string;
  /** The session that made it. In a fork, the older snapshots name the session that it was forked from. */
  readonly session: string;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  /** The agent and its conversation, in an attached folder. */
  readonly agent: string | undefined;
  readonly conversation: string | undefined;
  /** The call of the tool that it records; undefined for every other snapshot. */
  readonly call: ToolCall | undefined;
  /** The commit of the snapshot that a restore brought back. */
  readonly restored: string | undefined;
  readonly restoredBy: 'restore' | 'undo' | 'redo' | undefined;
  /** agt made it in the middle of a restore of this commit: the content is between two snapshots. */
  readonly unfinished: string | undefined;
  /** The agent's HEAD; undefined if its branch had no commit. */
  readonly head: string | undefined;
}

/** The call of a tool, as a snapshot records it. */
export interface ToolCall {
  readonly outcome: ToolOutcome;
  readonly id?: string | undefined;
  readonly summary?: string | undefined;
}

export type ToolOutcome = 'succeeded' | 'failed';

const TRAILERS = [
  'Session',
  'Label',
  'Tool',
  'Restored',
  'Restored-By',
  'Unfinished',
  'Head',
  'Outcome',
  'Call',
  'Summary',
  'Agent',
  'Conversation',
] as const;
const FORMAT = [
  '%H',
  '%T',
  '%P',
  '%ct',
  '%ae',
  '%an',
  ...TRAILERS.map((name) => `%(trailers:key=Agt-${name},valueonly,unfold,separator=)`),
];

/** Commits for each call of git: behind the snapshots follows the user's history, which can be long. */
const PAGE = 4096;

/** Newest first. */
export async function readHistory(git: Git, refs: SnapshotRefs): Promise<Snapshot[]> {
  const listed: ListedCommit[] = [];
  let from = await newestCommit(git, refs);
  while (from !== undefined) {
    const page = await readPage(git, from);
    const end = page.findIndex((commit) => !commit.isSnapshot || commit.commit === refs.base);
    listed.push(...(end < 0 ? page : page.slice(0, end)));
    from = end < 0 ? page.at(-1)?.parents[0] : undefined;
  }
  return listed.map(({ isSnapshot: _, ...snapshot }, i) => ({
    ...snapshot,
    previous: i + 1 < listed.length ? snapshot.parents[0] : undefined,
  }));
}

/** For people: a history that is lost is not taken for an empty one. @throws AgtError */
export async function requireHistory(git: Git, refs: SnapshotRefs): Promise<Snapshot[]> {
  const history = await readHistory(git, refs);
  if (history.length === 0) await refuseLostHistory(git, refs);
  return history;
}

/** @throws AgtError if there are refs, and no commits */
export async function refuseLostHistory(git: Git, refs: SnapshotRefs): Promise<void> {
  if ((await newestCommit(git, refs)) !== undefined) return;
  for (const ref of [refs.tip, refs.shadow]) {
    const commit = await resolveObject(git, ref);
    if (commit === undefined) continue;
    const reason = `${ref} leads to ${commit.slice(0, ABBREVIATED)}, which is missing`;
    throw new AgtError(`cannot read the snapshots of "${refs.session}": ${reason}`, {
      hints: ['see: agt doctor'],
    });
  }
}

/** Hexadecimal digits of a commit in messages. */
const ABBREVIATED = 10;

async function newestCommit(git: Git, refs: SnapshotRefs): Promise<string | undefined> {
  for (const ref of [refs.tip, refs.shadow]) {
    const commit = await findObject(git, `${ref}^{commit}`);
    if (commit !== undefined) return commit;
  }
  return undefined;
}

type ListedCommit = Omit<Snapshot, 'previous'> & { readonly isSnapshot: boolean };

/** The name of the author of every snapshot. */
const AUTHOR = 'agt';

async function readPage(git: Git, from: string): Promise<ListedCommit[]> {
  const output = await readGit(git, [
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
  const fields = output.toString().split('\0');
  const commits: ListedCommit[] = [];
  for (let i = 0; i + FORMAT.length <= fields.length; i += FORMAT.length) {
    commits.push(toCommit(fields.slice(i, i + FORMAT.length)));
  }
  return commits;
}

function toCommit(fields: readonly string[]): ListedCommit {
  const [commit = '', tree = '', parentNames = '', seconds = '', authorEmail = '', author, ...named] = fields;
  const [session = '', ...rest] = named;
  const [label, tool, restored, by, unfinished, head, outcome, id, summary, agent, conversation] = rest.map(
    (value) => value || undefined,
  );
  return {
    commit,
    tree,
    parents: parentNames.split(' ').filter((oid) => oid !== ''),
    // Somebody may have given the commits other authors. Only a snapshot names the agent's HEAD.
    isSnapshot: session !== '' && (author === AUTHOR || head !== undefined),
    time: new Date(Number(seconds) * 1000),
    authorEmail,
    session,
    label,
    tool,
    agent,
    conversation,
    call: outcome === undefined ? undefined : { outcome: outcome as ToolOutcome, id, summary },
    restored,
    restoredBy: by as Snapshot['restoredBy'],
    unfinished,
    head,
  };
}
