/**
 * Which programs a git of agt starts. Files of a sandbox are written by an agent, and agt runs git there as the user. So
 * git starts no hook and no file-system monitor, enters no submodule, and takes no program from the settings of one
 * worktree alone. Filters, merge drivers, textconv and external diffs of the user's settings stay: without them git would
 * store and show other content. `withUsersPrograms` is for acts in the user's own checkout.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { parseLabelledList } from '../files/config-file.ts';
import { gitDirOf } from '../files/discover-repository.ts';
import { type Git, withSettings } from './environment.ts';

/** Hooks that a git of agt can come to. Those of the settings (git 2.54) are in no directory. */
const HOOKS =
  `reference-transaction post-index-change post-checkout pre-merge-commit prepare-commit-msg commit-msg
  post-commit post-merge pre-rebase post-rewrite pre-auto-gc`.split(/\s+/);

/** git passes these settings on to the gits that it starts in nested repositories. The last two are for `git log`. */
const NO_PROGRAMS: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'submodule.recurse': 'false',
  'status.submoduleSummary': 'false',
  ...Object.fromEntries(HOOKS.map((hook) => [`hook.${hook}.enabled`, 'false'])),
  'log.showSignature': 'false',
  'i18n.logOutputEncoding': 'UTF-8',
};

export function withoutPrograms(git: Git): Git {
  return withSettings(git, NO_PROGRAMS);
}

/** As the user would run git there: with hooks, monitor and submodules. */
export function withUsersPrograms(git: Git): Git {
  const { GIT_CONFIG_COUNT: _, ...env } = git.env;
  return { ...git, env };
}

/** Keys that name a program, or let git start one. */
const PROGRAM = new RegExp(
  [
    'filter\\..*\\.(clean|smudge|process|required)',
    'diff\\.(external|.*\\.(command|textconv))',
    'merge\\..*\\.driver',
    'core\\.(pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand)',
    'pager\\..*',
    'gpg\\..*program',
    'gpg\\.ssh\\.defaultkeycommand',
    'credential\\..*helper',
    'trailer\\..*\\.(command|cmd)',
    'hook\\..*\\.command',
    'sequence\\.editor',
    'remote\\..*\\.(uploadpack|receivepack|vcs)',
  ]
    .map((pattern) => `^${pattern}$`)
    .join('|'),
  's',
);

/** Settings that git itself writes there for a sparse checkout. */
const HARMLESS = /^\s*(\[(core|index)\]|(sparsecheckout|sparsecheckoutcone|sparse|bare)\s*=\s*\w+)?\s*$/i;

/** git in a directory: programs that the settings of this worktree alone name are as if they were not there. */
export function withoutWorktreePrograms(git: Git): Git {
  const gitDir = gitDirOf(git.cwd);
  const file = gitDir && readSmallFile(join(gitDir, 'config.worktree'));
  if (!file || file.split('\n').every((line) => HARMLESS.test(line))) return git;
  const args = ['config', '--list', '--show-scope', '--includes', '-z'];
  const listed = spawnSync(git.path, args, { cwd: git.cwd, env: git.env, encoding: 'latin1' }).stdout ?? '';
  return withSettings(git, overrides(listed));
}

function overrides(listed: string): Record<string, string> {
  const users = new Map<string, string>();
  const worktrees = new Set<string>();
  for (const { label, key, value } of parseLabelledList(listed)) {
    if (!PROGRAM.test(key)) continue;
    if (label === 'worktree') worktrees.add(key);
    else users.set(key, value);
  }
  const result: Record<string, string> = {};
  for (const key of worktrees) {
    const value = users.get(key);
    const filter = value === undefined ? /^(filter\..*)\.[^.]*$/s.exec(key)?.[1] : undefined;
    if (filter === undefined) result[key] = value ?? '';
    else {
      // git runs no command where the process is an empty one. A filter of the user must not be left out silently.
      const isUsers = [...users.keys()].some((known) => known.startsWith(`${filter}.`));
      result[`${filter}.process`] = '';
      result[`${filter}.required`] = String(isUsers);
    }
  }
  return result;
}

/** Options of `git diff` in a worktree whose own settings name programs for it: git cannot do without the setting. */
export function withoutDiffPrograms(git: Git): string[] {
  const isOwn = Object.entries(git.env).some(
    ([name, value]) => name.startsWith('GIT_CONFIG_KEY_') && value?.startsWith('diff.'),
  );
  return isOwn ? ['--no-ext-diff', '--no-textconv'] : [];
}
