/** Writes a shadow commit into the `git fast-import` that already has the blobs of the scan. */
import { failurePoint } from '../disk/failure-point.ts';
import { type FastImport, fastImportPath } from '../git/objects/fast-import.ts';
import { type Git, inDirectory, runGit } from '../git/run/git.ts';
import { operationDigest } from '../snapshot/git-operation.ts';
import { serializeManifest } from '../snapshot/manifest.ts';
import { encodePath } from '../snapshot/tree-names.ts';
import { commitHeader } from './commit-message.ts';
import type { ObjectStream } from './object-stream.ts';
import type { Observation } from './observe.ts';
import { listParents } from './parents.ts';
import type { CaptureOptions, CaptureTarget } from './request.ts';
import { writeStagedTree } from './staged-index.ts';

/**
 * Returns the new commit. The refs move last, when everything is on disk. `beforeRefsMove` gets the commit's name, and
 * may work while git flushes.
 */
export async function writeShadowCommit(
  git: Git,
  target: CaptureTarget,
  objects: ObjectStream,
  observation: Observation,
  options: CaptureOptions,
  beforeRefsMove: (commit: string) => void,
): Promise<string> {
  const { refs, last } = observation;
  const stream = objects.open();
  const staged = await storeIndex(git, target, stream, observation);
  failurePoint('capture: staged tree written');
  const parents = await listParents(git, refs, last, options);
  await staged.indexStored;
  await stream.write(commitHeader(target, refs, options, parents));
  if (last.isFirst) await writeStartTree(stream, observation);
  await writeFiles(stream, observation);
  await writeManifest(stream, observation);
  await writeIndex(stream, observation, staged.tree);
  await writeOperation(stream, observation);
  await stream.write(`\nreset ${target.shadowRef}\nfrom :1\n\n`);
  failurePoint('capture: stream written');
  const commit = await stream.oidOfFirstMark();
  const finished = stream.finish();
  try {
    beforeRefsMove(commit);
  } finally {
    await finished;
  }
  failurePoint('capture: refs moved');
  await staged.restoreIfPruned();
  return commit;
}

interface Staged {
  /** The tree of what is staged; undefined if there is none, or if the index has not changed. */
  readonly tree: string | undefined;
  readonly indexStored: Promise<void>;
  readonly restoreIfPruned: () => Promise<void>;
}

/** Stores a new index as a blob, `:2`, while another git writes the tree of what is staged. */
async function storeIndex(
  git: Git,
  target: CaptureTarget,
  stream: FastImport,
  observation: Observation,
): Promise<Staged> {
  const { refs, last } = observation;
  const content = newIndex(observation);
  if (content === undefined)
    return { tree: undefined, indexStored: Promise.resolve(), restoreIfPruned: async () => {} };
  const writeTree = () => writeStagedTree(inDirectory(git, target.sandbox), refs.gitDir, content);
  const indexStored = storeBlob(stream, content.raw);
  indexStored.catch(() => {}); // if the tree cannot be written, nobody awaits it
  const tree = await writeTree();
  // No ref led to these trees until now, so a `git gc --prune=now` may have deleted them. Writing them again helps.
  const mayBePruned = tree !== undefined && !(last.isFirst && tree === refs.tipTree);
  const restoreIfPruned = async () => {
    if (mayBePruned && !(await hasAllTrees(git, tree))) await writeTree();
  };
  return { tree, indexStored, restoreIfPruned };
}

/** Undefined if the last snapshot has the same. */
function newIndex({ last, index }: Observation): Observation['index']['content'] {
  return last.indexDigest === index.digest ? undefined : index.content;
}

async function storeBlob(stream: FastImport, bytes: Buffer): Promise<void> {
  if (bytes.length === 0) return;
  await stream.write('blob\nmark :2\n');
  await stream.data(bytes);
}

/** Whether the object store has a tree and all trees below it. The sandbox's index keeps the blobs. */
async function hasAllTrees(git: Git, tree: string): Promise<boolean> {
  return (await runGit(git, ['ls-tree', '-r', '-d', tree], { stdout: 'ignore' })).exitCode === 0;
}

/** The first snapshot begins with the start commit's tree as `sandbox/`, without the paths that it cannot hold. */
async function writeStartTree(stream: FastImport, { refs, last }: Observation): Promise<void> {
  await stream.write('deleteall\n');
  if (!last.isEmpty || last.unstorable.length > 0) await stream.write(`M 040000 ${refs.tipTree} sandbox\n`);
  for (const path of last.unstorable) await stream.write(deletion(path));
}

async function writeFiles(stream: FastImport, { scanned }: Observation): Promise<void> {
  for (const path of scanned.deletions) await stream.write(deletion(encodePath(path)));
  for (const [path, { mode, oid }] of scanned.writes)
    await stream.write(command(`M ${mode} ${oid} `, encodePath(path)));
}

async function writeManifest(stream: FastImport, { manifest }: Observation): Promise<void> {
  await stream.write('M 100644 inline _/manifest.json\n');
  await stream.data(Buffer.from(serializeManifest(manifest)));
}

async function writeIndex(
  stream: FastImport,
  observation: Observation,
  stagedTree: string | undefined,
): Promise<void> {
  const content = newIndex(observation);
  if (content === undefined) return;
  await stream.write('D _/staged\nD _/index\n');
  if (stagedTree !== undefined) await stream.write(`M 040000 ${stagedTree} _/staged\n`);
  if (content.raw.length > 0) await stream.write('M 100644 :2 _/index\n');
}

/** If one of the files has changed, all are written again. */
async function writeOperation(stream: FastImport, { refs, last }: Observation): Promise<void> {
  const digest = refs.operation === undefined ? undefined : operationDigest(refs.operation);
  if (digest === last.manifest?.operation_digest) return;
  await stream.write('D _/operation\n');
  for (const [path, bytes] of refs.operation?.files ?? []) {
    await stream.write(command('M 100644 inline ', `_/operation/${path}`));
    await stream.data(bytes);
  }
}

function deletion(path: string): Buffer {
  return command('D ', path);
}

/** A command of git-fast-import(1) that ends in a path. */
function command(start: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(start), fastImportPath(path), NEWLINE]);
}

const NEWLINE = Buffer.from('\n');
