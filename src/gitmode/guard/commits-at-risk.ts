/** Commits that a command can leave without a ref: arguments for `git rev-list`, a list for each question. */
import { HEADS, TAGS } from '../../git/files/ref-files.ts';

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
