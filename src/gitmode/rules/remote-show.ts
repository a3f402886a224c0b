/**
 * git remote show, which asks the server and takes no pattern: its answer is printed without the lines of hidden
 * branches. Names are padded to the longest of their section; what only a hidden name needed is taken away, and a
 * heading over a single line says so in the singular.
 *
 * Limit: the second column and the singular follow git's English words; in another language they stay as git has them.
 */

import { HEADS } from '../../git/files/refnames.ts';
import type { View } from '../view/view.ts';
import type { Rendering } from './rule.ts';

export function remoteShow(args: readonly string[], view: View): Rendering {
  return {
    render: () => {
      const { exitCode, stdout } = view.capture(['remote', ...args]);
      view.print(withoutHiddenBranches(stdout, view));
      return exitCode;
    },
  };
}

const SINGULAR: readonly (readonly [string, string])[] = [
  ['  Remote branches:', '  Remote branch:'],
  ['  Local branches configured for', '  Local branch configured for'],
  ['  Local refs configured for', '  Local ref configured for'],
];

export function withoutHiddenBranches(text: string, view: Pick<View, 'isHiddenName' | 'current'>): string {
  const out: string[] = [];
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const heading = lines[i] as string;
    const rows: string[] = [];
    while (lines[i + 1]?.startsWith('    ')) rows.push(lines[++i] as string);
    const kept = rows.filter((row) => !isHiddenRow(row, view));
    if (rows.length > 0 && kept.length === 0) continue;
    out.push(kept.length === 1 && rows.length > 1 ? singular(heading) : heading);
    out.push(...narrowed(narrowed(kept, rows, /^( {4,}\S+)( +)/), rows, /( pushes to \S+)( +)\(/));
  }
  return out.join('\n');
}

function isHiddenRow(row: string, view: Pick<View, 'isHiddenName' | 'current'>): boolean {
  const name = /^ +(\S+)/.exec(row)?.[1] ?? '';
  const ref = name.startsWith('refs/') ? name : `${HEADS}${name}`;
  return ref !== view.current && view.isHiddenName(ref);
}

/** `kept` without the blanks of the column behind `column` that no kept row needs. */
function narrowed(kept: readonly string[], all: readonly string[], column: RegExp): string[] {
  const gap = (row: string) => column.exec(row)?.[2]?.length ?? Number.POSITIVE_INFINITY;
  const spare = Math.min(...kept.map(gap)) - Math.min(...all.map(gap));
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
