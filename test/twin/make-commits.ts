/** Makes repositories, commits and sessions with fixed dates, so that both sides of a twin have equal hashes. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { git, REAL_GIT, run, write } from '../harness/world.ts';

export type Clock = Record<string, string>;

const EPOCH = 1_767_600_000;

export function clock(minutes: number): Clock {
  const date = `${EPOCH + minutes * 60} +0100`;
  return { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
}

export function gitAt(
  cwd: string,
  minutes: number,
  args: readonly string[],
  env: Record<string, string> = {},
): string {
  const outcome = run(REAL_GIT, args, { cwd, env: { ...clock(minutes), ...env } });
  if (outcome.exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${outcome.stderr}`);
  return outcome.stdout.trimEnd();
}

export function commit(
  cwd: string,
  minutes: number,
  subject: string,
  file = 'file.txt',
  env: Record<string, string> = {},
): void {
  write(join(cwd, file), `${subject}\n`);
  gitAt(cwd, minutes, ['add', '-A']);
  gitAt(cwd, minutes, ['commit', '-q', '-m', subject], env);
}

export const AGENT = {
  GIT_AUTHOR_NAME: 'agt',
  GIT_AUTHOR_EMAIL: 'agt@local',
  GIT_COMMITTER_NAME: 'agt',
  GIT_COMMITTER_EMAIL: 'agt@local',
};

/** A session: a shadow branch with commits by agt, the tip ref, and a work branch with a commit by the agent. */
export function addSession(project: string, id: string, from: string, worktree: boolean): void {
  const tree = gitAt(project, 50, ['rev-parse', `${from}^{tree}`]);
  let parent = gitAt(project, 50, ['rev-parse', from]);
  for (const n of [51, 52]) {
    parent = gitAt(project, n, ['commit-tree', tree, '-p', parent, '-m', `agt autocommit ${id} ${n}`], AGENT);
  }
  gitAt(project, 53, ['update-ref', `refs/heads/agtsessions/${id}`, parent]);
  gitAt(project, 53, ['update-ref', `refs/agt/tip/${id}`, parent]);
  const work = gitAt(project, 54, ['commit-tree', tree, '-p', from, '-m', `work of ${id}`], {
    GIT_AUTHOR_NAME: 'Robo',
  });
  gitAt(project, 54, ['update-ref', `refs/heads/agt/${id}`, work]);
  if (worktree)
    gitAt(project, 55, ['worktree', 'add', '-q', join(project, '..', `sandbox-${id}`), `agt/${id}`]);
}

export function initial(project: string): void {
  mkdirSync(project, { recursive: true });
  git(project, 'init', '-q', '-b', 'main', '--template=');
}
