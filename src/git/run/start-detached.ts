/** Starts a git that nobody waits for, and that goes on when agt has ended. */
import type { Git } from './git.ts';

export async function startDetached(git: Git, args: readonly string[]): Promise<void> {
  const { spawn } = await import('node:child_process');
  const child = spawn(git.path, args, { cwd: git.cwd, env: git.env, detached: true, stdio: 'ignore' });
  child.on('error', () => undefined); // git is missed by nobody then
  child.unref();
}
