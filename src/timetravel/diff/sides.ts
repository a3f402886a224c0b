/**
 * The two sides of a comparison, each as a tree of a session folder: a captured state, the commit that a session started
 * at, or what is on disk now, which is written as objects for the time of the comparison.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { treeMode } from '../../autocommit/last-snapshot.ts';
import { ObjectStream } from '../../autocommit/object-stream.ts';
import { observeFolder } from '../../autocommit/observe.ts';
import { readContent, UnstableFile } from '../../autocommit/scan/content.ts';
import { type IsInside, insideCheck } from '../../disk/is-inside.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { errorCode } from '../../errors.ts';
import type { Scratch } from '../../git/objects/scratch.ts';
import { type Git, gitBytes, gitText } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureTarget } from '../../session/capture-session.ts';
import type { SessionRecord } from '../../session/record.ts';
import { requireSandbox } from '../../session/sandbox.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import type { SnapshotManifest } from '../../snapshot/manifest.ts';
import { readSnapshot } from '../../snapshot/snapshot.ts';
import { encodePath } from '../../snapshot/tree-names.ts';

export interface Side {
  /** A tree, or a commit of one, that holds `sandbox`, `xdg` and `config`. */
  readonly tree: string;
  /** What the tree cannot say; undefined for the commit that a session started at. */
  readonly manifest: SnapshotManifest | undefined;
  /** Paths of which the side is not sure, with the reason. */
  readonly unsure: readonly { readonly path: string; readonly reason: string }[];
}

export async function sideOfSnapshot(git: Git, { commit }: Snapshot): Promise<Side> {
  return { tree: commit, manifest: (await readSnapshot(git, commit)).manifest, unsure: [] };
}

/** The sandbox as `session new` made it. Submodules are no files of it. */
export async function sideOfStart(scratch: Scratch, startCommit: string): Promise<Side> {
  const listed = (await gitBytes(scratch.git, ['ls-tree', '-r', '-z', '--full-tree', startCommit])).toString(
    'latin1',
  );
  const submodules = listed.split('\0').filter((line) => line.startsWith('160000 '));
  const deletions = submodules.map((line) => `sandbox/${line.slice(line.indexOf('\t') + 1)}`);
  const tree = await editTree(scratch, { tree: startCommit, prefix: 'sandbox/' }, new Map(), deletions);
  return { tree, manifest: undefined, unsure: [] };
}

export async function sideOfDisk(
  repository: Repository,
  record: SessionRecord,
  scratch: Scratch,
  now: Date,
): Promise<Side> {
  requireSandbox(record);
  const { agentEmail, maxFileSize } = repository.settings;
  const target = captureTarget(repository, record);
  const { refs, last, scanned, manifest } = await observeFolder(repository.git, target, {
    agentEmail,
    maxFileSize,
    now,
  });
  const unsure = scanned.failed.map(({ path, reason }) => ({ path: displayPath(path), reason }));
  const writes = new Map<string, string>();
  const objects = new ObjectStream(scratch.git, scratch.dir, target.sandbox);
  const folder = Buffer.from(target.folder).toString('latin1');
  const hash = refs.tip.length === 64 ? 'sha256' : 'sha1';
  const isInside = insideCheck(folder);
  try {
    for (const path of scanned.writes.keys()) {
      const kept = await keep(objects, `${folder}/${path}`, hash, isInside);
      if (kept === undefined) unsure.push({ path: displayPath(path), reason: 'it changes all the time' });
      else writes.set(encodePath(path), kept);
    }
    if (writes.size > 0) await objects.open().finish();
  } finally {
    await objects.close();
  }
  const base = last.isFirst ? { tree: refs.tipTree, prefix: 'sandbox/' } : { tree: refs.tip, prefix: '' };
  const deletions = [...last.unstorable, ...scanned.deletions.map(encodePath)];
  return { tree: await editTree(scratch, base, writes, deletions), manifest, unsure };
}

const ATTEMPTS = 3;

/** Mode and object name of a file that was stored; undefined where it would not come to rest or is gone. */
async function keep(
  objects: ObjectStream,
  path: string,
  hash: 'sha1' | 'sha256',
  isInside: IsInside,
): Promise<string | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const content = readContent(path, hash, isInside);
      if (await objects.store(path, content, isInside))
        return `${treeMode(content.stat.mode)} ${content.oid}`;
    } catch (error) {
      if (!(error instanceof UnstableFile) && errorCode(error) !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

/** Paths hold one byte per character, as in the tree; what is written goes by an index of its own. */
async function editTree(
  { git, dir }: Scratch,
  base: { readonly tree: string; readonly prefix: string },
  writes: ReadonlyMap<string, string>,
  deletions: readonly string[],
): Promise<string> {
  if (base.prefix === '' && writes.size + deletions.length === 0) return base.tree;
  const plain = [
    'core.splitIndex=false',
    'core.fsmonitor=false',
    'index.sparse=false',
    'core.sparseCheckout=false',
  ];
  const options = plain.flatMap((setting) => ['-c', setting]);
  const index = join(dir, 'index');
  rmSync(index, { force: true }); // the other side's
  const env = { GIT_INDEX_FILE: index };
  const prefix = base.prefix === '' ? [] : [`--prefix=${base.prefix}`];
  await gitText(git, [...options, 'read-tree', ...prefix, `${base.tree}^{tree}`], { env });
  const nothing = '0'.repeat(base.tree.length);
  const lines = [
    ...deletions.map((path) => `0 ${nothing}\t${path}\0`),
    ...[...writes].map(([path, file]) => `${file}\t${path}\0`),
  ];
  if (lines.length > 0) {
    const input = Buffer.from(lines.join(''), 'latin1');
    await gitText(git, [...options, 'update-index', '-z', '--index-info'], { env, input });
  }
  return gitText(git, [...options, 'write-tree', '--missing-ok'], { env });
}
