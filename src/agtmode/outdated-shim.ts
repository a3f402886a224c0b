/** The shim that is first on PATH, if it is one, and whether it still does without the executable where it can. */
import { readFileSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { SHIM_MARK } from '../git/run/find.ts';
import { shellQuote } from '../git/run/trace.ts';
import type { Finding } from '../maintenance/doctor/finding.ts';

/** A shim that is older than agt or its settings leaves everything to the executable: right, and slow. */
export function findOutdatedShim(env: NodeJS.ProcessEnv, settingsFile: string | undefined): Finding[] {
  const shim = (env['PATH'] ?? '')
    .split(delimiter)
    .map((dir) => join(dir, 'git'))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  if (shim === undefined || !readFileSync(shim, 'latin1').slice(0, 256).includes(SHIM_MARK)) return [];
  const written = statSync(shim).mtimeMs;
  const newer = [
    join(dirname(shim), '.agt', 'git'),
    ...(settingsFile === undefined ? [] : [settingsFile]),
  ].filter((path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > written);
  if (newer.length === 0) return [];
  const problem = `this shim is older than ${newer[0]}, so that every git command starts agt`;
  return [
    { level: 'note', about: shim, problem, mend: `agt shim install --dir ${shellQuote(dirname(shim))}` },
  ];
}
