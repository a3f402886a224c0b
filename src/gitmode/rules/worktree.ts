/**
 * git worktree list, the one list that no argument can shorten: it is read from git and printed without the sandboxes.
 * Paths are padded to the longest of them, so the padding that only a hidden path needed is taken away.
 *
 * `--porcelain -z` says which record is whose; the records of every form come in the same order.
 */
import { optionTable, scanOptions } from '../command-line/options.ts';
import type { View } from '../view/view.ts';
import type { Rule } from './rule.ts';

export const WORKTREE_LIST_OPTIONS = optionTable('porcelain v|verbose expire= z');

export const worktree: Rule = (args, view) => {
  const scan = args[0] === 'list' ? scanOptions(args.slice(1), WORKTREE_LIST_OPTIONS) : undefined;
  if (scan === undefined || scan.args.length > 0 || view.worktrees.length === 0) return undefined;
  const records = view.ask(['worktree', 'list', '--porcelain', '-z']);
  const hidden = records.stdout
    .split('\0\0')
    .filter(Boolean)
    .map((record) => isHiddenRecord(record, view));
  if (!hidden.includes(true) || records.exitCode !== 0) return undefined;
  return {
    render: () => {
      const { exitCode, stdout } = view.capture(['worktree', ...args]);
      const names = scan.options.map((option) => option.name);
      if (exitCode !== 0) view.print(stdout);
      else if (!names.includes('porcelain')) view.print(withoutRows(stdout, hidden));
      else view.print(withoutRecords(stdout, hidden, names.includes('z') ? '\0\0' : '\n\n'));
      return exitCode;
    },
  };
};

function isHiddenRecord(record: string, view: View): boolean {
  const path = /^worktree ([^\0]*)/.exec(record)?.[1];
  return path !== undefined && view.isSandbox(path);
}

function withoutRecords(text: string, hidden: readonly boolean[], separator: string): string {
  const records = text.split(separator);
  return records.filter((_, i) => hidden[i] !== true).join(separator);
}

/** Rows are `path  hash branch`; lines that start with a tab belong to the row above. */
export function withoutRows(text: string, hidden: readonly boolean[]): string {
  const rows: string[][] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    if (line.startsWith('\t')) rows.at(-1)?.push(line);
    else rows.push([line]);
  }
  const blanks = (row: readonly string[]) =>
    (/(\s+)(?:[0-9a-f]{4,64}|\(bare\))(?:\s|$)/.exec(row[0] ?? '')?.[1] ?? ' ').length;
  const kept = rows.filter((_, i) => hidden[i] !== true);
  const spare = Math.min(...kept.map(blanks)) - Math.min(...rows.map(blanks));
  return kept
    .flatMap(([first = '', ...rest]) => [
      first.replace(
        /(\s+)((?:[0-9a-f]{4,64}|\(bare\))(?:\s|$))/,
        (_, gap: string, tail: string) => gap.slice(spare) + tail,
      ),
      ...rest,
    ])
    .map((line) => `${line}\n`)
    .join('');
}
