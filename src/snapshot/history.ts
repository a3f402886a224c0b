/**
 * Reads the history of a session: its snapshots, newest first. It starts at agt's own tip, so it does not
 * matter if another program moved the shadow branch. It ends at the first commit that is not a snapshot, the
 * start commit; the history of a fork continues into the session that it was forked from. A commit that
 * `accept` made names its session as well, but not the agent's HEAD, and agt is not its author.
 */
import { AgtError } from '../errors.ts';
import { shortOid } from '../git/files/ref-files.ts';
import { readCommits } from '../git/objects/commits.ts';
import { findObject, readObject } from '../git/objects/object-reader.ts';
import { type Git, gitBytes, resolveObject } from '../git/run/git.ts';
import { AUTHOR, trailersOf } from './format.ts';

/** The refs that name the history of a session, and the commit where it ends. */
export interface SnapshotRefs {
  readonly session: string;
  /** As in the metadata of the session. */
  readonly renamed?: Readonly<Record<string, string>> | undefined;
  /** agt's own ref to the newest snapshot; a full name, like `shadow`. */
  readonly tip: string;
  readonly shadow: string;
  /** The start commit, which ends the history. Undefined if the history continues into another session. */
  readonly base: string | undefined;
  /** Where HEAD is that of the session; undefined for the folder of a user, whose repository is another one. */
  readonly sandbox: string | undefined;
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
  /** Its id then, after which its work branch was named. */
  readonly sessionThen: string;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  /** The agent, or the program of `agt run`, and its conversation. */
  readonly agent: string | undefined;
  readonly conversation: string | undefined;
  /** The call of the tool that it records; undefined for every other snapshot. */
  readonly call: ToolCall | undefined;
  /** The call that was about to begin: the changes are those of a person or of another program. */
  readonly before: { readonly tool: string; readonly id: string | undefined } | undefined;
  /** The session whose agent made the call, if that does not work in this folder. */
  readonly bySession: string | undefined;
  /** The commit of the snapshot that a restore brought back. */
  readonly restored: string | undefined;
  readonly restoredBy: 'restore' | 'undo' | 'redo' | undefined;
  /** The snapshots before the changes that an undo of one thing has taken back. */
  readonly undone: readonly string[];
  /** agt made it in the middle of a restore of this commit: the content is between two snapshots. */
  readonly unfinished: string | undefined;
  /** The conversations in the middle of a call: see session/calls-at-work.ts. */
  readonly during: readonly string[];
  /** The agent's HEAD; undefined if its branch had no commit. */
  readonly head: string | undefined;
  /** Its message does not have what agt wrote there: label, tool and HEAD are lost. */
  readonly isDamaged: boolean;
}

/** The call of a tool, as a snapshot records it. */
export interface ToolCall {
  readonly outcome: ToolOutcome;
  readonly id?: string | undefined;
  readonly summary?: string | undefined;
}

export type ToolOutcome = 'succeeded' | 'failed';

/** Commits for each call of git: behind the snapshots follows the user's history, which can be long. */
const PAGE = 4096;

/** Newest first. */
export async function readHistory(git: Git, refs: SnapshotRefs): Promise<Snapshot[]> {
  return historyFrom(git, refs, await newestCommit(git, refs));
}

async function historyFrom(git: Git, refs: SnapshotRefs, newest: string | undefined): Promise<Snapshot[]> {
  const listed: ListedCommit[] = [];
  let from = newest;
  while (from !== undefined && from !== refs.base) {
    const page = await readPage(git, from, PAGE, refs.base);
    const end = page.findIndex((commit) => !commit.isSnapshot || commit.commit === refs.base);
    listed.push(...(end < 0 ? page : page.slice(0, end)));
    from = end < 0 ? page.at(-1)?.parents[0] : undefined;
  }
  // Which session made a snapshot that cannot tell is what the snapshot before it says.
  let session = refs.session;
  return listed
    .map((commit, i) => ({ ...commit, previous: i + 1 < listed.length ? commit.parents[0] : undefined }))
    .reverse()
    .map(({ isSnapshot: _, ...snapshot }) => {
      session = snapshot.session || session;
      return { ...snapshot, session: refs.renamed?.[session] ?? session, sessionThen: session };
    })
    .reverse();
}

/** The newest `most` of them at the most. */
export async function readNewest(git: Git, refs: SnapshotRefs, most: number) {
  const from = await newestCommit(git, refs);
  const page = from === undefined ? [] : await readPage(git, from, most);
  const end = page.findIndex(({ isSnapshot, commit }) => !isSnapshot || commit === refs.base);
  return (end < 0 ? page : page.slice(0, end)).map((commit) => ({ ...commit, previous: commit.parents[0] }));
}

/** The last ones that people asked for: the page asks for the same again and again. */
const known = new Map<string, Promise<readonly Snapshot[]>>();
const MOST_KNOWN = 4;

