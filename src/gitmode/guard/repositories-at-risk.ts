/**
 * Repositories in a sandbox that a command deletes with all their commits: git cleans them away, or writes a file in
 * their place. git refuses the latter without a word like --force, but agt does not tell these cases apart.
 */
import type { CommandLine } from '../command-line/parse.ts';
import type { GitAccess } from '../invocation.ts';

/** `nested`: paths of the repositories, from the top of the worktree. */
export function repositoriesAtRisk(
  { command, args }: CommandLine,
  nested: readonly string[],
  { ask }: GitAccess,
): readonly string[] {
  if (nested.length === 0) return [];
  if (command === 'clean') return forces(args) > 1 ? nested : [];
  const words = args.map((arg) => arg.replace(/^--[a-z]+=/, '')).filter((arg) => !/^-|\s/.test(arg));
  const names = ['HEAD', '', ...words];
  const input = nested.flatMap((path) => names.map((name) => `${name}:${path}\n`)).join('');
  const kinds = ask(['cat-file', '--batch-check=%(objecttype)'], input).stdout.split('\n');
  return nested.filter((_, i) => kinds.slice(i * names.length, (i + 1) * names.length).includes('blob'));
}

/** How often `-f` or `--force` is given. */
function forces(args: readonly string[]): number {
  const options = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined);
  const letters = options.filter((arg) => /^-[^-e]*f/.test(arg)).map((arg) => arg.replace(/e.*|[^f]/gs, ''));
  return letters.join('').length + options.filter((arg) => /^--f/.test(arg)).length;
}
