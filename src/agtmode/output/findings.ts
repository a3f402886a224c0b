/** Shows what `agt doctor` found. */
import type { Finding } from '../../maintenance/doctor/finding.ts';
import type { Context } from '../context.ts';
import { paint } from './format.ts';

const STYLES = { error: 'red', warning: 'yellow', note: 'dim' } as const;

/** `previewFix`: say which findings --fix would fix. */
export function describeFindings(context: Context, findings: readonly Finding[], previewFix = false): string {
  const colours = paint(context.colour);
  const lines = findings.map(({ level, about, problem, mend, fix }) => {
    const next =
      previewFix && fix !== undefined ? 'agt doctor --fix would fix this' : mend === '' ? '' : `fix: ${mend}`;
    return `  ${colours(STYLES[level], level)}: ${about}: ${problem}\n${next === '' ? '' : `    ${next}\n`}`;
  });
  return lines.join('');
}
