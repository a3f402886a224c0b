/**
 * Which command lines can destroy work: files that are not committed, ignored ones included, what is staged, or
 * commits that nothing else keeps. Where that cannot be seen from the words, they can.
 */
import { type CommandLine, SHELL } from '../command-line/parse.ts';

type Test = (args: readonly string[]) => boolean;

/** By command; a command that is not here destroys nothing. */
const TESTS: Readonly<Record<string, Test>> = {
  reset: (args) => has(args, '--hard') || has(args, '--merge') || has(args, '--keep'),
  clean: (args) => !has(args, '--dry-run') && !hasLetter(args, 'n', 'e'),
  checkout: (args) => !makesBranchOnly(args, ['-b']),
  switch: (args) => !makesBranchOnly(args, ['-c', '--create']),
  restore: (args) => {
    const staged = has(args, '--staged') || hasLetter(args, 'S', 's');
    return !staged || has(args, '--worktree') || hasLetter(args, 'W', 's');
  },
  stash: ([verb = 'push']) =>
    ['drop', 'clear', 'pop', 'apply', 'push', 'save', 'branch'].includes(verb) || verb.startsWith('-'),
  branch: (args) =>
    has(args, '--force') || ['D', 'M', 'C', 'f'].some((letter) => hasLetter(args, letter, 'u')),
  rebase: (args) => !args.some((arg) => QUIET.has(arg)),
  merge: (args) => !args.includes('--continue') && !args.some((arg) => QUIET.has(arg)),
  pull: () => true,
  'cherry-pick': (args) => !args.some((arg) => QUIET.has(arg)),
  revert: (args) => !args.some((arg) => QUIET.has(arg)),
  am: (args) => !args.some((arg) => QUIET.has(arg)),
  rm: (args) => !has(args, '--cached') && !isDryRun(args),
  mv: (args) => (has(args, '--force') || hasLetter(args, 'f', '')) && !isDryRun(args),
  'checkout-index': (args) => has(args, '--force') || hasLetter(args, 'f', ''),
  'read-tree': (args) => hasLetter(args, 'u', '') && !isDryRun(args),
  'sparse-checkout': ([verb = '']) => !['', 'list', 'check-rules'].includes(verb),
  submodule: (args) => ['update', 'deinit'].includes(args.find((arg) => !arg.startsWith('-')) ?? ''),
  bisect: ([verb = 'help']) => !['help', 'log', 'terms', 'visualize', 'view'].includes(verb),
  tag: (args) =>
    has(args, '--delete') ||
    has(args, '--force') ||
    ['d', 'f'].some((letter) => hasLetter(args, letter, 'mFu')),
  worktree: ([verb, ...args]) => verb === 'remove' || (verb === 'add' && hasLetter(args, 'B', 'b')),
  'filter-branch': () => true,
  gc: (args) => args.some((arg) => /^--pr?u?n?e?=/.test(arg)),
  prune: (args) => !isDryRun(args),
  reflog: ([verb]) => verb === 'expire' || verb === 'delete',
  'update-ref': (args) => args.some((arg) => arg === '-d' || arg === '--stdin'),
};

/** Commands that may be asked about; the shim sends these to the executable in a sandbox. */
export const GUARDED: readonly string[] = Object.keys(TESTS);

const NAMES_ONE = new RegExp(`(?<![\\w-])(?:${GUARDED.join('|')})(?![\\w-])`);

/** Of what goes on in steps: these touch no file. `--continue` takes the next step, but for a merge, which has none. */
const QUIET = new Set(['--quit', '--edit-todo', '--show-current-patch']);

export function destroys({ command, args }: CommandLine): boolean {
  if (command === SHELL) return NAMES_ONE.test(args[0] ?? '');
  return !args.includes('-h') && (TESTS[command]?.(args) ?? false);
}

/** Commits that the command takes a name from: what to ask `git rev-list` for, a line of words each. */
export function namesTaken({ command, args }: CommandLine): readonly (readonly string[])[] {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const branch = reusedBranch(command, args);
  if (branch !== undefined) return [['--no-walk', `refs/heads/${branch}`, '--']];
  if (command === 'branch') return words.map((name) => ['--no-walk', `refs/heads/${name}`, '--']);
  if (command === 'tag') return words.map((name) => ['--no-walk', `refs/tags/${name}`, '--']);
  if (command === 'update-ref') return words.slice(0, 1).map((name) => ['--no-walk', name, '--']);
  if (command === 'stash' && ['drop', 'pop', 'branch'].includes(words[0] ?? '')) {
    const entry = words[words[0] === 'branch' ? 2 : 1] ?? '0';
    return [['--no-walk', /^\d+$/.test(entry) ? `stash@{${entry}}` : entry, '--']];
  }
  if (command === 'stash' && words[0] === 'clear') return [['--walk-reflogs', 'refs/stash', '--']];
  if (['reflog', 'gc', 'prune', 'filter-branch'].includes(command))
    return [['--reflog', '--not', '--all', '--']];
  return [];
}

/** The name that a branch is given which may be another's already: the word after the option, or the rest of it. */
function reusedBranch(command: string, args: readonly string[]): string | undefined {
  if (!['checkout', 'switch', 'worktree'].includes(command)) return undefined;
  const option = /^(?:-[a-z]*[BC]|--force-c[a-z-]*=?)(.*)$/;
  const at = args.findIndex((arg) => option.test(arg));
  return at < 0 ? undefined : option.exec(args[at] as string)?.[1] || args[at + 1];
}

/** A long option, also cut short as far as git might take it; nothing after `--` is one. */
function has(args: readonly string[], option: string): boolean {
  return optionsOf(args).some((arg) => arg.length > 2 && option.startsWith(arg));
}

function isDryRun(args: readonly string[]): boolean {
  return has(args, '--dry-run') || hasLetter(args, 'n', '');
}

/** A letter in a bundle of short options, before one of those that take the rest for their value. */
function hasLetter(args: readonly string[], letter: string, valued: string): boolean {
  const before = valued === '' ? '' : `[^${valued}-]*`;
  const bundle = new RegExp(`^-${before === '' ? '[^-]*' : before}${letter}`);
  return optionsOf(args).some((arg) => !arg.startsWith('--') && bundle.test(arg));
}

function optionsOf(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end).filter((arg) => arg.startsWith('-') && arg !== '-');
}

/** A new branch here and nothing else: no file changes. */
function makesBranchOnly(args: readonly string[], making: readonly string[]): boolean {
  const words = args.filter((arg) => !['-q', '--quiet', '--no-track'].includes(arg));
  return words.length === 2 && making.includes(words[0] as string);
}
