/**
 * git remote show asks the server and takes no pattern, so agt prints git's answer without the lines of hidden branches.
 * git pads the names of a section to the longest: agt also removes the padding that only a hidden name needed, and
 * makes a heading over one remaining line singular.
 *
 * Limit: the second column and the singular are found by git's English words. In another language they stay as they are.
 */

import { HEADS } from '../../git/files/ref-files.ts';
import type { View } from '../view/view.ts';
import type { FilteredOutput } from './rule.ts';

export function remoteShow(args: readonly string[], view: View): FilteredOutput {
  return {
    filtered: () => {
      const { exitCode, stdout } = view.capture(['remote', ...args]);
      return { exitCode, stdout: withoutHiddenBranches(stdout, view) };
    },
  };
}

const SINGULAR: readonly (readonly [string, string])[] = [
  ['  Remote branches:', '  Remote branch:'],
  ['  Local branches configured for', '  Local branch configured for'],
  ['  Local refs configured for', '  Local ref configured for'],
];

const NAME_COLUMN = /^( {4,}\S+)( +)/;
const PUSH_COLUMN = /( pushes to \S+)( +)\(/;

function withoutHiddenBranches(text: string, view: View): string {
  const out: string[] = [];
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const heading = lines[i] as string;
    const rows: string[] = [];
    while (lines[i + 1]?.startsWith('    ')) rows.push(lines[++i] as string);
    const kept = rows.filter((row) => !isHiddenRow(row, view));
    if (rows.length > 0 && kept.length === 0) continue;
    out.push(kept.length === 1 && rows.length > 1 ? singular(heading) : heading);
    out.push(...narrowed(narrowed(kept, rows, NAME_COLUMN), rows, PUSH_COLUMN));
  }
  return out.join('\n');
}

function isHiddenRow(row: string, view: View): boolean {
  const name = /^ +(\S+)/.exec(row)?.[1] ?? '';
  return view.isHidden(name.startsWith('refs/') ? name : `${HEADS}${name}`);
}

/** The kept rows without the padding after `column` that only other rows of `all` needed. */
function narrowed(kept: readonly string[], all: readonly string[], column: RegExp): string[] {
  const padding = (row: string) => column.exec(row)?.[2]?.length ?? Number.POSITIVE_INFINITY;
  const spare = Math.min(...kept.map(padding)) - Math.min(...all.map(padding));
  if (!(spare > 0 && Number.isFinite(spare))) return [...kept];
  return kept.map((row) =>
    row.replace(column, (match, before: string, blanks: string) =>
      match.replace(before + blanks, () => before + blanks.slice(spare)),
    ),
  );
}

function singular(heading: string): string {
  const form = SINGULAR.find(([plural]) => heading.startsWith(plural));
  return form === undefined ? heading : heading.replace(form[0], form[1]);
}
