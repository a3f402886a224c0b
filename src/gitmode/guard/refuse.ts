/**
 * `agt.refuse`: command lines that the user keeps from agents, whose git is agt's. Off by default. It stops an agent that
 * forgets, not one that looks for another way: docs/git-mode.md names those ways.
 */
import { isNamed } from '../../config/values.ts';
import { splitCommandLine } from '../command-line/alias.ts';
import { hasOption, lastOption, type ParsedOptions, parseOptions } from '../command-line/options.ts';
import { type CommandLine, parseCommandLine, SHELL_ALIAS } from '../command-line/parse.ts';
import type { GitAccess } from '../invocation.ts';
import { OPTIONS } from '../rules/push.ts';
import { currentBranch } from '../view/view.ts';
import { has, hasLetter } from './at-risk.ts';

/** Commands of which a rule may refuse some lines: the shim starts the executable for these. */
export const REFUSABLE = ['push', 'commit', 'merge', 'am', 'rebase', 'pull', 'cherry-pick', 'revert'];

/** Stands for branches that agt does not know: any one. */
const ANY = '*';

/** One line for the model; undefined if git may do it. */
export function refusalOf(rules: readonly string[], line: CommandLine, git: GitAccess): string | undefined {
  if (rules.length === 0) return undefined;
  for (const one of linesOf(line)) {
    for (const rule of rules) {
      const problem = problemOf(rule, one, git);
      if (problem !== undefined) return `error: ${problem} (the user's setting agt.refuse = ${rule})`;
    }
  }
  return undefined;
}

/** A shell alias may run git several times. */
function linesOf(line: CommandLine): CommandLine[] {
  const { command, globals, args } = line;
  if (command !== SHELL_ALIAS) return [line];
  const [text = '', ...more] = args;
  return `${text} ${more.join(' ')}`.split(/[;&|\n]+/).flatMap((part) => {
    const [program, ...words] = splitCommandLine(part) ?? [];
    const inner = program === 'git' ? parseCommandLine(words) : undefined;
    return inner === undefined ? [] : [{ ...inner, globals: [...globals, ...inner.globals] }];
  });
}

function problemOf(rule: string, line: CommandLine, git: GitAccess): string | undefined {
  const { command, args } = line;
  if (rule === 'no-verify')
    return skipsHooks(line) ? `git ${command} must run the hooks here: leave out what skips them` : undefined;
  if (command !== 'push') return undefined;
  if (rule === 'force')
    return isForced(args)
      ? 'no forced push from here: push to a new branch, or ask the user to do it'
      : undefined;
  const pattern = rule.replace(/^push:/, '');
  const branch = destinations(args, git).find((name) => name === ANY || isNamed(name, [pattern]));
  if (branch === undefined) return undefined;
  const what = branch === ANY ? 'that names no branch' : `to "${branch}"`;
  return `no push ${what} from here: push another branch by its name, or ask the user to do it`;
}

/** -n is --no-verify for these alone. */
function skipsHooks({ command, args, globals }: CommandLine): boolean {
  if (!REFUSABLE.includes(command)) return false;
  if (globals.some((word) => /^core\.hookspath(=|$)/i.test(word))) return true;
  return (
    has(args, '--no-verify') ||
    (command === 'commit' && hasLetter(args, 'n', 'mFCctSu')) ||
    (command === 'am' && hasLetter(args, 'n', 'SpC'))
  );
}

function isForced(args: readonly string[]): boolean {
  const parsed = parseOptions(args, OPTIONS);
  if (parsed === undefined)
    return has(args, '--force', '--force-with-lease', '--mirror') || hasLetter(args, 'f', 'o');
  const isOn = (name: string) => lastOption(parsed, name, `no-${name}`)?.name === name;
  return (
    ['force', 'force-with-lease', 'mirror'].some(isOn) ||
    refspecsOf(parsed).some((one) => one.startsWith('+'))
  );
}

function refspecsOf(parsed: ParsedOptions): readonly string[] {
  return parsed.args.slice(lastOption(parsed, 'repo') === undefined ? 1 : 0);
}

/** The branches that a push may move or delete. */
function destinations(args: readonly string[], git: GitAccess): string[] {
  const parsed = parseOptions(args, OPTIONS);
  if (parsed === undefined || hasOption(parsed, 'all', 'branches', 'mirror', 'prune')) return [ANY];
  const refspecs = refspecsOf(parsed);
  if (refspecs.length === 0) return hasOption(parsed, 'tags') ? [] : byConfiguration(git);
  return refspecs.flatMap((refspec, i) => {
    if (refspec === 'tag' || refspecs[i - 1] === 'tag' || refspec.startsWith('^')) return [];
    const [from = '', to = from] = refspec.replace(/^\+/, '').split(':');
    if (to === '' || to.includes('*')) return [ANY];
    return ['HEAD', '@'].includes(to) ? [currentBranch(git) ?? ''] : [to.replace(/^(refs\/)?heads\//, '')];
  });
}

function byConfiguration(git: GitAccess): string[] {
  const { stdout } = git.ask(['config', '--get-regexp', '^(remote\\..*\\.(push|mirror)|push\\.default)$']);
  if (/\.(push|mirror) |^push\.default matching$/im.test(stdout)) return [ANY];
  const [, , , ...upstream] = git
    .ask(['rev-parse', '--symbolic-full-name', '@{push}'])
    .stdout.trim()
    .split('/');
  return [currentBranch(git) ?? '', ...(upstream.length > 0 ? [upstream.join('/')] : [])];
}
