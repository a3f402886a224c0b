/**
 * Carries out a plan in a session folder. A path that the system refuses is reported, and all others are done. Files that
 * another process has changed since the last capture are reported too: the caller must capture them first.
 */
import { failurePoint } from '../disk/failure-point.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, errorCode, failureReason, nameFile } from '../errors.ts';
import { readContents } from '../git/objects/object-reader.ts';
import type { Git } from '../git/run/git.ts';
import { reportProgress } from '../process/progress.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { restoreIgnoreFile } from '../snapshot/ignore-file.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../snapshot/manifest.ts';
import { parentDirectories } from '../snapshot/tree.ts';
import { ConcurrentChange, FolderWriter, type TargetFolder } from './folder-writer.ts';
import { type CheckoutPlan, type FileToWrite, prepareCheckout } from './plan.ts';

/** Paths that are not as planned: relative to the session folder, one byte per character. */
export interface Unfinished {
  /** Another process changed them since the last capture. */
  readonly changed: readonly string[];
  /** The system refused them. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** @throws errors that would meet every path, such as a full disk. Nothing of the work before is undone. */
export async function applyPlan(git: Git, plan: CheckoutPlan, folder: TargetFolder): Promise<Unfinished> {
  const writer = new FolderWriter(folder, plan.owners);
  const steps = new Steps();
  try {
    for (const path of plan.deletions) steps.take(path, 'deleted', () => writer.removeFile(path));
    failurePoint('checkout: files removed');
    for (const path of plan.emptiedDirectories) steps.take(path, 'deleted', () => writer.removeIfEmpty(path));
    for (const path of plan.directories.keys()) steps.take(path, 'made', () => writer.makeDirectory(path));
    await readContents(
      git,
      plan.writes.map(({ oid }) => oid),
      async (index, chunks) => {
        reportProgress('writing files', index + 1, plan.writes.length);
        const file = plan.writes[index] as FileToWrite;
        await steps.take(file.path, 'replaced', () => writer.write(file, chunks));
        for await (const _ of chunks); // what a refused file left in the stream
      },
      (index) => {
        const { path, oid } = plan.writes[index] as FileToWrite;
        steps.refuse(path, `its content is missing in the repository (object ${oid})`);
      },
    );
    for (const [path, bits] of plan.modes) steps.take(path, 'changed', () => writer.setBits(path, bits));
  } finally {
    for (const [path, setBits] of writer.lastSteps(plan.directories)) steps.take(path, 'changed', setBits);
    writer.close();
  }
  return { changed: [...steps.changed], refused: [...steps.refused, ...writer.limited] };
}

/** Errors that would meet every other path too. */
const FATAL = ['ENOSPC', 'EDQUOT'];

class Steps {
  readonly changed = new Set<string>();
  private readonly reasons = new Map<string, string>();

  get refused(): Unfinished['refused'] {
    return [...this.reasons].map(([path, reason]) => ({ path, reason }));
  }

  /** Takes a step, unless a directory above was refused. */
  take(path: string, verb: string, step: () => Promise<void> | void): Promise<void> | void {
    if (this.reasons.size > 0 && parentDirectories(path).some((directory) => this.reasons.has(directory)))
      return;
    try {
      return step()?.catch((error: unknown) => this.note(path, verb, error));
    } catch (error) {
      this.note(path, verb, error);
    }
  }

  refuse(path: string, reason: string): void {
    this.reasons.set(path, reason);
  }

  private note(path: string, verb: string, error: unknown): void {
    const code = errorCode(error);
    if (error instanceof ConcurrentChange) this.changed.add(error.path);
    else if (['ENOENT', 'ENOTDIR', 'EEXIST', 'EISDIR'].includes(code)) this.changed.add(path);
    else if (FATAL.includes(code)) throw nameFile(error, displayPath(path));
    else this.refuse(path, failureReason(verb, error));
  }
}

/** Writes a whole snapshot into a folder that holds nothing but the sandbox's `.git`. */
export async function checkOutSnapshot(
  git: Git,
  commit: string,
  folder: string,
  mtimeOf?: TargetFolder['mtimeOf'],
): Promise<{ readonly content: SnapshotMetadata; readonly plan: CheckoutPlan }> {
  const content = await readSnapshotMetadata(git, commit);
  const plan = await prepareCheckout(git, undefined, content, TOP_FOLDERS);
  const path = Buffer.from(folder).toString('latin1');
  const { changed, refused } = await applyPlan(git, plan, { path, isCaptured: () => false, mtimeOf });
  const [problem] = [...refused, ...changed.map((name) => ({ path: name, reason: 'is there already' }))];
  if (problem !== undefined) throw new AgtError(`${displayPath(problem.path)} ${problem.reason}`);
  restoreIgnoreFile(folder, content.manifest.agtignore);
  return { content, plan };
}
