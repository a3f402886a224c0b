/** Runs the command of `agt.setup` in a new sandbox. It comes from the user's settings, never from a worktree. */
import { spawnSync } from 'node:child_process';
import { EXIT } from '../errors.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Context } from './context.ts';

/** Its output goes to standard error: that of agt describes the session. Returns the exit code of agt. */
export async function runSetup(context: Context, { session_id: id, sandbox }: SessionRecord) {
  const command = await context.setting('agt.setup');
  if (!command) return EXIT.done;
  const { status, signal, error } = spawnSync('/bin/sh', ['-c', command], {
    cwd: sandbox,
    env: { ...context.env, AGT_SESSION: id },
    stdio: ['inherit', 2, 2],
  });
  if (status === 0) return EXIT.done;
  const reason =
    error?.message ?? (signal === null ? `ended with exit code ${status}` : `was killed by ${signal}`);
  context.err(`error: agt.setup (${command}) ${reason}\nhint: the session is there: ${sandbox}\n`);
  return EXIT.failed;
}
