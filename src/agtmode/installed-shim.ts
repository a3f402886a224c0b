/** The shim: the shell script named `git` that `agt shim install` writes. */
import { statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { readRegularFile, statOrUndefined } from '../disk/read-file.ts';
import { attempt } from '../errors.ts';
import { SHIM_MARK } from '../git/run/find-git.ts';
import { shellQuote } from '../git/run/trace.ts';
import type { Finding } from '../maintenance/doctor/finding.ts';

/** The directory beside the script that holds a link to agt. The link is named git, so agt starts in git mode. */
const LINK_DIRECTORY = '.agt';

/** The mark is in the first lines of the script. */
const MARK_BYTES = 256;

export function linkPath(shimDirectory: string): string {
  return join(shimDirectory, LINK_DIRECTORY, 'git');
}

export function isShim(path: string): boolean {
  // Unreadable, so not a script.
  return attempt(() => readRegularFile(path).toString('latin1', 0, MARK_BYTES).includes(SHIM_MARK)) ?? false;
}

/** A note if the first git on PATH is a shim older than agt or the settings. Such a shim works, but slowly. */
export function findOutdatedShim(env: NodeJS.ProcessEnv, settingsFile: string | undefined): Finding[] {
  const shim = (env['PATH'] ?? '')
    .split(delimiter)
    .map((dir) => join(dir, 'git'))
    .find((path) => statOrUndefined(path)?.isFile());
  if (shim === undefined || !isShim(shim)) return [];
  const written = statSync(shim).mtimeMs;
  const sources = [linkPath(dirname(shim)), ...(settingsFile === undefined ? [] : [settingsFile])];
  const newer = sources.find((path) => (statOrUndefined(path)?.mtimeMs ?? 0) > written);
  if (newer === undefined) return [];
  return [
    {
      level: 'note',
      about: shim,
      problem: `the shim is older than ${newer}, so every git command starts agt`,
      mend: `agt shim install --dir ${shellQuote(dirname(shim))}`,
    },
  ];
}
