/** Prints what `agt doctor` found. */
import type { Finding } from '../../maintenance/doctor/finding.ts';
import type { Context } from '../context.ts';
import { paint } from './format.ts';

const STYLES = { error: 'red', warning: 'yellow', note: 'dim' } as const;

/** `previewFix`: say which findings --fix would fix. */
export function printFindings(context: Context, findings: readonly Finding[], previewFix = false): void {
  const colours = paint(context.colour);
  for (const { level, about, problem, mend, fix } of findings) {
    context.out(`  ${colours(STYLES[level], level)}: ${about}: ${problem}\n`);
    if (previewFix && fix !== undefined) context.out('    agt doctor --fix would fix this\n');
    else if (mend !== '') context.out(`    fix: ${mend}\n`);
  }
}