/** For people: a history that is lost is not taken for an empty one. @throws AgtError */
export async function requireHistory(git: Git, refs: SnapshotRefs): Promise<readonly Snapshot[]> {
  const tip = await newestCommit(git, refs);
  const key = [git.cwd, refs.session, refs.base, tip].join('\n');
  const reading = known.get(key) ?? historyFrom(git, refs, tip);
  known.delete(key);
  known.set(key, reading);
  const [oldest = key] = known.keys();
  if (known.size > MOST_KNOWN) known.delete(oldest);
  const history = await reading.catch((error: unknown) => {
    known.delete(key);
    throw error;
  });
  if (history.length === 0) await refuseLostHistory(git, refs);
  return history;
}

/** @throws AgtError if there are refs, and no commits */
export async function refuseLostHistory(git: Git, refs: SnapshotRefs): Promise<void> {
  if ((await newestCommit(git, refs)) !== undefined) return;
  for (const ref of [refs.tip, refs.shadow]) {
    const commit = await resolveObject(git, ref);
    if (commit === undefined) continue;
    const reason = `${ref} leads to ${shortOid(commit)}, which is missing`;
    throw new AgtError(`cannot read the snapshots of "${refs.session}": ${reason}`, {
      hints: ['see: agt doctor'],
    });
  }
}

async function newestCommit(git: Git, refs: SnapshotRefs): Promise<string | undefined> {
  for (const ref of [refs.tip, refs.shadow]) {
    const commit = await findObject(git, `${ref}^{commit}`);
    if (commit !== undefined) return commit;
  }
  return undefined;
}

type ListedCommit = Omit<Snapshot, 'previous'> & { readonly isSnapshot: boolean };

async function readPage(git: Git, from: string, most = PAGE, end?: string): Promise<ListedCommit[]> {
  const range = [from, ...(end === undefined ? [] : [`^${end}`])];
  const words = ['rev-list', '--first-parent', '--ignore-missing', `--max-count=${most}`];
  const listed = await gitBytes(git, [...words, ...range, '--']);
  const oids = listed.toString().split('\n').slice(0, -1);
  const contents = await readCommits(git, oids);
  return oids.map((oid) => parseSnapshot(oid, contents.get(oid) ?? ''));
}

/** The conversations in whose call a snapshot was made, if neither a hook nor a restore has made it. */
export async function callsAround(git: Git, commit: string): Promise<readonly string[]> {
  const object = await readObject(git, commit);
  const { agent, restored, during } = parseSnapshot(commit, object?.content.toString('latin1') ?? '');
  return (agent ?? restored) === undefined ? during : [];
}

/** `content` is the commit object, one byte per character: the user's settings change what git prints of it. */
export function parseSnapshot(commit: string, content: string): ListedCommit {
  const text = Buffer.from(content, 'latin1').toString();
  const end = text.indexOf('\n\n');
  const headers = text.slice(0, end < 0 ? undefined : end).split('\n');
  const valuesOf = (name: string) =>
    headers.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
  const [, author, authorEmail = ''] = IDENTITY.exec(valuesOf('author')[0] ?? '') ?? [];
  const [, committer, , seconds] = IDENTITY.exec(valuesOf('committer')[0] ?? '') ?? [];
  const parents = valuesOf('parent');
  const trailers = end < 0 ? {} : trailersOf(text.slice(end));
  const get = (name: keyof typeof trailers) => trailers[name] || undefined;
  const [session = '', head, outcome, before] = [get('Session'), get('Head'), get('Outcome'), get('Before')];
  const isDamaged =
    session === '' &&
    author === AUTHOR &&
    committer === AUTHOR &&
    parents.length > 0 &&
    Object.keys(trailers).length === 0;
  return {
    commit,
    tree: valuesOf('tree')[0] ?? '',
    parents,
    // Somebody may have given the commits other authors. Only a snapshot names the agent's HEAD.
    isSnapshot: isDamaged || (session !== '' && (author === AUTHOR || head !== undefined)),
    isDamaged,
    time: new Date(Number(seconds) * 1000),
    authorEmail,
    session,
    sessionThen: session,
    label: get('Label'),
    tool: get('Tool'),
    agent: get('Agent'),
    conversation: get('Conversation'),
    call:
      outcome === undefined
        ? undefined
        : { outcome: outcome as ToolOutcome, id: get('Call'), summary: get('Summary') },
    before: before === undefined ? undefined : { tool: before, id: get('Call') },
    bySession: get('By-Session'),
    restored: get('Restored'),
    restoredBy: get('Restored-By') as Snapshot['restoredBy'],
    unfinished: get('Unfinished'),
    undone: get('Undone')?.split(' ') ?? [],
    during: get('During')?.split(' ') ?? [],
    head,
  };
}

/** Name, address and time in a commit object. */
const IDENTITY = /^(.*?) ?<(.*)> (-?\d+) [-+]\d+$/;
