/**
 * Makes a shorter chain of the snapshots that stay: the same trees, messages and dates, each on top of the previous one
 * that stays. What only a dropped snapshot kept reachable beside its state (commits of the agent, of the user, of others
 * who wrote on the branch) becomes a further parent of the next snapshot that stays.
 *
 * Object names of the snapshots after the first one that goes change; trailers that name a snapshot follow.
 */

import { readStatCache, writeStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { commitName, storeCommits } from '../../git/objects/store-commits.ts';
import { FLUSHED, type Git, gitText, runGit } from '../../git/run/git.ts';
import { statCacheFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, tipRef } from '../../session/record.ts';
import type { Chain, StoredSnapshot } from './chain.ts';

/**
 * The caller holds the session's lock, and `kept` is not empty. Killed at any instant, the old chain stands or the new
 * one: the refs move in one transaction, after the new commits are on disk.
 */
export async function rewriteChain(
  repository: Repository,
  record: SessionRecord,
  chain: Chain,
  kept: ReadonlySet<string>,
): Promise<void> {
  const { git } = repository;
  const { contents, names } = await shorterChain(git, chain.snapshots, kept);
  const newest = chain.snapshots.find(({ oid }) => kept.has(oid)) as StoredSnapshot;
  const tip = names.get(newest.oid) ?? newest.oid;
  await storeCommits(git, contents, tip);
  failurePoint('gc: chain stored');
  const moves = [tipRef(record.session_id), record.branch].map(
    (ref) => `update ${ref} ${tip} ${chain.tip}\n`,
  );
  await gitText(git, [...FLUSHED, 'update-ref', '-m', 'agt: thin', '--stdin'], { input: moves.join('') });
  failurePoint('gc: refs moved');
  followScan(repository, record, chain.tip, tip);
  await forgetReflog(git, record);
}

/** A reflog of the shadow branch would hold on to all that goes. Only agt writes there. */
export async function forgetReflog(git: Git, record: SessionRecord): Promise<void> {
  await runGit(git, ['reflog', 'expire', '--expire=now', '--expire-unreachable=now', record.branch]);
}

interface ShorterChain {
  /** New commit objects, oldest first. */
  readonly contents: readonly Buffer[];
  /** From the old name of a snapshot that stays to its new one, where that is another. */
  readonly names: ReadonlyMap<string, string>;
}

async function shorterChain(
  git: Git,
  snapshots: readonly StoredSnapshot[],
  kept: ReadonlySet<string>,
): Promise<ShorterChain> {
  const contents: Buffer[] = [];
  const names = new Map<string, string>();
  let before = snapshots.at(-1)?.parents[0] as string; // the base, then the last one that stays
  let loose: string[] = []; // what dropped snapshots kept reachable, newest first
  for (const snapshot of [...snapshots].reverse()) {
    const [, ...beside] = snapshot.parents;
    if (!kept.has(snapshot.oid)) {
      loose = [...beside.filter((oid) => !loose.includes(oid)), ...loose];
      continue;
    }
    const carried = await notReachedFrom(git, [before, ...beside], loose);
    const content = withParents(snapshot, [names.get(before) ?? before, ...beside, ...carried], names);
    const name = commitName(content, snapshot.oid);
    if (name !== snapshot.oid) {
      names.set(snapshot.oid, name);
      contents.push(content);
    }
    before = snapshot.oid;
    loose = [];
  }
  return { contents, names };
}

/**
 * Those of `candidates` that neither `from` nor another candidate reaches, in their order. An old snapshot may stand for
 * the new one in its place: what it reaches beside snapshots, the new one reaches too.
 */
async function notReachedFrom(
  git: Git,
  from: readonly string[],
  candidates: readonly string[],
): Promise<string[]> {
  const open = candidates.filter((oid) => !from.includes(oid));
  if (open.length === 0) return [];
  const heads = new Set((await gitText(git, ['merge-base', '--independent', ...from, ...open])).split('\n'));
  return open.filter((oid) => heads.has(oid));
}

function withParents(
  { raw }: StoredSnapshot,
  parents: readonly string[],
  names: ReadonlyMap<string, string>,
): Buffer {
  const end = raw.indexOf('\n\n');
  const [tree = '', ...fields] = raw.slice(0, end).split('\n');
  const others = fields.filter((field) => !field.startsWith('parent '));
  const header = [tree, ...parents.map((oid) => `parent ${oid}`), ...others].join('\n');
  return Buffer.from(header + renamed(raw.slice(end), names), 'latin1');
}

/** In trailers, and in the subject that agt gives to a restore. */
function renamed(message: string, names: ReadonlyMap<string, string>): string {
  let text = message;
  for (const [, oid = ''] of message.matchAll(/^Agt-[\w-]+: ([0-9a-f]{40,64})$/gm)) {
    const name = names.get(oid);
    if (name === undefined) continue;
    text = text
      .replaceAll(`: ${oid}\n`, `: ${name}\n`)
      .replace(new RegExp(`^(\n\nagt \\w+ to )${oid.slice(0, 10)}\n`), `$1${name.slice(0, 10)}\n`);
  }
  return text;
}

/** The state is the same under its new name, so that nothing need be read again. A cache: trouble costs a scan. */
function followScan(
  repository: Repository,
  record: SessionRecord,
  from: string | undefined,
  to: string,
): void {
  const path = statCacheFile(repository.agtDir, record.session_id);
  try {
    const known = readStatCache(path);
    if (known?.commit === from && known !== undefined) writeStatCache(path, { ...known, commit: to });
  } catch {
    // the next capture reads everything and says so
  }
}
