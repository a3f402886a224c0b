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
import { attempt } from '../../errors.ts';
import { visibleLogs, visibleRegistrations } from './reflogs.ts';
import type { View } from './view.ts';

/** The variables for git, and the directory, which is to be deleted afterwards. */
export function writeReplacedRefs(view: View) {
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
  for (const from of [commonDir, ...visibleRegistrations(view)]) {
    const to = join(directory, relative(commonDir, from));
    copySpecialRefs(from, to);
    for (const name of ['HEAD', ...visibleLogs(from, view)])
      copyLog(join(from, 'logs', name), join(to, 'logs', name));
  }
  if (view.hiddenWorktrees.includes('')) rmSync(join(directory, 'HEAD'), { force: true });
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

/** A link to the same file, if the directories are on one file system: git asks for a regular file. */
function copyLog(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch {
    attempt(() => copyFileSync(from, to)); // no log, or one that git could not read either
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
