/**
 * The words that log needs for its decorations, left in the git directory of a worktree for the shim, which can then
 * do without the executable. They depend on nothing but the prefixes, the remotes' names, the branch checked out here
 * and the configuration: the shim compares the times of those files with this one's.
 *
 * Nothing is left where that would not be enough: configuration that git reads from other files, a user's own choice
 * of decorations, hidden refs below a remote that is not configured, the reftable format, whose HEAD says nothing.
 */

import { readFileSync, renameSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { localSpaces, type Prefixes, remoteSpaces } from '../../filter/agent-refs.ts';
import { allBut } from '../../filter/globs.ts';
import { usesReftable } from '../../git/files/ref-files.ts';
import { agtDirectory, decorationsFile } from '../../repository/layout.ts';
import { DEFAULT_DECORATIONS } from '../rules/decorations.ts';
import { REMOTES, type View } from '../view/view.ts';

/**
 * File name in the git directory. Empty for a repository without remotes, outside any sandbox: what can be said without
 * a byte need not be read by sh, byte by byte. Otherwise three lines: `+` where the configuration may ask for
 * decorations even in a pipe; the names of the remotes or, where a session's branch is checked out, all the words; the
 * HEAD that they were made for, where it is such a one.
 */

type Marker = '+' | '';

const MARGIN_MS = 1000;

export function leaveLogWords(view: View, defaults: readonly string[], env: NodeJS.ProcessEnv): void {
  const file = decorationsFile(view.gitDir);
  if (!statSync(agtDirectory(view.commonDir), { throwIfNoEntry: false })?.isDirectory()) return;
  if (defaults.length === 0 || usesReftable(view.commonDir)) return;
  const remoteOnes = view.remotes().flatMap((remote) => remoteSpaces(remote, view.prefixes));
  if (view.spaces.some((space) => space.startsWith(REMOTES) && !remoteOnes.includes(space))) return;
  try {
    const linesWith = (marker: Marker) => linesFor(view, defaults, remoteOnes, marker);
    if (isNewest(file, view, env)) {
      const left = readFileSync(file, 'utf8');
      if (left === linesWith(left.startsWith('+') ? '+' : '')) return;
    }
    const configured = configuredNames(view, env);
    if (configured === undefined) return;
    const text = linesWith(configured.some(mayDecorate) ? '+' : '');
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, text);
    // Dated back: whatever is changed from now on is newer, even within the same tick of the clock.
    const before = new Date(Date.now() - MARGIN_MS);
    utimesSync(unfinished, before, before);
    if (!isNewest(unfinished, view, env)) throw new Error('configuration has only just changed');
    renameSync(unfinished, file);
  } catch {
    try {
      unlinkSync(`${file}.${process.pid}`);
    } catch {
      // a repository that may only be read does without
    }
  }
}

function linesFor(
  view: View,
  defaults: readonly string[],
  remoteOnes: readonly string[],
  marker: Marker,
): string {
  const { current } = view;
  const remotes = view.remotes();
  const spaces = [...localSpaces(view.prefixes), ...remoteOnes];
  const lines = (words: readonly string[], head: string) => `${marker}\n${words.join(' ')}\n${head}\n`;
  if (spaces.some((space) => current?.startsWith(space)) || !remotes.every(isPlain) || !isUsual(defaults)) {
    const patterns = spaces.flatMap((space) =>
      current?.startsWith(space) ? allBut(current, space) : [space.slice(0, -1)],
    );
    const words = [...patterns.map((pattern) => `--decorate-refs-exclude=${pattern}`), ...defaults];
    return lines(words, current === undefined ? '' : `ref: ${current}`);
  }
  return remotes.length === 0 && marker === '' ? '' : lines(remotes, '');
}

function isUsual(defaults: readonly string[]): boolean {
  return defaults.join(' ') === DEFAULT_DECORATIONS.join(' ');
}

/** Whether a setting makes git decorate where no option asks for it and nobody looks. */
function mayDecorate(name: string): boolean {
  return name === 'log.decorate' || name === 'format.pretty' || name.startsWith('pretty.');
}

/** The words of a repository without remotes, outside any sandbox; the shim has them in itself. */
export function usualWords(prefixes: Prefixes): string[] {
  return [
    ...localSpaces(prefixes).map((space) => `--decorate-refs-exclude=${space.slice(0, -1)}`),
    ...DEFAULT_DECORATIONS,
  ];
}

/** A name that sh may split off as a word, and that no pattern of git's takes for more than itself. */
function isPlain(remote: string): boolean {
  return /^\w[\w./-]*$/.test(remote);
}

/** The files whose times the shim compares; git must have read its configuration from nowhere else. */
function knownFiles(view: View, env: NodeJS.ProcessEnv): string[] {
  const home = env['HOME'] ?? '';
  return [
    join(view.commonDir, 'config'),
    join(view.gitDir, 'config.worktree'),
    join(home, '.gitconfig'),
    join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'config'),
    '/etc/gitconfig',
  ];
}

/** The names of all settings, or undefined where git reads some from files that the shim does not look at. */
function configuredNames(view: View, env: NodeJS.ProcessEnv): string[] | undefined {
  if (Object.keys(env).some((name) => name.startsWith('GIT_CONFIG'))) return undefined;
  const known = new Set(knownFiles(view, env));
  const { stdout } = view.ask(['config', '--null', '--list', '--show-origin', '--name-only']);
  const entries = stdout.split('\0').slice(0, -1);
  const origins = entries.filter((_, i) => i % 2 === 0);
  const isKnown = (origin: string) =>
    !origin.startsWith('file:') || known.has(resolve(dirname(view.commonDir), origin.slice('file:'.length)));
  return origins.every(isKnown) ? entries.filter((_, i) => i % 2 === 1) : undefined;
}

function isNewest(file: string, view: View, env: NodeJS.ProcessEnv): boolean {
  const own = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (own === undefined) return false;
  return knownFiles(view, env).every(
    (path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < own,
  );
}
