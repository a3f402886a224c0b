/**
 * Copies of snapshots in which a command works. A copy serves again: what the command has left in it goes, and what it has
 * changed comes back. agt tells that by inode, size, permissions and time of the last change. A new copy of 10,000 files
 * takes seconds.
 */
import { lstatSync, lutimesSync, mkdirSync, type Stats, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyPlan, checkOutSnapshot } from '../../checkout/apply.ts';
import { prepareCheckout } from '../../checkout/plan.ts';
import { clockAfter, readFileClock } from '../../disk/file-clock.ts';
import { OWNER_FILE } from '../../disk/lock-owner.ts';
import { systemPath } from '../../disk/long-path.ts';
import { holdsOnly, removeOnly } from '../../disk/remove-tree.ts';
import { discoverRepository } from '../../git/files/discover-repository.ts';
import { type Git, gitText, inDirectory } from '../../git/run/git.ts';
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { readCapturedIndex } from '../../snapshot/format.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import { parentDirectories, readSnapshotTree } from '../../snapshot/tree.ts';
import { readTimeline } from '../timeline.ts';

/** The commit at which a session began, as git checks it out, or a snapshot. */
export type Candidate = Snapshot | { readonly start: string };

export interface Copy {
  /** Absolute. Its owner is this process. */
  readonly folder: string;
  contents: Contents | undefined;
}

interface Contents extends Wanted {
  /** By path in the folder, one byte per character. */
  readonly files: ReadonlyMap<string, string>;
  readonly directories: ReadonlyMap<string, number>;
}

interface Wanted {
  readonly snapshot: Snapshot;
  readonly metadata: SnapshotMetadata;
}

/** Makes the copy one of `candidate`, whatever is in it, with a repository of its own. */
export async function fill(session: Session, copy: Copy, candidate: Candidate, timesOf: TimesOf) {
  const { git } = session;
  const { folder } = copy;
  // A file that no snapshot holds is in none of the copies, so it is in no way.
  const read = async (snapshot: Snapshot) => ({
    snapshot,
    metadata: { ...(await readSnapshotMetadata(git, snapshot.commit)), skipped: [] },
  });
  const wanted = 'start' in candidate ? undefined : await read(candidate);
  const isReused = wanted !== undefined && (await bringTo(git, copy, wanted, timesOf).catch(() => false));
  if (!isReused) removeOnly(folder, (path) => path !== OWNER_FILE);
  if (wanted !== undefined && !isReused)
    await checkOutSnapshot(git, wanted.snapshot.commit, folder, timesOf(wanted.snapshot));
  copy.contents = wanted && { ...wanted, ...look(folder) };
  await makeRepository(session, candidate, join(folder, 'sandbox'));
  await clockAfter(readFileClock(folder), folder);
}

/** False if it is easier to begin anew. */
async function bringTo(git: Git, { folder, contents }: Copy, to: Wanted, timesOf: TimesOf): Promise<boolean> {
  if (contents === undefined) return false;
  const { snapshot, metadata, files, directories } = contents;
  const top = Buffer.from(folder).toString('latin1');
  const intact = new Set(removeOnly(folder, (path, stat) => signatureOf(stat) !== files.get(path)));
  const there = new Set([...intact].flatMap(parentDirectories));
  const isSameMode = (path: string) => modeOf(top, path) === directories.get(path);
  if (![...there].every(isSameMode)) return false;
  const [before, after] = [timesOf(snapshot), timesOf(to.snapshot)];
  for (const path of intact) {
    const seconds = after(path);
    if (seconds !== before(path)) lutimesSync(systemPath(`${top}/${path}`), seconds, seconds);
  }
  const tree = await readSnapshotTree(git, metadata.commit);
  const gone = [...tree].filter(([path]) => !intact.has(path));
  const changes = gone.map(([path, version]) => ({ path, before: version, after: undefined }));
  const onDisk = { changes, directories: there };
  const plan = await prepareCheckout(git, metadata, to.metadata, TOP_FOLDERS, onDisk);
  const target = { path: top, isCaptured: () => true, mtimeOf: after };
  const { changed, refused } = await applyPlan(git, plan, target);
  return changed.length + refused.length === 0;
}

function look(folder: string): Pick<Contents, 'files' | 'directories'> {
  const top = Buffer.from(folder).toString('latin1');
  const files = new Map<string, string>();
  holdsOnly(folder, (path, stat) => {
    files.set(path, signatureOf(stat));
    return true;
  });
  const directories = new Set([...files.keys()].flatMap(parentDirectories));
  return { files, directories: new Map([...directories].map((path) => [path, modeOf(top, path)])) };
}

function signatureOf({ ino, size, mode, ctimeMs }: Stats): string {
  return [ino, size, mode, ctimeMs].join(' ');
}

function modeOf(top: string, path: string): number {
  return lstatSync(systemPath(`${top}/${path}`)).mode;
}

/** Its commits and stashes go with the copy. */
async function makeRepository(session: Session, candidate: Candidate, sandbox: string): Promise<void> {
  const { git, repository, record } = session;
  mkdirSync(sandbox, { recursive: true });
  const checkout = record.checkout ?? record.sandbox;
  const users = isAttached(record) ? discoverRepository(checkout, {})?.commonDir : repository.commonDir;
  if (users === undefined) return;
  const head = 'start' in candidate ? candidate.start : candidate.head;
  const gitDir = join(sandbox, '.git');
  const format = head?.length === SHA256_LENGTH ? 'sha256' : 'sha1';
  await gitText(inDirectory(git, sandbox), ['init', '-q', '--template=', `--object-format=${format}`]);
  writeFileSync(join(gitDir, 'objects/info/alternates'), `${join(users, 'objects')}\n`);
  if (head !== undefined) writeFileSync(join(gitDir, 'HEAD'), `${head}\n`);
  const index = join(gitDir, 'index');
  if ('start' in candidate) {
    // With the settings and filters of the user's repository.
    const env = { GIT_DIR: users, GIT_WORK_TREE: sandbox, GIT_INDEX_FILE: index };
    await gitText(git, ['read-tree', '-m', '-u', candidate.start], { env });
  } else {
    const captured = await readCapturedIndex(git, candidate.commit);
    if (captured !== undefined) writeFileSync(index, captured.content);
  }
}

const SHA256_LENGTH = 64;

/** Seconds since 1970 at which a snapshot first had a file as it is: a build must not take an old result for a new one. */
export type TimesOf = (snapshot: Snapshot) => (path: string) => number;

export async function readTimes({ git }: Session, history: readonly Snapshot[]): Promise<TimesOf> {
  const timeline = await readTimeline(git, history, { pathspecs: [], countLines: false });
  const numbers = new Map(history.map(({ commit }, n) => [commit, n]));
  const changes = new Map<string, { readonly number: number; readonly seconds: number }[]>();
  for (const [number, { snapshot, files }] of timeline.entries()) {
    const change = { number, seconds: Math.floor(snapshot.time.getTime() / 1000) };
    for (const { path } of files) {
      const known = changes.get(path);
      if (known === undefined) changes.set(path, [change]);
      else known.push(change);
    }
  }
  const first = Math.floor((history.at(-1)?.time.getTime() ?? 0) / 1000);
  return ({ commit }) => {
    const number = numbers.get(commit) ?? 0;
    return (path) => changes.get(path)?.find((change) => change.number >= number)?.seconds ?? first;
  };
}
