/**
 * A temporary git directory of a sandbox, in which `refs/stash` is the session's own stash. All worktrees share that ref,
 * and no option or variable of git names another one.
 *
 *     agt-stash-<pid>/git/      links to the entries of the sandbox's git directory; `commondir` names the next one
 *     agt-stash-<pid>/common/   links to the entries of the common directory, but
 *       refs, logs/refs         are <git directory>/refs/worktree and logs/refs/worktree
 *       packed-refs             has all refs of the repository but refs/stash
 *
 * So git itself writes the entries to their lasting place, under its own locks: a kill at any moment leaves what a kill of
 * git leaves. Only for commands that write no other ref.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import { SHARED_STASH } from '../../filter/agent-refs.ts';
import { parseGitConfig } from '../../git/files/config-file.ts';
import type { GitDirectories } from '../../git/files/discover-repository.ts';
import { OF_WORKTREE } from '../../git/files/ref-files.ts';
import { STASH_DIRECTORIES } from '../../layout.ts';
import type { GitAccess } from '../invocation.ts';

export interface StashDirectory {
  /** The git directory for git. */
  readonly path: string;
  /** To be called when git is done. */
  close(): void;
}

/** Entries that are no links. */
const OWN_FILES = ['HEAD', 'commondir', 'refs'];
const COMMON_FILES = ['HEAD', 'config', 'logs', 'packed-refs', 'refs'];

/** Undefined if git cannot list the refs: it also refuses the user's command, and says why. */
export function openStashDirectory(place: GitDirectories, ask: GitAccess['ask']): StashDirectory | undefined {
  const listed = ask(['for-each-ref', '--format=%(objectname) %(refname)']);
  if (listed.exitCode !== 0) return undefined;
  const directory = join(place.gitDir, `${STASH_DIRECTORIES}${process.pid}`);
  const remove = () => rmSync(directory, { recursive: true, force: true });
  remove();
  try {
    const isOther = (ref: string) => ref !== '' && ref !== SHARED_STASH && !OF_WORKTREE.test(ref);
    const refs = listed.stdout.split('\n').filter((line) => isOther(line.slice(line.indexOf(' ') + 1)));
    const linked = build(directory, place, refs);
    const path = join(directory, 'git');
    const close = () => {
      dropDeleted(path, place.gitDir, linked);
      bringBack(path, place.gitDir, OWN_FILES);
      bringBack(join(directory, 'common'), place.commonDir, COMMON_FILES);
      removeEmptyDirectories(join(place.gitDir, 'refs/worktree'));
      remove();
    };
    return { path, close };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Returns the names of the links in the git directory. */
function build(directory: string, { gitDir, commonDir }: GitDirectories, refs: readonly string[]): string[] {
  const own = join(directory, 'git');
  const common = join(directory, 'common');
  for (const dir of [join(own, 'refs'), join(common, 'logs')]) mkdirSync(dir, { recursive: true });
  for (const [link, path] of [
    ['refs', 'refs/worktree'],
    ['logs/refs', 'logs/refs/worktree'],
  ] as const) {
    mkdirSync(join(gitDir, path), { recursive: true });
    symlinkSync(join(gitDir, path), join(common, link));
  }
  writeFileSync(join(common, 'packed-refs'), ['# pack-refs with: sorted ', ...refs, ''].join('\n'));
  writeConfig(common, commonDir);
  linkEntries(commonDir, common, COMMON_FILES);
  const linked = linkEntries(gitDir, own, OWN_FILES);
  for (const name of ['bisect', 'rewritten'])
    if (existsSync(join(gitDir, 'refs', name)))
      symlinkSync(join(gitDir, 'refs', name), join(own, 'refs', name));
  for (const [from, to] of [
    [commonDir, common],
    [gitDir, own],
  ] as const)
    writeFileSync(join(to, 'HEAD'), readSmallFile(join(from, 'HEAD')) ?? '');
  // git reads the directory of the refs from this file alone.
  writeFileSync(join(own, 'commondir'), `${common}\n`);
  return linked;
}

/** Relative paths of included files count from the directory of the file that includes them. */
function writeConfig(common: string, commonDir: string): void {
  const path = join(commonDir, 'config');
  const text = readSmallFile(path) ?? '';
  if (!/^\s*\[\s*include/im.test(text)) {
    symlinkSync(path, join(common, 'config'));
    return;
  }
  // git reads the format of a repository without its included files.
  const format = parseGitConfig(text)
    .filter(({ key }) => /^(core\.repositoryformatversion$|extensions\.)/.test(key))
    .map(({ key, value }) => `[${key.replace('.', ']\n\t')} = ${value}\n`);
  const include = `[include]\n\tpath = "${path.replace(/["\\]/g, '\\$&')}"\n`;
  writeFileSync(join(common, 'config'), [...format, include].join(''));
}

function linkEntries(from: string, to: string, except: readonly string[]): string[] {
  const names = readdirSync(from).filter(
    (name) => !except.includes(name) && !name.endsWith('.lock') && !name.startsWith(STASH_DIRECTORIES),
  );
  for (const name of names) symlinkSync(join(from, name), join(to, name));
  return names;
}

/** Moves files that git and its filters wrote beside the links: ORIG_HEAD, a split index, objects of git-lfs. */
function bringBack(directory: string, to: string, except: readonly string[]): void {
  for (const name of readdirSync(directory).filter((entry) => !except.includes(entry)))
    moveBack(join(directory, name), join(to, name));
}

function moveBack(from: string, to: string): void {
  const stat = lstatSync(from);
  if (stat.isSymbolicLink() || from.endsWith('.lock')) return;
  if (!stat.isDirectory() || !existsSync(to)) renameSync(from, to);
  else for (const name of readdirSync(from)) moveBack(join(from, name), join(to, name));
}

/** `git reset --hard`, a part of `git stash`, ends a merge. */
function dropDeleted(own: string, gitDir: string, linked: readonly string[]): void {
  const present = new Set(readdirSync(own));
  for (const name of linked.filter((entry) => !present.has(entry))) {
    const path = join(gitDir, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) rmSync(path, { force: true });
  }
}

/** git makes the directory of a branch's lock there. */
function removeEmptyDirectories(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(directory, entry.name);
    removeEmptyDirectories(path);
    attempt(() => rmdirSync(path)); // it holds refs
  }
}
