/** Writes a shadow commit into the `git fast-import` that already has the blobs of the scan. */
import { failurePoint } from '../disk/failure-point.ts';
import { type FastImport, fastImportPath } from '../git/objects/fast-import.ts';
import { type Git, gitAnswer, inDirectory, runGit } from '../git/run/git.ts';
import { timeZone } from '../local-time.ts';
import { AUTHOR, OWN, oneLine, snapshotMessage } from '../snapshot/format.ts';
import { autoMergeTree, commitsOf } from '../snapshot/git-dir-files.ts';
import { serializeManifest } from '../snapshot/manifest.ts';
import { encodePath } from '../snapshot/tree-names.ts';
import type { LastSnapshot } from './last-snapshot.ts';
import type { ObjectStream } from './object-stream.ts';
import type { Observation } from './observe.ts';
import type { CaptureOptions, CaptureTarget } from './request.ts';
import { NO_TREES, type StagedTrees, writeStagedTrees } from './staged-index.ts';
import { directoryForGit, type RefsAtStart } from './starting-refs.ts';

/** The refs move last, when all is on disk. `beforeRefsMove` may work while git flushes. */
export async function writeShadowCommit(
  git: Git,
  target: CaptureTarget,
  objects: ObjectStream,
  observation: Observation,
  options: CaptureOptions,
  beforeRefsMove: (commit: string) => void,
): Promise<{ commit: string; tree: string }> {
  const { refs, last, manifest } = observation;
  const stream = objects.open();
  // The objects that the index of an attached folder names are kept with the user's repository.
  const keepsTrees = target.attached === undefined && options.dryRun !== true;
  const staged = await storeIndex(git, target, stream, observation, keepsTrees);
  failurePoint('capture: staged tree written');
  const parents = await listParents(git, refs, last, manifest.git_dir_digest, options);
  await staged.indexStored;
  await stream.write(commitHeader(target, refs, options, parents));
  await writeFiles(stream, observation);
  await writeIndex(stream, observation, staged.trees);
  await writeGitDirFiles(git, stream, observation);
  await stream.write(`\nreset ${target.shadowRef}\nfrom :1\n\n`);
  failurePoint('capture: stream written');
  const { commit, tree } = await stream.describeFirstMark();
  const finished = stream.finish();
  try {
    beforeRefsMove(commit);
  } finally {
    await finished;
  }
  failurePoint('capture: refs moved');
  await staged.restoreIfPruned();
  return { commit, tree };
}

/** Stores a new index as a blob, `:2`, while another git writes the trees of what is staged. */
async function storeIndex(
  git: Git,
  target: CaptureTarget,
  stream: FastImport,
  observation: Observation,
  keepsTrees: boolean,
) {
  const { refs, last } = observation;
  const content = newIndex(observation);
  if (content === undefined)
    return { trees: NO_TREES, indexStored: Promise.resolve(), restoreIfPruned: async () => {} };
  const writeTrees = () =>
    writeStagedTrees(
      inDirectory(git, directoryForGit(git, target)),
      refs.gitDir,
      content,
      refs.tip.length / 2,
    );
  const indexStored = storeBlob(stream, content.raw);
  indexStored.catch(() => {}); // if the trees cannot be written, nobody awaits it
  if (!keepsTrees) return { trees: NO_TREES, indexStored, restoreIfPruned: async () => {} };
  const trees = await writeTrees();
  // No ref led to these trees until now, so a `git gc --prune=now` may have deleted them. Writing them again helps.
  const mayBePruned = [trees.staged, trees.stages].filter(
    (tree) => tree !== undefined && !(last.isFirst && tree === refs.tipTree),
  );
  const restoreIfPruned = async () => {
    for (const tree of mayBePruned) {
      if (tree !== undefined && !(await hasAllTrees(git, tree))) await writeTrees();
    }
  };
  return { trees, indexStored, restoreIfPruned };
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

async function writeFiles(stream: FastImport, { refs, last, scanned, manifest }: Observation): Promise<void> {
  if (last.isFirst) {
    // It begins with the start commit's tree as `sandbox/`, without the paths that it cannot hold.
    await stream.write('deleteall\n');
    if (!last.isEmpty || last.unstorable.length > 0) await stream.write(`M 040000 ${refs.tipTree} sandbox\n`);
    for (const path of last.unstorable) await stream.write(deletion(path));
  }
  for (const path of scanned.deletions) await stream.write(deletion(encodePath(path)));
  for (const [path, { mode, oid }] of scanned.writes)
    await stream.write(command(`M ${mode} ${oid} `, encodePath(path)));
  await stream.write(`M 100644 inline ${OWN.manifest}\n`);
  await stream.data(Buffer.from(serializeManifest(manifest)));
}

async function writeIndex(stream: FastImport, observation: Observation, { staged, stages }: StagedTrees) {
  const content = newIndex(observation);
  if (content === undefined) return;
  await stream.write(`D ${OWN.staged}\nD ${OWN.stages}\nD ${OWN.index}\n`);
  if (staged !== undefined) await stream.write(`M 040000 ${staged} ${OWN.staged}\n`);
  if (stages !== undefined) await stream.write(`M 040000 ${stages} ${OWN.stages}\n`);
  if (content.raw.length > 0) await stream.write(`M 100644 :2 ${OWN.index}\n`);
}

/** If one of the files has changed, all are written again. */
async function writeGitDirFiles(git: Git, stream: FastImport, { refs, last, manifest }: Observation) {
  if (manifest.git_dir_digest === last.manifest?.git_dir_digest) return;
  await stream.write(`D ${OWN.gitDir}\nD ${OWN.autoMerge}\n`);
  for (const [path, bytes] of refs.gitDirFiles.files) {
    await stream.write(command('M 100644 inline ', `${OWN.gitDir}/${encodePath(path)}`));
    await stream.data(bytes);
  }
  const tree = autoMergeTree(refs.gitDirFiles);
  const size = tree === undefined ? '0' : await gitAnswer(git, ['cat-file', '-s', `${tree}^{tree}`]);
  if (size !== undefined && size !== '0') await stream.write(`M 040000 ${tree} ${OWN.autoMerge}\n`);
}

function deletion(path: string): Buffer {
  return command('D ', path);
}

/** A command of git-fast-import(1) that ends in a path. */
function command(start: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(start), fastImportPath(path), NEWLINE]);
}

