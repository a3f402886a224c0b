/** Makes and removes the worktrees of agents as sessions. Standard output gets the path of a new one, and nothing else. */
import type { WorktreeEvent } from '../../integrations/event.ts';
import type { Integration } from '../../integrations/integration.ts';
import { createWorktree, removeWorktree } from '../../integrations/worktrees.ts';
import type { Context } from '../context.ts';
import { runSetup } from '../setup.ts';

export async function answerWorktree(
  context: Context,
  { name: profile, program: agent, worktrees }: Integration,
  event: WorktreeEvent,
): Promise<void> {
  const repository = await context.repository();
  const now = context.now();
  if (event.kind === 'worktree-remove') return removeWorktree(repository, event.path, event.pid, now);
  const { cwd, pid, worktree: name } = event;
  const request = { name, cwd, now, profile, prefix: worktrees?.prefix ?? '', pid, agent };
  const { record, isNew } = await createWorktree(repository, request);
  // If it fails, the sandbox is there all the same, and the reason is on standard error.
  if (isNew) await runSetup(context, record);
  context.out(`${record.sandbox}\n`);
}
