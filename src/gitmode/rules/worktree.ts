/**
 * git worktree list takes no argument that shortens it, so agt prints git's output without the sandboxes. git pads paths
 * to the longest: agt also removes the padding that only a hidden path needed.
 *
 * `--porcelain -z` tells which records are hidden; git lists them in the same order in every form.
 */
import { hasOption, optionTable, parseOptions } from '../command-line/options.ts';
import type { View } from '../view/view.ts';
import { narrowed, type Rule } from './rule.ts';

const WORKTREE_LIST_OPTIONS = optionTable('porcelain v|verbose expire= z');

export const worktree: Rule = (args, view) => {
  const parsed = args[0] === 'list' ? parseOptions(args.slice(1), WORKTREE_LIST_OPTIONS) : undefined;
  if (parsed === undefined || parsed.args.length > 0 || view.hiddenWorktrees.length === 0) return undefined;
  const listed = view.ask(['worktree', 'list', '--porcelain', '-z']);
  const hidden = listed.stdout
    .split('\0\0')
    .filter(Boolean)
    .map((record) => isHiddenRecord(record, view));
  if (!hidden.includes(true) || listed.exitCode !== 0) return undefined;
  return {
    filtered: () => {
      const { exitCode, stdout } = view.capture(['worktree', ...args]);
      if (exitCode !== 0) return { exitCode, stdout };
      const separator = hasOption(parsed, 'z') ? '\0\0' : '\n\n';
      const records = stdout.split(separator);
      return {
        exitCode,
        stdout: hasOption(parsed, 'porcelain')
          ? records.filter((_, i) => hidden[i] !== true).join(separator)
          : withoutRows(stdout, hidden),
      };
    },
  };
};

function isHiddenRecord(record: string, view: View): boolean {
  const path = /^worktree ([^\0]*)/.exec(record)?.[1];
  return path !== undefined && view.isHiddenWorktree(path);
}

/** The blanks after the path, before the hash or `(bare)`, in a row. */
const PADDING = /(?<=^[^\t].*)\s+(?=(?:[0-9a-f]{4,64}|\(bare\))(?:\s|$))/;

/** Rows are `path  hash branch`; lines that start with a tab belong to the row above. */
function withoutRows(text: string, hidden: readonly boolean[]): string {
  const lines = text.split('\n').slice(0, -1);
  let row = -1;
  const kept = lines.filter((line) => hidden[line.startsWith('\t') ? row : ++row] !== true);
  return narrowed(kept, lines, PADDING)
    .map((line) => `${line}\n`)
    .join('');
}
