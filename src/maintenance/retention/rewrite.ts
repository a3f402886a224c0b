/**
 * Makes a shorter chain of the snapshots that stay: the same trees, messages and dates, each on top of the previous one
 * that stays. What only a dropped snapshot kept reachable beside its state (commits of the agent, of the user, of others
 * who wrote on the branch) becomes a further parent of the next snapshot that stays.
 *
 * Object names of the snapshots after the first one that goes change; trailers that name a snapshot follow.
 */

import { readScanManifest, writeScanManifest } from '../../autocommit/stat-cache/scan-manifest.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { commitOid, readCommits, storeCommits } from '../../git/objects/commits.ts';
import { FSYNC_ARGS, type Git, gitText, runGit } from '../../git/run/git.ts';
import { statCacheFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { LockedSession } from '../../session/lock.ts';
import { type SessionRecord, tipRef } from '../../session/record.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import type { Chain } from './chain.ts';

/**
 * `kept` is not empty. If agt is killed at any instant, either the old chain is valid or the new one: the refs move in
 * one transaction, after the new commits are on disk.
 */
export async function rewriteChain(
  { repository }: LockedSession,
  record: SessionRecord,
  chain: Chain,
  kept: ReadonlySet<string>,
): Promise<void> {
  const { git } = repository;
  const { contents, names } = await shorterChain(git, chain.snapshots, kept);
  const newest = chain.snapshots.find(({ commit }) => kept.has(commit)) as Snapshot;
  const tip = names.get(newest.commit) ?? newest.commit;
  await storeCommits(git, contents, tip);
  failurePoint('gc: chain stored');
  const moves = [tipRef(record.session_id), record.branch].map(
    (ref) => `update ${ref} ${tip} ${chain.tip}\n`,
  );
  await gitText(git, [...FSYNC_ARGS, 'update-ref', '-m', 'agt: thin', '--stdin'], { input: moves.join('') });
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
  snapshots: readonly Snapshot[],
  kept: ReadonlySet<string>,
): Promise<ShorterChain> {
  const raw = await readCommits(git, [...kept]);
  const contents: Buffer[] = [];
  const names = new Map<string, string>();
  let before = snapshots.at(-1)?.parents[0] as string; // the base, then the last snapshot that stays
  let loose: string[] = []; // commits that only dropped snapshots keep reachable, newest first
  for (const { commit, parents } of [...snapshots].reverse()) {
    const [, ...beside] = parents;
    if (!kept.has(commit)) {
      loose = [...beside.filter((oid) => !loose.includes(oid)), ...loose];
      continue;
    }
    const carried = await notReachedFrom(git, [before, ...beside], loose);
    const newParents = [names.get(before) ?? before, ...beside, ...carried];
    const content = withParents(raw.get(commit) ?? '', newParents, names);
    const name = commitOid(content, commit);
    if (name !== commit) {
      names.set(commit, name);
      contents.push(content);
    }
    before = commit;
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

function withParents(raw: string, parents: readonly string[], names: ReadonlyMap<string, string>): Buffer {
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
    const known = readScanManifest(path);
    if (known?.commit === from && known !== undefined) writeScanManifest(path, { ...known, commit: to });
  } catch {
    // the next capture reads everything and says so
  }
}
