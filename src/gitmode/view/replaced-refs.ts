/**
 * The refs and reflogs of a repository without the hidden ones, in a temporary directory that git can be told to read in
 * their place (GIT_REFERENCE_BACKEND, from 2.54 on). It holds what git's "files" backend keeps: packed-refs, symbolic
 * refs, the HEAD and other special refs of each visible worktree, and the logs.
 *
 * Only for commands that write no ref: theirs would be lost.
 */
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { readRegularFile } from '../../disk/read-file.ts';
import { attempt, succeeds } from '../../errors.ts';
import { listRegistrations } from '../../git/files/discover-repository.ts';
import { looseRefNames, OF_WORKTREE } from '../../git/files/ref-files.ts';
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
    else if (OF_WORKTREE.test(ref)) write(join(directory, relative(commonDir, gitDir), ref), `${object}\n`);
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
  if (succeeds(() => linkSync(from, to))) return;
  attempt(() => copyFileSync(from, to)); // no log, or one that git could not read either
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** For `--reflog`: the objects that the visible reflogs name, and that exist; others were pruned. */
export function objectsOfVisibleReflogs(view: View): string[] {
  const { commonDir } = view;
  const linked = visibleRegistrations(view);
  const heads = view.hiddenWorktrees.includes('') ? linked : [commonDir, ...linked];
  const logs = [
    ...heads.map((gitDir) => join(gitDir, 'logs', 'HEAD')),
    ...[commonDir, ...linked].flatMap((gitDir) =>
      visibleLogs(gitDir, view).map((ref) => join(gitDir, 'logs', ref)),
    ),
  ];
  const names = [...new Set(logs.flatMap(objectsIn))].filter((name) => !/^0+$/.test(name));
  const { stdout } = view.ask(
    ['cat-file', '--batch-check=%(objectname)'],
    names.map((name) => `${name}\n`).join(''),
  );
  return stdout.split('\n').filter((line) => /^[0-9a-f]+$/.test(line));
}

/** The git directories of linked worktrees that are no sandboxes of others. */
function visibleRegistrations({ commonDir, hiddenWorktrees }: View): string[] {
  return listRegistrations(commonDir).filter((gitDir) => !hiddenWorktrees.includes(basename(gitDir)));
}

/** The visible refs that have a log in a git directory; not its HEAD. */
function visibleLogs(gitDir: string, { isHidden }: View): string[] {
  return looseRefNames(join(gitDir, 'logs'), 'refs').filter((ref) => !isHidden(ref));
}

/** A line begins with the old and the new object. */
function objectsIn(log: string): string[] {
  const text = attempt(() => readRegularFile(log).toString('latin1')) ?? '';
  return text
    .split('\n')
    .flatMap((line) => /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) /.exec(line)?.slice(1) ?? []);
}
