/** Checks of `agt doctor` and `agt status` beside those of the repository, and how both show findings. */
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { hooksDirectory, stateDirectory, stateHome } from '../disk/state-home.ts';
import { type AgtError, isAgtError, systemFailure } from '../errors.ts';
import { discoverRepository, gitFileTarget } from '../git/files/discover-repository.ts';
import { finishAccept } from '../landing/end-session.ts';
import { finishSync } from '../landing/sync.ts';
import { finishUnaccept } from '../landing/unaccept.ts';
import { foldersDirectory, leasesDirectory } from '../layout.ts';
import { checkStateDirectories } from '../maintenance/doctor/check-access.ts';
import type { Finding, Finishers } from '../maintenance/doctor/finding.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { brokenGitFile } from '../repository/find-repository.ts';
import { advisedIn, agtInFolder } from '../session/advised-commands.ts';
import { finishRestore } from '../timetravel/restore/restore.ts';
import { keyFile, othersCanRead, readKeys } from '../travel/keys.ts';
import type { Context } from './context.ts';
import { paint } from './output/format.ts';

/** Finish operations of the rooms that maintenance/ cannot import. */
export const finishers: Finishers = {
  restore: finishRestore,
  accept: finishAccept,
  unaccept: finishUnaccept,
  sync: finishSync,
};

/** Whether agt may write outside of repositories. `problem`: why agt cannot use the store of a folder. */
export function checkState({ env, cwd }: Context, problem: AgtError | undefined): Finding[] {
  const [state, ofAgt] = [stateHome(env), stateDirectory(env)];
  if (state === undefined || ofAgt === undefined) {
    const missing = 'neither HOME nor XDG_STATE_HOME is set, so agt keeps no snapshots of folders';
    return [{ level: 'warning', about: 'HOME', problem: missing, mend: 'set HOME' }];
  }
  const directories = [ofAgt, foldersDirectory(state), hooksDirectory(ofAgt), leasesDirectory(state)];
  const found = checkStateDirectories(directories);
  if (found.length > 0 || problem === undefined) return found;
  return [{ level: 'error', about: cwd, problem: problem.message, mend: problem.hints.join('; ') }];
}

/** Of a worktree or a checkout in which git finds no repository. */
export function checkGitFile({ cwd }: Context): Finding[] {
  const about = brokenGitFile(cwd);
  if (about === undefined) return [];
  const target = gitFileTarget(about);
  const problem =
    target === undefined
      ? 'this file names no git directory'
      : `this file leads to ${target}, which is no repository`;
  const [, common = ''] = /^(.*)\/worktrees\/[^/]+$/s.exec(target ?? '') ?? [];
  const isForgotten = common !== '' && discoverRepository('/', { GIT_DIR: common }) !== undefined;
  const mend = isForgotten
    ? `its repository has forgotten this worktree; make a new one, and move your files there: git -C ${shellQuote(common)} worktree add PATH BRANCH`
    : common !== ''
      ? `if the repository has moved, call there: git worktree repair ${shellQuote(dirname(about))}`
      : `write into it where the git directory is now: echo "gitdir: PATH" > ${shellQuote(about)}`;
  return [{ level: 'error', about, problem, mend }];
}

/** The key with which sessions travel. */
export async function checkKey({ env }: Context): Promise<Finding[]> {
  const about = keyFile(env);
  try {
    await readKeys(env);
    return [];
  } catch (error) {
    const problem = isAgtError(error) ? error.message : systemFailure(error);
    if (problem === undefined) throw error;
    const mend = isAgtError(error) ? error.hints.join('; ') : `see: ls -l ${shellQuote(about)}`;
    const finding = { level: 'error', about, problem, mend } as const;
    return [othersCanRead(about) ? { ...finding, fix: () => chmodSync(about, 0o600) } : finding];
  }
}

const STYLES = { error: 'red', warning: 'yellow', note: 'dim' } as const;

/** As `agt doctor` and `agt status` show them. */
export function advisedFindings({ cwd }: Context, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, mend: advisedIn(cwd, finding.mend) }));
}

/** `previewFix`: say which findings --fix would fix. */
export function describeFindings(context: Context, findings: readonly Finding[], previewFix = false): string {
  const colours = paint(context.colour());
  const lines = findings.map(({ level, about, problem, mend, fix }) => {
    const byHand = mend === '' ? '' : `fix: ${mend}`;
    const isFixed = previewFix && fix !== undefined;
    const next = isFixed ? `${agtInFolder(context.cwd)} doctor --fix would fix this` : byHand;
    return `  ${colours(STYLES[level], level)}: ${about}: ${problem}\n${next === '' ? '' : `    ${next}\n`}`;
  });
  return lines.join('');
}
