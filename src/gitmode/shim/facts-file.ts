/**
 * Facts that the shim needs to change a line by itself, in a file in the git directory of a worktree. They depend on the
 * configuration, on packed-refs and on the worktrees; the shim compares the times of those files with the time of this
 * one. sh reads a file byte by byte, so the file has four short lines:
 *
 * 1. MARKS, and the values of the variables for which git's configuration was read
 * 2. the names of the remotes
 * 3. the HEAD file, if it names an agent's branch
 * 4. the ids of the other worktrees, a hidden one with a `-` before it; `-` alone if the main worktree is hidden
 *
 * There is no such file when the times are not enough: when git reads configuration from other files or from the
 * environment, in a reftable repository, whose HEAD file names no branch, and in a repository with settings of agt.
 */
import { existsSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { localConfigPath } from '../../config/local-config.ts';
import { readRegularFile, readSmallFile, statOrUndefined } from '../../disk/read-file.ts';
import { OWN_NAMESPACE, remoteNamespaces } from '../../filter/agent-refs.ts';
import { type ConfigEntry, parseLabelledList } from '../../git/files/config-file.ts';
import {
  hasRefFiles,
  packedRefNames,
  REMOTES,
  readPackedRefs,
  subdirectories,
} from '../../git/files/ref-files.ts';
import { agtDirectory, shimFactsFile } from '../../layout.ts';
import { isConfigTrue, type View } from '../view/view.ts';

/** Each is set if the fact holds. */
export const MARKS = {
  /** The configuration may ask for decorations even in a pipe. */
  decoratesInPipes: '+',
  /** The user chose decorations. */
  choosesDecorations: 'd',
  /** There are hidden refs of a remote that is not configured, or the name of a remote is not one word. */
  oddRemotes: 'o',
  /** The configuration can make a push without refspecs send refs that the user did not name. */
  pushesMore: 'p',
  /** A remote has no wildcard in its refspecs for fetch. */
  fetchesLess: 'f',
  /** A rebase may move other branches. */
  movesBranches: 'u',
  /** packed-refs holds refs that only agt writes. */
  packsOwnRefs: 'h',
} as const;

/** The file is dated back by this time: every later change is newer, even within one tick of the clock. */
const MARGIN_MS = 1000;

export function updateFactsFile(view: View, env: NodeJS.ProcessEnv): void {
  if (!statOrUndefined(agtDirectory(view.commonDir))?.isDirectory()) return;
  if (!hasRefFiles(view.commonDir, env) || !hasNoSettings(localConfigPath(view.commonDir))) return;
  const file = shimFactsFile(view.gitDir);
  try {
    const present = isNewest(file, view, env) ? readRegularFile(file).toString().split('\n') : [];
    const isForThisHome = present[0]?.endsWith(homeOf(env)) === true;
    const lasting = isForThisHome ? present.slice(0, 2) : configuredFacts(view, env);
    if (lasting === undefined) return;
    const branch = view.currentAgentBranch;
    const lines = [...lasting, branch === undefined ? '' : `ref: ${branch}`, worktreesLine(view), ''];
    if (lines.join('\n') !== present.join('\n') || isOlderThanWorktrees(file, view))
      writeIfNewest(file, lines.join('\n'), view, env);
  } catch {
    // In a read-only repository the shim starts agt.
  }
}

/** The shim knows no worktree that was made after this file. */
function isOlderThanWorktrees(file: string, { commonDir }: View): boolean {
  const own = statOrUndefined(file)?.mtimeMs ?? 0;
  const directory = join(commonDir, 'worktrees');
  return subdirectories(directory).some(
    (id) => (statOrUndefined(join(directory, id, 'gitdir'))?.mtimeMs ?? 0) > own,
  );
}

/** Whether a file of agt's settings holds comments alone, if there is one. */
function hasNoSettings(file: string): boolean {
  if (!existsSync(file)) return true;
  return (readSmallFile(file) ?? 'unreadable').split('\n').every((line) => /^([#;]|$)/.test(line));
}

function writeIfNewest(file: string, text: string, view: View, env: NodeJS.ProcessEnv): void {
  const temporary = `${file}.${process.pid}`;
  const past = new Date(Date.now() - MARGIN_MS);
  try {
    writeFileSync(temporary, text);
    utimesSync(temporary, past, past);
    if (isNewest(temporary, view, env)) renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The lines that stay as they are while the compared files do; undefined if other files count, too. */
function configuredFacts(view: View, env: NodeJS.ProcessEnv): string[] | undefined {
  const configuration = readConfiguration(view, env);
  const home = homeOf(env);
  if (configuration === undefined || home.includes('\n')) return undefined;
  const remotes = view.remotes();
  const hasOddRemotes = !remotes.every(isOneWord) || hidesOtherRemotes(view);
  const marks = [
    configuration.some(mayDecorate) ? MARKS.decoratesInPipes : '',
    configuration.some(choosesDecorations) ? MARKS.choosesDecorations : '',
    hasOddRemotes ? MARKS.oddRemotes : '',
    configuration.some(pushesMore) ? MARKS.pushesMore : '',
    configuration.some(({ key }) => key === 'rebase.updaterefs') ? MARKS.movesBranches : '',
    remotes.every((remote) => fetchesWildcard(remote, configuration)) ? '' : MARKS.fetchesLess,
    packedRefNames(readPackedRefs(view.commonDir), OWN_NAMESPACE).length > 0 ? MARKS.packsOwnRefs : '',
  ];
  return [`${marks.join('')}${home}`, hasOddRemotes ? '' : remotes.join(' ')];
}

/** Which files git reads its configuration from depends on these. */
function homeOf(env: NodeJS.ProcessEnv): string {
  return `:${env['HOME'] ?? ''}:${env['XDG_CONFIG_HOME'] ?? ''}:${env['GIT_CONFIG_NOSYSTEM'] ?? ''}`;
}

function hidesOtherRemotes(view: View): boolean {
  const ofRemotes = view.remotes().flatMap((remote) => remoteNamespaces(remote, view.prefixes));
  return view.namespaces.some((namespace) => namespace.startsWith(REMOTES) && !ofRemotes.includes(namespace));
}

function worktreesLine(view: View): string {
  const ids = subdirectories(join(view.commonDir, 'worktrees'));
  const others = view.gitDir === view.commonDir ? ids : ids.filter((id) => id !== basename(view.gitDir));
  const hidden = new Set(view.hiddenWorktrees);
  const words = others.filter(isOneWord).map((id) => (hidden.has(id) ? `-${id}` : id));
  return [...(hidden.has('') ? ['-'] : []), ...words].join(' ');
}

/** Whether the setting can make git decorate in a pipe, without an option that asks for it. */
function mayDecorate({ key }: ConfigEntry): boolean {
  return key === 'log.decorate' || key === 'format.pretty' || key.startsWith('pretty.');
}

function choosesDecorations({ key, value }: ConfigEntry): boolean {
  return key === 'log.excludedecoration' || (key === 'log.initialdecorationset' && value === 'all');
}

function pushesMore({ key, value }: ConfigEntry): boolean {
  return (
    (key === 'push.default' && value === 'matching') ||
    /^remote\..*\.push$/s.test(key) ||
    (/^remote\..*\.mirror$/s.test(key) && isConfigTrue(value))
  );
}

function fetchesWildcard(remote: string, configuration: readonly ConfigEntry[]): boolean {
  return configuration.some(
    ({ key, value }) => key === `remote.${remote}.fetch` && !value.startsWith('^') && value.includes('*'),
  );
}

/** sh splits the names at blanks, and git must find no wildcard in them. */
function isOneWord(remote: string): boolean {
  return /^\w[\w./-]*$/.test(remote);
}

/** The files whose times the shim compares. */
function configurationFiles(view: View, env: NodeJS.ProcessEnv): string[] {
  const home = env['HOME'] ?? '';
  return [
    join(view.commonDir, 'config'),
    join(view.gitDir, 'config.worktree'),
    join(home, '.gitconfig'),
    join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'config'),
    '/etc/gitconfig',
  ];
}

/** All settings of git, or undefined if git reads some from files that the shim does not compare. */
function readConfiguration(view: View, env: NodeJS.ProcessEnv): readonly ConfigEntry[] | undefined {
  if (Object.keys(env).some((name) => /^GIT_(CONFIG(?!_NOSYSTEM$)|REPLACE_REF_BASE)/.test(name)))
    return undefined;
  const compared = new Set(configurationFiles(view, env));
  const { stdout } = view.ask(['config', '--null', '--list', '--show-origin']);
  const settings = parseLabelledList(stdout);
  const isCompared = ({ label: origin }: { readonly label: string }) =>
    origin.startsWith('file:') &&
    compared.has(resolve(dirname(view.commonDir), origin.slice('file:'.length)));
  return settings.every(isCompared) ? settings : undefined;
}

function isNewest(file: string, view: View, env: NodeJS.ProcessEnv): boolean {
  const own = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (own === undefined) return false;
  return [...configurationFiles(view, env), join(view.commonDir, 'packed-refs')].every(
    (path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < own,
  );
}
