/** The patterns of ignored files that hold for every worktree: `info/exclude` and the user's own file. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readIfThere } from '../../disk/lock-owner.ts';
import { askGitSync } from '../../git/run/run-sync.ts';
import type { Repository } from '../../repository/repository.ts';
import type { GeneralPatterns } from './untracked.ts';

export function generalPatterns({ git, commonDir }: Repository): GeneralPatterns {
  const configured = askGitSync(git, ['config', '--type=path', '--get', 'core.excludesFile']);
  const home = git.env['HOME'] ?? homedir();
  const usual = join(git.env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'ignore');
  const file = configured?.toString().replace(/\n$/, '') ?? usual;
  const texts = [join(commonDir, 'info', 'exclude'), file].map(readIfThere);
  return texts.filter((text) => text !== '');
}
