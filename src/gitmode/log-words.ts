/**
 * The words that log needs for its decorations, left in the git directory of a worktree for the shim, which can then
 * do without the executable. They depend on nothing but the prefixes, the remotes' names, the branch checked out here
 * and the configuration: the shim compares the times of those files with this one's.
 *
 * Nothing is left where that would not be enough: configuration that git reads from other files, a user's own choice
 * of decorations, hidden refs below a remote that is not configured.
 */
import { renameSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { allBut } from '../filter/globs.ts';
import { localSpaces, type Prefixes, remoteSpaces } from '../filter/spaces.ts';
import { readLine } from '../git/discover.ts';
import { DEFAULT_DECORATIONS } from './rules/decorations.ts';
import { REMOTES, type View } from './view.ts';

/** File name in the git directory; also the first line's mark, with the format's number. */
export const LOG_WORDS = 'agt-log-words';

const MARGIN_MS = 1000;

export function leaveLogWords(view: View, defaults: readonly string[], env: NodeJS.ProcessEnv): void {
  const file = join(view.gitDir, LOG_WORDS);
  if (!statSync(join(view.commonDir, 'agt'), { throwIfNoEntry: false })?.isDirectory()) return;
  if (defaults.length === 0) return;
  const remoteOnes = view.remotes().flatMap((remote) => remoteSpaces(remote, view.prefixes));
  if (view.spaces.some((space) => space.startsWith(REMOTES) && !remoteOnes.includes(space))) return;
  const { current } = view;
  const patterns = [...localSpaces(view.prefixes), ...remoteOnes].flatMap((space) =>
    current?.startsWith(space) ? allBut(current, space) : [space.slice(0, -1)],
  );
  const words = [...patterns.map((pattern) => `--decorate-refs-exclude=${pattern}`), ...defaults].join(' ');
  const short = words === usualLogWords(view.prefixes, defaults).join(' ') ? '-' : words;
  const text = `${LOG_WORDS}-1\n${current === undefined ? '-' : `ref: ${current}`}\n${short}\n`;
  try {
    if (readLine(file) === text.trimEnd() && isNewest(file, view, env)) return;
    if (!onlyKnownFiles(view, env)) return;
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

/** The words of a repository without remotes, outside any sandbox; the shim has them in itself. */
export function usualLogWords(prefixes: Prefixes, defaults: readonly string[]): string[] {
  return [
    ...localSpaces(prefixes).map((space) => `--decorate-refs-exclude=${space.slice(0, -1)}`),
    ...(defaults.length > 0 ? defaults : DEFAULT_DECORATIONS),
  ];
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

function onlyKnownFiles(view: View, env: NodeJS.ProcessEnv): boolean {
  if (Object.keys(env).some((name) => name.startsWith('GIT_CONFIG'))) return false;
  const known = new Set(knownFiles(view, env));
  const { stdout } = view.ask(['config', '--null', '--list', '--show-origin', '--name-only']);
  return stdout
    .split('\0')
    .filter((entry) => entry.startsWith('file:'))
    .every((entry) => known.has(resolve(dirname(view.commonDir), entry.slice('file:'.length))));
}

function isNewest(file: string, view: View, env: NodeJS.ProcessEnv): boolean {
  const own = statSync(file).mtimeMs;
  return knownFiles(view, env).every(
    (path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < own,
  );
}
