/**
 * Commits that a command can leave without a ref: arguments for `git rev-list`, one list for each question. One
 * function for each row of the table in ../commands.ts that needs it.
 */
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

export const firstNamedRef: CommitsAtRisk = (args) => argumentsOf(args).slice(0, 1).map(tipOf);

export const stashEntries: CommitsAtRisk = (args) => {
  const [verb = '', ...rest] = argumentsOf(args);
  if (verb === 'clear') return [['--walk-reflogs', 'refs/stash', '--']];
  if (!['drop', 'pop', 'branch'].includes(verb)) return [];
  const entry = rest[verb === 'branch' ? 1 : 0] ?? '0';
  return [tipOf(/^\d+$/.test(entry) ? `stash@{${entry}}` : entry)];
};

export const onlyInReflogs: CommitsAtRisk = () => [['--reflog', '--not', '--all', '--']];

function argumentsOf(args: readonly string[]): string[] {
  return args.filter((arg) => !arg.startsWith('-'));
}

function tipOf(name: string): string[] {
  return ['--no-walk', name, '--'];
}
