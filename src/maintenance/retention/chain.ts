/**
 * A session's own snapshots as git stores them, newest first: from agt's tip along first parents, while the commits are
 * agt's and carry the session's trailer. What comes before (the start commit, another session's states under a fork) is the base.
 */
import { type Git, gitAnswer, gitBytes, gitText } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, tipRef } from '../../session/record.ts';

export interface StoredSnapshot {
  readonly oid: string;
  readonly tree: string;
  /** The previous snapshot or the base; then the user branch, and what else this snapshot keeps reachable. */
  readonly parents: readonly string[];
  /** Unix seconds. */
  readonly at: number;
  /** Of the author. */
  readonly email: string;
  /** Whose state it is; undefined for a commit that is none. */
  readonly session: string | undefined;
  readonly label: string | undefined;
  /** The state that a restore brought back. */
  readonly restored: string | undefined;
  /** The whole commit object, one byte per character. */
  readonly raw: string;
}

export interface Chain {
  readonly snapshots: readonly StoredSnapshot[];
  /** Where the branch of that name is; undefined where somebody deleted it. */
  readonly branch: string | undefined;
  readonly tip: string | undefined;
}

export async function readChain(repository: Repository, record: SessionRecord): Promise<Chain> {
  const { git } = repository;
  const [tip, branch] = await Promise.all([
    commitAt(git, tipRef(record.session_id)),
    commitAt(git, record.branch),
  ]);
  if (tip === undefined) return { snapshots: [], branch, tip };
  const range = ['rev-list', '--first-parent', tip, `^${record.from_commit}`, '--'];
  const listed = (await gitText(git, range)).split('\n').filter((oid) => oid !== '');
  const snapshots: StoredSnapshot[] = [];
  for (const snapshot of parseCommits(await readCommits(git, listed))) {
    if (snapshot.session !== record.session_id || snapshot.email !== repository.settings.agentEmail) break;
    snapshots.push(snapshot);
  }
  return { snapshots, branch, tip };
}

function commitAt(git: Git, ref: string): Promise<string | undefined> {
  return gitAnswer(git, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
}

async function readCommits(git: Git, oids: readonly string[]): Promise<string> {
  if (oids.length === 0) return '';
  const input = oids.map((oid) => `${oid}\n`).join('');
  return (await gitBytes(git, ['cat-file', '--batch', '--buffer'], { input })).toString('latin1');
}

/** From the output of `git cat-file --batch`. */
function* parseCommits(output: string): Generator<StoredSnapshot> {
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at);
    const [oid = '', type, size] = output.slice(at, end).split(' ');
    if (type !== 'commit') return;
    const raw = output.slice(end + 1, end + 1 + Number(size));
    yield parseCommit(oid, raw);
    at = end + 1 + Number(size) + 1;
  }
}

function parseCommit(oid: string, raw: string): StoredSnapshot {
  const header = raw.slice(0, raw.indexOf('\n\n'));
  // After the last empty line: a label is also the subject, and may look like a trailer itself.
  const trailers = raw.slice(raw.lastIndexOf('\n\n') + 1);
  const trailer = (name: string) => new RegExp(`\\nAgt-${name}: (.*)\\n`).exec(trailers)?.[1];
  return {
    oid,
    tree: /^tree ([0-9a-f]+)/.exec(header)?.[1] ?? '',
    parents: [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent),
    at: Number(/^committer .* (\d+) [+-]\d{4}$/m.exec(header)?.[1] ?? 0),
    email: /^author .*<([^<>]*)> /m.exec(header)?.[1] ?? '',
    session: trailer('Session'),
    label: trailer('Label'),
    restored: trailer('Restored'),
    raw,
  };
}
