/**
 * Which arguments let a command destroy work: files that are not committed (ignored ones included), staged content, or
 * commits that nothing else keeps. When the arguments do not tell, the answer is yes. One function for each row of the
 * table in ../commands.ts.
 */

export type DestroysWork = (args: readonly string[]) => boolean;

export const always: DestroysWork = () => true;

export const reset: DestroysWork = (args) =>
  has(args, '--hard') || has(args, '--merge') || has(args, '--keep');

export const clean: DestroysWork = (args) => !has(args, '--dry-run') && !hasLetter(args, 'n', 'e');

export const checkout: DestroysWork = (args) => !onlyMakesBranch(args, ['-b']);

export const switchBranch: DestroysWork = (args) => !onlyMakesBranch(args, ['-c', '--create']);

export const restore: DestroysWork = (args) => {
  const staged = has(args, '--staged') || hasLetter(args, 'S', 's');
  return !staged || has(args, '--worktree') || hasLetter(args, 'W', 's');
};

export const stash: DestroysWork = ([verb = 'push']) =>
  ['drop', 'clear', 'pop', 'apply', 'push', 'save', 'branch'].includes(verb) || verb.startsWith('-');

export const branch: DestroysWork = (args) =>
  has(args, '--force') || ['D', 'M', 'C', 'f'].some((letter) => hasLetter(args, letter, 'u'));

/** Options of commands that go on in steps; with these they touch no file. */
const TOUCHES_NO_FILE = ['--quit', '--edit-todo', '--show-current-patch'];

/** rebase, cherry-pick, revert, am: `--continue` takes the next step. */
export const steps: DestroysWork = (args) => !args.some((arg) => TOUCHES_NO_FILE.includes(arg));

/** The `--continue` of a merge has no next step: it commits. */
export const merge: DestroysWork = (args) => !args.includes('--continue') && steps(args);

export const rm: DestroysWork = (args) => !has(args, '--cached') && !isDryRun(args);

export const mv: DestroysWork = (args) =>
  (has(args, '--force') || hasLetter(args, 'f', '')) && !isDryRun(args);

export const checkoutIndex: DestroysWork = (args) => has(args, '--force') || hasLetter(args, 'f', '');

export const readTree: DestroysWork = (args) => hasLetter(args, 'u', '') && !isDryRun(args);

export const sparseCheckout: DestroysWork = ([verb = '']) => !['', 'list', 'check-rules'].includes(verb);

export const submodule: DestroysWork = (args) =>
  ['update', 'deinit'].includes(args.find((arg) => !arg.startsWith('-')) ?? '');

export const bisect: DestroysWork = ([verb = 'help']) =>
  !['help', 'log', 'terms', 'visualize', 'view'].includes(verb);

export const tag: DestroysWork = (args) =>
  has(args, '--delete') ||
  has(args, '--force') ||
  ['d', 'f'].some((letter) => hasLetter(args, letter, 'mFu'));

export const worktree: DestroysWork = ([verb, ...args]) =>
  verb === 'remove' || (verb === 'add' && hasLetter(args, 'B', 'b'));

export const gc: DestroysWork = (args) => args.some((arg) => /^--pr?u?n?e?=/.test(arg));

export const prune: DestroysWork = (args) => !isDryRun(args);

export const reflog: DestroysWork = ([verb]) => verb === 'expire' || verb === 'delete';

export const updateRef: DestroysWork = (args) => args.some((arg) => arg === '-d' || arg === '--stdin');

/** A long option before `--`, also abbreviated, as far as git might accept it. */
function has(args: readonly string[], option: string): boolean {
  return optionsOf(args).some((arg) => arg.length > 2 && option.startsWith(arg));
}

function isDryRun(args: readonly string[]): boolean {
  return has(args, '--dry-run') || hasLetter(args, 'n', '');
}

/** A letter in bundled short options, before any letter of `valued`: those take the rest as their value. */
function hasLetter(args: readonly string[], letter: string, valued: string): boolean {
  const bundle = new RegExp(`^-[^${valued}-]*${letter}`);
  return optionsOf(args).some((arg) => !arg.startsWith('--') && bundle.test(arg));
}

function optionsOf(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end).filter((arg) => arg.startsWith('-') && arg !== '-');
}

/** A new branch at HEAD and nothing else: no file changes. */
function onlyMakesBranch(args: readonly string[], options: readonly string[]): boolean {
  const words = args.filter((arg) => !['-q', '--quiet', '--no-track'].includes(arg));
  return words.length === 2 && options.includes(words[0] as string);
}