const NEWLINE = Buffer.from('\n');

/** The commit becomes mark `:1`. */
function commitHeader(
  target: CaptureTarget,
  refs: RefsAtStart,
  options: CaptureOptions,
  parents: readonly string[],
): string {
  const message = commitMessage(target, refs, options);
  const seconds = Math.floor(options.now.getTime() / 1000);
  const identity = `${AUTHOR} <${options.agentEmail}> ${seconds} ${timeZone(-options.now.getTimezoneOffset())}`;
  const [first, ...others] = parents;
  return [
    `commit ${target.tipRef}`,
    'mark :1',
    `author ${identity}`,
    `committer ${identity}`,
    `data ${Buffer.byteLength(message)}`,
    message,
    `from ${first}`,
    ...others.map((parent) => `merge ${parent}`),
    '',
  ].join('\n');
}

function commitMessage(target: CaptureTarget, refs: RefsAtStart, options: CaptureOptions): string {
  const { label, tool, call, before, bySession, restored, unfinished, agent, conversation, during } = options;
  return snapshotMessage(oneLine(label ?? '') || subjectOf(options), {
    ...{ Session: target.sessionId, Head: refs.head.commit ?? refs.userGit?.head },
    ...{ Agent: agent, Conversation: conversation, Label: label, Tool: tool },
    ...{ Before: before?.tool, Call: (before ?? call)?.id, Summary: call?.summary, Outcome: call?.outcome },
    ...{
      'By-Session': bySession,
      Restored: restored?.commit,
      'Restored-By': restored?.by,
      Undone: restored?.undone?.join(' '),
      Unfinished: unfinished,
    },
    During: during?.().join(' '),
  });
}

function subjectOf({ restored, unfinished, tool, call, before }: CaptureOptions): string {
  if (before !== undefined) return oneLine(`before ${before.tool}`);
  if (call !== undefined) return oneLine([tool, call.summary].filter(Boolean).join(': ')) || 'agt record';
  if (restored !== undefined) return `agt ${restored.by} to ${restored.commit.slice(0, 10)}`;
  return unfinished === undefined ? 'agt autocommit' : `on the way to ${unfinished.slice(0, 10)}`;
}

/**
 * The last snapshot, the tip of the user branch, and commits that would otherwise be unreachable: the agent's own since
 * then, that of the work branch while HEAD is elsewhere, those that somebody put on the shadow branch, those that files of
 * the worktree name, and `options.keep`. A snapshot of an attached folder has the last one alone. The last snapshot keeps
 * whatever it knew of.
 */
async function listParents(
  git: Git,
  refs: RefsAtStart,
  { manifest: known }: LastSnapshot,
  digest: string | undefined,
  options: CaptureOptions,
): Promise<string[]> {
  if (refs.user === undefined) return [refs.tip];
  const parents = [refs.tip, refs.user];
  const head = refs.head.commit;
  if (head !== null && head !== known?.head.commit && !(await isReachable(git, head, parents)))
    parents.push(head);
  const work = refs.head.work === known?.head.work ? undefined : refs.head.work;
  const branches = [refs.shadow, work].filter((commit) => typeof commit === 'string');
  const ofFiles = digest === known?.git_dir_digest ? [] : commitsOf(refs.gitDirFiles);
  const wanted = [...branches, ...(options.keep ?? []), ...ofFiles];
  return [...parents, ...(await listUnreachable(git, wanted, parents))];
}

/** Those of `commits` that neither `from` nor an earlier one reaches. Names that are not commits are left out. */
export async function listUnreachable(
  git: Git,
  commits: readonly string[],
  from: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  const others = commits.filter((commit) => !from.includes(commit));
  if (others.length > 1 && (await areReachable(git, others, from))) return found;
  for (const commit of others) {
    if (await isReachable(git, commit, [...from, ...found])) continue;
    if ((await gitAnswer(git, ['cat-file', '-t', commit])) === 'commit') found.push(commit);
  }
  return found;
}

async function isReachable(git: Git, commit: string, from: readonly string[]): Promise<boolean> {
  return from.includes(commit) || areReachable(git, [commit], from);
}

/** False also if one of them is missing. */
async function areReachable(git: Git, commits: readonly string[], from: readonly string[]): Promise<boolean> {
  const args = ['rev-list', '--max-count=1', ...commits, '--not', ...from, '--'];
  return (await gitAnswer(git, args)) === '';
}
