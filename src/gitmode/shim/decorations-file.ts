/**
 * The decoration options that log needs, in a file in the git directory of a worktree: with them the shim can run log
 * without starting agt. They depend only on the prefixes, the names of remotes, the branch that is checked out here and
 * the configuration; the shim compares the times of these files with the time of this one.
 *
 * There is no such file when those times are not enough: when git reads configuration from other files, when the user
 * chose decorations, when hidden refs belong to a remote that is not configured, and in a reftable repository, whose
 * HEAD file names no branch.
 *
 * The file is empty for a repository without remotes, outside a sandbox: sh reads a file byte by byte. Otherwise it has
 * three lines: `+` if the configuration may ask for decorations even in a pipe; the names of the remotes or, if an
 * agent's branch is checked out, all options; the HEAD file for which they were made, if it names an agent's branch.
 */

import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { localNamespaces, type Prefixes, remoteNamespaces } from '../../filter/agent-refs.ts';
import { globsExcept } from '../../filter/globs.ts';
import { hasRefFiles, REMOTES } from '../../git/files/ref-files.ts';
import { agtDirectory, decorationsFile } from '../../repository/layout.ts';
import { DEFAULT_DECORATIONS, defaultDecorations } from '../rules/decorations.ts';
import type { View } from '../view/view.ts';

/** The first line: whether the configuration may ask for decorations even in a pipe. */
type Marker = '+' | '';

/** The file is dated back by this time: every later change is newer, even within one tick of the clock. */
const MARGIN_MS = 1000;

export function updateDecorationsFile(view: View, env: NodeJS.ProcessEnv): void {
  if (!statSync(agtDirectory(view.commonDir), { throwIfNoEntry: false })?.isDirectory()) return;
  const defaults = defaultDecorations([], view);
  if (defaults.length === 0 || !hasRefFiles(view.commonDir, env)) return;
  const ofRemotes = view.remotes().flatMap((remote) => remoteNamespaces(remote, view.prefixes));
  const isOfOtherRemote = (namespace: string) =>
    namespace.startsWith(REMOTES) && !ofRemotes.includes(namespace);
  if (view.namespaces.some(isOfOtherRemote)) return;

  const file = decorationsFile(view.gitDir);
  const textWith = (marker: Marker) => textFor(view, defaults, ofRemotes, marker);
  try {
    if (isNewest(file, view, env)) {
      const present = readFileSync(file, 'utf8');
      if (present === textWith(present.startsWith('+') ? '+' : '')) return;
    }
    const configured = configuredNames(view, env);
    if (configured !== undefined)
      writeIfNewest(file, textWith(configured.some(mayDecorate) ? '+' : ''), view, env);
  } catch {
    // In a read-only repository the shim starts agt.
  }
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

function textFor(
  view: View,
  defaults: readonly string[],
  ofRemotes: readonly string[],
  marker: Marker,
): string {
  const current = view.currentAgentBranch;
  const remotes = view.remotes();
  const lines = (words: readonly string[], head: string) => `${marker}\n${words.join(' ')}\n${head}\n`;
  const namesAreEnough =
    current === undefined && remotes.every(isOneWord) && defaults.join(' ') === DEFAULT_DECORATIONS.join(' ');
  if (namesAreEnough) return remotes.length === 0 && marker === '' ? '' : lines(remotes, '');

  const patterns = [...localNamespaces(view.prefixes), ...ofRemotes].flatMap((namespace) =>
    current?.startsWith(namespace) ? globsExcept(current, namespace) : [namespace.slice(0, -1)],
  );
  const options = [...patterns.map((pattern) => `--decorate-refs-exclude=${pattern}`), ...defaults];
  return lines(options, current === undefined ? '' : `ref: ${current}`);
}

/** Whether the setting can make git decorate in a pipe, without an option that asks for it. */
function mayDecorate(setting: string): boolean {
  return setting === 'log.decorate' || setting === 'format.pretty' || setting.startsWith('pretty.');
}

/** The options for a repository without remotes, outside a sandbox. The shim's text holds them. */
export function decorationsWithoutRemotes(prefixes: Prefixes): string[] {
  return [
    ...localNamespaces([prefixes]).map((namespace) => `--decorate-refs-exclude=${namespace.slice(0, -1)}`),
    ...DEFAULT_DECORATIONS,
  ];
}

/** sh splits the names at blanks, and git must find no wildcard in them. */
function isOneWord(remote: string): boolean {
  return /^\w[\w./-]*$/.test(remote);
}

/** The configuration files whose times the shim compares. */
function comparedFiles(view: View, env: NodeJS.ProcessEnv): string[] {
  const home = env['HOME'] ?? '';
  return [
    join(view.commonDir, 'config'),
    join(view.gitDir, 'config.worktree'),
    join(home, '.gitconfig'),
    join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'config'),
    '/etc/gitconfig',
  ];
}

/** The names of all settings of git, or undefined if git reads some from files that the shim does not compare. */
function configuredNames(view: View, env: NodeJS.ProcessEnv): string[] | undefined {
  if (Object.keys(env).some((name) => name.startsWith('GIT_CONFIG'))) return undefined;
  const compared = new Set(comparedFiles(view, env));
  const { stdout } = view.ask(['config', '--null', '--list', '--show-origin', '--name-only']);
  const entries = stdout.split('\0').slice(0, -1);
  const origins = entries.filter((_, i) => i % 2 === 0);
  const isCompared = (origin: string) =>
    !origin.startsWith('file:') ||
    compared.has(resolve(dirname(view.commonDir), origin.slice('file:'.length)));
  return origins.every(isCompared) ? entries.filter((_, i) => i % 2 === 1) : undefined;
}

function isNewest(file: string, view: View, env: NodeJS.ProcessEnv): boolean {
  const own = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (own === undefined) return false;
  return comparedFiles(view, env).every(
    (path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < own,
  );
}
