/** Writes a shadow commit through one `git fast-import`: blobs while the folder is scanned, then tree and commit. */

import { failurePoint } from '../disk/failure-point.ts';
import { requireSpace } from '../disk/free-space.ts';
import type { PlaceCheck } from '../disk/is-inside.ts';
import { AgtError, isAgtError } from '../errors.ts';
import { worktreeGitDir } from '../git/files/worktree-git-dir.ts';
import { FastImport, fastImportPath } from '../git/objects/fast-import.ts';
import { removeCrashReports } from '../git/objects/fast-import-cleanup.ts';
import { type Git, gitAnswer, inDirectory, runGit } from '../git/run/git.ts';
import { commitsOf, operationDigest } from '../snapshot/git-operation.ts';
import { encodePath } from '../snapshot/tree-names.ts';
import { type IndexDigest, stagedTree } from './index.ts';
import type { Previous } from './last-snapshot.ts';
import type { CaptureOptions, CaptureTarget } from './request.ts';
import { type Content, streamContent } from './scan/content.ts';
import type { Scanned } from './scan/scan.ts';
import type { Circumstances } from './starting-refs.ts';

/** Starts git only when there is something to store. */
export class ObjectStream {
  private stream: FastImport | undefined;
  private readonly git: Git;
  private readonly commonDir: string;

  /** `commonDir` is where the objects go. git runs in the sandbox, so that its reports of a crash lie there. */
  constructor(git: Git, commonDir: string, sandbox: string) {
    this.git = inDirectory(git, sandbox);
    this.commonDir = commonDir;
  }

  open(): FastImport {
    try {
      this.stream ??= this.start();
      return this.stream;
    } catch (error) {
      // Not to be taken for trouble with the file that is to be stored.
      throw isAgtError(error)
        ? error
        : new AgtError(`nothing can be stored: ${(error as Error).message}`, { cause: error });
    }
  }

  private start(): FastImport {
    requireSpace(this.commonDir, 0);
    const gitDir = worktreeGitDir(this.git.cwd) ?? this.commonDir;
    removeCrashReports(gitDir);
    return new FastImport(this.git, { commonDir: this.commonDir, gitDir });
  }

  /** Stores content as a blob. False when the file changed on the way. `path` is absolute, one byte per character. */
  async keep(path: string, content: Content, isHere: PlaceCheck): Promise<boolean> {
    const stream = this.open();
    requireSpace(this.commonDir, content.stat.size);
    if (content.bytes === undefined) return streamContent(path, content, stream, isHere);
    await stream.write('blob\n');
    await stream.data(content.bytes);
    failurePoint('capture: blob written');
    return true;
  }

  /** Whatever has not become part of a commit by now is dropped. */
  async close(): Promise<void> {
    await this.stream?.abandon();
  }
}

export interface ShadowCommit {
  readonly at: Circumstances;
  readonly previous: Previous;
  readonly scanned: Scanned;
  readonly index: IndexDigest;
  readonly manifest: string;
  readonly options: CaptureOptions;
}

/**
 * Returns the new commit. The refs move last, when everything is on disk; `meanwhile` is told its name, and may work
 * while git sees to that.
 */
export async function writeShadowCommit(
  git: Git,
  target: CaptureTarget,
  objects: ObjectStream,
  commit: ShadowCommit,
  meanwhile: (name: string) => void,
): Promise<string> {
  const { at, previous, scanned, index } = commit;
  const newIndex = previous.index === index.digest ? undefined : index.content;
  const writeStaged = async () =>
    newIndex === undefined
      ? undefined
      : await stagedTree(inDirectory(git, target.sandbox), at.gitDir, newIndex);
  const stream = objects.open();
  // git packs the index while the tree of what is staged is written.
  const packed = newIndex === undefined ? undefined : writeIndex(stream, newIndex.raw);
  packed?.catch(() => {}); // nobody waits for it where the tree cannot be written
  const staged = await writeStaged();
  failurePoint('capture: staged tree written');
  const parents = await parentsOf(git, commit);
  await packed;
  await stream.write(header(target, commit, parents));
  if (previous.isFirst) {
    await stream.write('deleteall\n');
    if (!previous.isEmpty || previous.foreign.length > 0)
      await stream.write(`M 040000 ${at.tipTree} sandbox\n`);
    for (const path of previous.foreign)
      await stream.write(Buffer.concat([DELETE, fastImportPath(path), NEWLINE]));
  }
  for (const path of scanned.deletions) {
    await stream.write(Buffer.concat([DELETE, fastImportPath(encodePath(path)), NEWLINE]));
  }
  for (const [path, { mode, oid }] of scanned.writes) {
    await stream.write(
      Buffer.concat([Buffer.from(`M ${mode} ${oid} `), fastImportPath(encodePath(path)), NEWLINE]),
    );
  }
  await stream.write('M 100644 inline _/manifest.json\n');
  await stream.data(Buffer.from(commit.manifest));
  if (newIndex !== undefined) {
    await stream.write('D _/staged\nD _/index\n');
    if (staged !== undefined) await stream.write(`M 040000 ${staged} _/staged\n`);
    if (newIndex.raw.length > 0) await stream.write('M 100644 :2 _/index\n');
  }
  await writeOperation(stream, commit);
  await stream.write(`\nreset ${target.shadowRef}\nfrom :1\n\n`);
  failurePoint('capture: stream written');
  const name = await stream.oidOfFirstMark();
  const finished = stream.finish();
  try {
    meanwhile(name);
  } finally {
    await finished;
  }
  failurePoint('capture: refs moved');
  // Nothing referred to these trees until now: `git gc --prune=now` may have taken them. The same are written again.
  const wasReferredTo = previous.isFirst && staged === at.tipTree;
  if (staged !== undefined && !wasReferredTo && !(await isThere(git, staged))) await writeStaged();
  return name;
}

