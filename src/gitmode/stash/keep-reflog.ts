/**
 * The entries of a stash are lines of a reflog. git never expires those of `refs/stash`; of any other ref it expires them
 * after 30 or 90 days. So the repository's configuration names the stashes of sessions too.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { SESSION_STASH } from '../../filter/agent-refs.ts';
import type { GitAccess } from '../invocation.ts';

/** From the main worktree, git sees them as `worktrees/<id>/refs/worktree/stash`. */
const PATTERN = `*${SESSION_STASH}`;

export function keepReflog(
  { gitDir, commonDir }: { readonly gitDir: string; readonly commonDir: string },
  ask: GitAccess['ask'],
): void {
  if (!existsSync(join(gitDir, 'logs', SESSION_STASH))) return;
  const config = join(commonDir, 'config');
  if (readSmallFile(config)?.includes(PATTERN)) return;
  for (const key of ['reflogExpire', 'reflogExpireUnreachable'])
    ask(['config', '--file', config, `gc.${PATTERN}.${key}`, 'never']);
}
