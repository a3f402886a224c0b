/**
 * Which arguments let a command destroy work: files that are not committed, ignored ones too, staged content, or
 * commits that nothing else keeps. When the arguments do not tell, the answer is yes.
 */
import { HEADS, TAGS } from '../../git/files/ref-files.ts';

export type DestroysWork = (args: readonly string[]) => boolean;

export const always: DestroysWork = () => true;

/** Without a commit and without these options, it changes the index alone. */
export const reset: DestroysWork = (args) =>
  has(args, '--hard', '--merge', '--keep') || beforeDashes(args).some((arg) => !arg.startsWith('-'));

/** The commit that it replaces is left to a reflog. */
export const commit: DestroysWork = (args) => optionsOf(args).some((arg) => /^--ame?n?d?$/.test(arg));

/** A patch names the lines that it takes away; but a patch from a pipe is gone afterwards. */
export const apply: DestroysWork = (args) =>
  has(args, '--apply') || !has(args, '--check', '--stat', '--numstat', '--summary', '--cached');

export const mergeFile: DestroysWork = (args) => !has(args, '--stdout') && !hasLetter(args, 'p', 'LA');

/** To a repository of this machine, which may be this one: a branch that is deleted or moved. */
export const push: DestroysWork = (args) =>
  beforeDashes(args).some((arg) => /^(\.{0,2}\/|\.{1,2}$|file:)/.test(arg)) &&
  (args.some((arg) => /^[+:]/.test(arg)) ||
    has(args, '--delete', '--force', '--force-with-lease', '--mirror', '--prune') ||
    hasLetter(args, 'df', 'o'));

/** A branch of one's own that is moved back. */
export const fetch: DestroysWork = (args) =>
  args.some((arg) => arg.includes(':') && arg.startsWith('+')) ||
  (args.some((arg) => arg.includes(':')) && (has(args, '--force') || hasLetter(args, 'f', 'jo')));

export const clean: DestroysWork = (args) => !has(args, '--dry-run') && !hasLetter(args, 'n', 'e');

export const checkout: DestroysWork = (args) => !onlyMakesBranch(args, ['-b']);

export const switchBranch: DestroysWork = (args) => !onlyMakesBranch(args, ['-c', '--create']);

export const restore: DestroysWork = (args) => {
  const staged = has(args, '--staged') || hasLetter(args, 'S', 's');
  return !staged || has(args, '--worktree') || hasLetter(args, 'W', 's');
};

export const stash: DestroysWork = ([verb = 'push']) =>
  ['drop', 'clear', 'pop', 'apply', 'push', 'save', 'branch'].includes(verb) || verb.startsWith('-');

export const branch: DestroysWork = (args) => has(args, '--force') || hasLetter(args, 'DMCf', 'u');

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

export const tag: DestroysWork = (args) => has(args, '--delete', '--force') || hasLetter(args, 'df', 'mFu');

export const worktree: DestroysWork = ([verb, ...args]) =>
  verb === 'remove' || (verb === 'add' && hasLetter(args, 'B', 'b'));

export const gc: DestroysWork = (args) => args.some((arg) => /^--pr?u?n?e?=/.test(arg));

export const prune: DestroysWork = (args) => !isDryRun(args);

export const reflog: DestroysWork = ([verb]) => verb === 'expire' || verb === 'delete';

/** One of these long options before `--`, also abbreviated, as far as git might accept it. */
export function has(args: readonly string[], ...options: readonly string[]): boolean {
  const given = optionsOf(args).filter((arg) => arg.length > '--'.length);
  return given.some((arg) => options.some((option) => option.startsWith(arg.replace(/=.*/s, ''))));
}

function isDryRun(args: readonly string[]): boolean {
  return has(args, '--dry-run') || hasLetter(args, 'n', '');
}

/** One of the letters in bundled short options, before any letter of `valued`: those take the rest as their value. */
export function hasLetter(args: readonly string[], letters: string, valued: string): boolean {
  const bundle = new RegExp(`^-[^${valued}-]*[${letters}]`);
  return optionsOf(args).some((arg) => !arg.startsWith('--') && bundle.test(arg));
}

function optionsOf(args: readonly string[]): string[] {
  return beforeDashes(args).filter((arg) => arg.startsWith('-') && arg !== '-');
}

/** Options stand there alone. */
export function beforeDashes(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end);
}

/** A new branch at HEAD and nothing else: no file changes. */
function onlyMakesBranch(args: readonly string[], options: readonly string[]): boolean {
  const words = args.filter((arg) => !['-q', '--quiet', '--no-track'].includes(arg));
  return words.length === 2 && options.includes(words[0] as string);
}

/** Commits that a command can leave without a ref: arguments for `git rev-list`, a list for each question. */
export type CommitsAtRisk = (args: readonly string[]) => readonly (readonly string[])[];

/** `checkout -B NAME`, `switch -C NAME`, `worktree add -B NAME`: the branch that may have existed before. */
export const reusedBranch: CommitsAtRisk = (args) => {
  const option = /^(?:-[a-z]*[BC]|--force-c[a-z-]*=?)(.*)$/;
  const index = args.findIndex((arg) => option.test(arg));
  const name = option.exec(args[index] ?? '')?.[1] || args[index + 1];
  return index < 0 || name === undefined ? [] : [tipOf(`${HEADS}${name}`)];
};

export const namedBranches: CommitsAtRisk = (args) =>
  argumentsOf(args).map((name) => tipOf(`${HEADS}${name}`));

export const namedTags: CommitsAtRisk = (args) => argumentsOf(args).map((name) => tipOf(`${TAGS}${name}`));

/** `update-ref [-m REASON] REF …`. */
export const firstNamedRef: CommitsAtRisk = (args) => argumentsOf(args, ['-m']).slice(0, 1).map(tipOf);

/** The branches on the right side of refspecs: `fetch . +a:b`, `push . :b`, `push --delete . b`. */
export const targetsOfRefspecs: CommitsAtRisk = (args) =>
  argumentsOf(args, ['-o', '--push-option', '-j', '--jobs', '--depth', '--deepen', '--refmap'])
    .slice(1)
    .map((refspec) => refspec.replace(/^\+/, '').replace(/^.*:/s, ''))
    .filter((name) => name !== '' && !name.includes('*'))
    .map((name) => tipOf(name.startsWith('refs/') ? name : `${HEADS}${name}`));

/** `rebase UPSTREAM BRANCH`. */
export const rebasedBranch: CommitsAtRisk = (args) => {
  const names = argumentsOf(args, '--onto -s --strategy -X --strategy-option -x --exec -C'.split(' '));
  return names.slice(args.includes('--root') ? 0 : 1).map((name) => tipOf(`${HEADS}${name}`));
};

export const stashEntries: CommitsAtRisk = (args) => {
  const [verb = '', ...rest] = argumentsOf(args);
  if (verb === 'clear') return [['--walk-reflogs', 'refs/stash', '--']];
  if (!['drop', 'pop', 'branch'].includes(verb)) return [];
  const entry = rest[verb === 'branch' ? 1 : 0] ?? '0';
  return [tipOf(/^\d+$/.test(entry) ? `stash@{${entry}}` : entry)];
};

export const onlyInReflogs: CommitsAtRisk = () => [['--reflog', '--not', '--all', '--']];

/** All but the options and, of the options in `valued`, their values. */
function argumentsOf(args: readonly string[], valued: readonly string[] = []): string[] {
  return args.filter((arg, i) => !arg.startsWith('-') && !valued.includes(args[i - 1] ?? ''));
}

function tipOf(name: string): string[] {
  return ['--no-walk', name, '--'];
}
