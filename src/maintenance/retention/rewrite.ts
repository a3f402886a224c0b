/**
 * Shortens a history to the snapshots that stay. Each keeps its tree, message and dates, and gets the
 * previous one that stays as its parent. A deleted snapshot may be the only one that keeps other commits
 * reachable: of the agent, of the user, of another program that wrote to the branch. Those become further
 * parents of the next snapshot that stays.
 *
 * The snapshots after the first deleted one get new object names. agt updates trailers that name a snapshot.
 */
import { readStatCache, writeStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { commitOid, readCommits, storeCommits } from '../../git/objects/commits.ts';
import { type Git, gitText, runGit, updateRefs } from '../../git/run/git.ts';
import { statCacheFile } from '../../layout.ts';
import type { LockedSession } from '../../session/lock.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import type { Chain } from './plan.ts';

/**
 * `kept` must not be empty. If agt is killed, either the old or the new history is complete: the refs move in
 * one transaction, after the new commits are on disk.
 */
export async function rewriteChain(session: LockedSession, chain: Chain, kept: ReadonlySet<string>) {
  const { git } = session.repository;
  const { contents, newNames } = await shortenChain(git, chain.snapshots, kept);
  const newest = chain.snapshots.find(({ commit }) => kept.has(commit)) as Snapshot;
  const tip = newNames.get(newest.commit) ?? newest.commit;
  await storeCommits(git, contents, tip);
  failurePoint('gc: chain stored');
  const refs = [tipRef(session.id), session.record.branch];
  const moves = refs.map((ref) => `update ${ref} ${tip} ${chain.tip}`);
  await updateRefs(git, moves, 'agt: thin');
  failurePoint('gc: refs moved');
  renameInStatCache(session, chain.tip, tip);
  await forgetReflog(session);
}

/** The reflog of the shadow branch would keep the deleted snapshots reachable. */
export async function forgetReflog({ repository, record }: LockedSession): Promise<void> {
  const args = ['reflog', 'expire', '--expire=now', '--expire-unreachable=now', record.branch];
  await runGit(repository.git, args);
}

/** The new commit objects, oldest first, and from the old to the new name of each snapshot that gets another one. */
async function shortenChain(git: Git, snapshots: readonly Snapshot[], kept: ReadonlySet<string>) {
  const raw = await readCommits(git, [...kept]);
  const contents: Buffer[] = [];
  const newNames = new Map<string, string>();
  // The start commit, then the last snapshot that stays.
  let previous = snapshots.at(-1)?.parents[0] as string;
  // Commits that only deleted snapshots keep reachable, newest first.
  let unheld: string[] = [];
  for (const { commit, parents } of [...snapshots].reverse()) {
    const otherParents = parents.slice(1);
    if (!kept.has(commit)) {
      unheld = [...otherParents.filter((oid) => !unheld.includes(oid)), ...unheld];
      continue;
    }
    const takenOver = await notReachedFrom(git, [previous, ...otherParents], unheld);
    const newParents = [newNames.get(previous) ?? previous, ...otherParents, ...takenOver];
    const content = withParents(raw.get(commit) ?? '', newParents, newNames);
    const name = commitOid(content, commit);
    if (name !== commit) {
      newNames.set(commit, name);
      contents.push(content);
    }
    previous = commit;
    unheld = [];
  }
  return { contents, newNames };
}

/**
 * The candidates that neither `from` nor another candidate reaches, in the same order. `from` may have the
 * old name of a rewritten snapshot: besides snapshots, the old and the new commit reach the same.
 */
async function notReachedFrom(
  git: Git,
  from: readonly string[],
  candidates: readonly string[],
): Promise<string[]> {
  const others = candidates.filter((oid) => !from.includes(oid));
  if (others.length === 0) return [];
  const output = await gitText(git, ['merge-base', '--independent', ...from, ...others]);
  const independent = new Set(output.split('\n'));
  return others.filter((oid) => independent.has(oid));
}

/** `raw` has one byte per character. */
export function withParents(
  raw: string,
  parents: readonly string[],
  newNames: ReadonlyMap<string, string>,
): Buffer {
  const headerEnd = raw.indexOf('\n\n');
  const [tree = '', ...fields] = raw.slice(0, headerEnd).split('\n');
  const others = fields.filter((field) => !field.startsWith('parent '));
  const header = [tree, ...parents.map((oid) => `parent ${oid}`), ...others].join('\n');
  return Buffer.from(header + renameInMessage(raw.slice(headerEnd), newNames), 'latin1');
}

/** Renames snapshots in trailers, and in the subject of a restore. */
function renameInMessage(message: string, newNames: ReadonlyMap<string, string>): string {
  let subject = '';
  const text = message.replace(NAMES, (line) =>
    line.replace(OID, (oid) => {
      const name = newNames.get(oid);
      if (name !== undefined && line.startsWith('Agt-Restored: ')) subject = shortOid(name);
      return name ?? oid;
    }),
  );
  return text.replace(/^(\n\nagt \w+ to )[0-9a-f]+\n/, subject === '' ? '$&' : `$1${subject}\n`);
}

const OID = /[0-9a-f]{40,64}/g;
const NAMES = /^Agt-[\w-]+:(?: [0-9a-f]{40,64})+$/gm;

/** The snapshot has the same files under its new name, so the stat cache stays valid. */
function renameInStatCache({ repository, id }: LockedSession, from: string | undefined, to: string): void {
  const path = statCacheFile(repository.agtDir, id);
  try {
    const cached = readStatCache(path);
    if (cached !== undefined && cached.commit === from) writeStatCache(path, { ...cached, commit: to });
  } catch {
    // Only a cache: the next capture reads every file, and warns.
  }
}
