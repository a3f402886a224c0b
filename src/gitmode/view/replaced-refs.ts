/**
 * The refs and reflogs of a repository without the hidden ones, in a temporary directory that git can be told to read in
 * their place (GIT_REFERENCE_BACKEND, from 2.54 on). It holds what git's "files" backend keeps: packed-refs, symbolic
 * refs, the HEAD and other special refs of each visible worktree, and the logs.
 *
 * Only for commands that write no ref: theirs would be lost.
 */
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { looseRefNames, subdirectories } from '../../git/files/ref-files.ts';
import type { View } from './view.ts';

export interface ReplacedRefs {
  /** For git's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** To be deleted afterwards. */
  readonly directory: string;
}

export function writeReplacedRefs(view: View): ReplacedRefs {
  const directory = mkdtempSync(join(tmpdir(), 'agt-refs-'));
  try {
    writeRefs(view, directory);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  return { env: { GIT_REFERENCE_BACKEND: `files://${directory}` }, directory };
}

function writeRefs(view: View, directory: string): void {
  mkdirSync(join(directory, 'refs'));
  const { commonDir, gitDir } = view;
  const { stdout } = view.ask(['for-each-ref', '--format=%(objectname) %(refname) %(symref)']);
  const packed: string[] = ['# pack-refs with: sorted \n'];
  for (const line of stdout.split('\n')) {
    const [object, ref = '', target] = line.split(' ');
    if (ref === '' || view.isHidden(ref)) continue;
    if (target) write(join(directory, ref), `ref: ${target}\n`);
    else if (isOfWorktree(ref)) write(join(directory, relative(commonDir, gitDir), ref), `${object}\n`);
    else packed.push(`${object} ${ref}\n`);
  }
  writeFileSync(join(directory, 'packed-refs'), packed.join(''));
  const hidden = new Set(view.hiddenWorktrees);
  copySpecialRefs(commonDir, directory);
  copyLogs(commonDir, directory, view);
  if (hidden.has('')) rmSync(join(directory, 'HEAD'), { force: true });
  for (const id of subdirectories(join(commonDir, 'worktrees'))) {
    if (hidden.has(id)) continue;
    copySpecialRefs(join(commonDir, 'worktrees', id), join(directory, 'worktrees', id));
    copyLogs(join(commonDir, 'worktrees', id), join(directory, 'worktrees', id), view);
  }
}

/** Each worktree has its own; git does not pack them. */
function isOfWorktree(ref: string): boolean {
  return /^refs\/(bisect|worktree|rewritten)\//.test(ref);
}

/** HEAD, ORIG_HEAD, MERGE_HEAD and the like. */
function copySpecialRefs(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const files = readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name } of files.filter(({ name }) => /^[A-Z_]+$/.test(name)))
    copyFileSync(join(from, name), join(to, name));
}

function copyLogs(from: string, to: string, view: View): void {
  const refs = looseRefNames(join(from, 'logs'), 'refs').filter((ref) => !view.isHidden(ref));
  for (const name of ['HEAD', ...refs]) copyLog(join(from, 'logs', name), join(to, 'logs', name));
}

/** A link to the same file, if the directories are on one file system: git asks for a regular file. */
function copyLog(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch {
    copyIfThere(from, to);
  }
}

function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch {
    // no log, or one that git could not read either
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