/** As `:2`. */
async function writeIndex(stream: FastImport, raw: Buffer): Promise<void> {
  if (raw.length === 0) return;
  await stream.write('blob\nmark :2\n');
  await stream.data(raw);
}

/** A whole tree, without its blobs: those the sandbox's index keeps. */
async function isThere(git: Git, tree: string): Promise<boolean> {
  return (await runGit(git, ['ls-tree', '-r', '-d', tree], { stdout: 'ignore' })).exitCode === 0;
}

/** Written anew as a whole wherever one of its files has changed. */
async function writeOperation(stream: FastImport, { at, previous }: ShadowCommit): Promise<void> {
  const digest = at.operation === undefined ? undefined : operationDigest(at.operation);
  if (digest === previous.manifest?.operation_digest) return;
  await stream.write('D _/operation\n');
  for (const [path, bytes] of at.operation?.files ?? []) {
    await stream.write(
      Buffer.concat([Buffer.from('M 100644 inline '), fastImportPath(`_/operation/${path}`), NEWLINE]),
    );
    await stream.data(bytes);
  }
}

const DELETE = Buffer.from('D ');
const NEWLINE = Buffer.from('\n');

function header(target: CaptureTarget, { at, options }: ShadowCommit, parents: readonly string[]): string {
  const message = messageOf(target, at, options);
  const identity = `agt <${options.agentEmail}> ${Math.floor(options.now.getTime() / 1000)} ${zone(options.now)}`;
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

function messageOf(target: CaptureTarget, at: Circumstances, options: CaptureOptions): string {
  const line = (text: string) => text.replace(/\s+/g, ' ').trim();
  const head = at.head.commit === null ? [] : [['Head', at.head.commit]];
  const trailers = [
    ['Session', target.sessionId],
    ...head,
    ...(options.label === undefined ? [] : [['Label', line(options.label)]]),
    ...(options.tool === undefined ? [] : [['Tool', line(options.tool)]]),
    ...(options.restored === undefined
      ? []
      : [
          ['Restored', options.restored.commit],
          ['Restored-By', options.restored.by],
        ]),
  ].map(([name, value]) => `Agt-${name}: ${value}`);
  const { restored } = options;
  const subject =
    restored === undefined ? 'agt autocommit' : `agt ${restored.by} to ${restored.commit.slice(0, 10)}`;
  return `${line(options.label ?? '') || subject}\n\n${trailers.join('\n')}\n`;
}

/**
 * The previous state, the user branch, and whatever would otherwise be reachable from nowhere: commits that the agent
 * has made since, and what somebody put on the shadow branch.
 */
async function parentsOf(git: Git, { at, previous, options }: ShadowCommit): Promise<string[]> {
  const parents = [at.tip, at.user];
  const isNewHead =
    at.head.commit !== null && at.head.commit !== (previous.manifest?.head.commit ?? undefined);
  if (isNewHead && !(await isReachable(git, at.head.commit as string, parents)))
    parents.push(at.head.commit as string);
  const operation = at.operation === undefined ? [] : commitsOf(at.operation);
  const wanted = [...(at.shadow === undefined ? [] : [at.shadow]), ...(options.keep ?? []), ...operation];
  return [...parents, ...(await listUnreachable(git, wanted, parents))];
}

/** Those of `commits` that neither `from` nor one of the others before it keeps; what is no commit is left out. */
export async function listUnreachable(
  git: Git,
  commits: readonly string[],
  from: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const commit of commits) {
    if (!(await isReachable(git, commit, [...from, ...found])) && (await isCommit(git, commit)))
      found.push(commit);
  }
  return found;
}

async function isCommit(git: Git, commit: string): Promise<boolean> {
  return (await gitAnswer(git, ['cat-file', '-t', commit])) === 'commit';
}

async function isReachable(git: Git, commit: string, from: readonly string[]): Promise<boolean> {
  if (from.includes(commit)) return true;
  const answer = await gitAnswer(git, ['rev-list', '--max-count=1', commit, '--not', ...from, '--']);
  return answer === '';
}

/** The zone of a date as git writes it: +0100. */
function zone(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const absolute = Math.abs(minutes);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(absolute / 60))}${two(absolute % 60)}`;
}
