/**
 * Facts about an attached folder. A capture of it depends on more than its files: on the rules by which git ignores some.
 * Those in the folder have times like all files. The others are in the user's index, info/exclude and settings.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { localConfigPath } from '../../config/local-config.ts';
import { readSmallFile } from '../../disk/read-file.ts';
import { errorCode } from '../../errors.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import type { Repository } from '../../repository/repository.ts';
import { CannotTell, type FactLines } from './fact-lines.ts';

/** Settings that name other files, whose changes agt would not see. */
const NAMES_FILES = /include|excludesfile/i;

/** Variables of the user that name other settings files. agt itself sets those that are left out here, always alike. */
const OTHER_CONFIG = /^GIT_CONFIG(?!_(COUNT|KEY_\d+|VALUE_\d+)$)/;

/** Returns the settings files of agt that count for the folder. */
export function noteIgnoreRules(facts: FactLines, store: Repository, folder: string): string {
  const { env } = store.git;
  if (Object.keys(env).some((name) => OTHER_CONFIG.test(name))) throw new CannotTell();
  const own = gitDirOf(folder);
  const gitDir = own ?? store.commonDir;
  const common = resolve(gitDir, readSmallFile(join(gitDir, 'commondir')) ?? '.');
  const xdg = env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? '', '.config');
  facts.check(`xdg ${env['XDG_CONFIG_HOME'] ?? ''}`);
  const configs = [
    [common, 'config'],
    [gitDir, 'config.worktree'],
    [env['HOME'] ?? '', '.gitconfig'],
    [join(xdg, 'git'), 'config'],
    ['/etc', 'gitconfig'],
  ] as const;
  for (const [directory, name] of configs) {
    if (NAMES_FILES.test(textOf(join(directory, name)))) throw new CannotTell();
    facts.in(directory).keepFile(name);
  }
  facts.in(join(xdg, 'git')).keepFile('ignore');
  facts.in(gitDir).keepFile('index');
  facts.in(common).keepFile('info/exclude');
  return localConfigPath(common);
}

/** Empty if there is no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return '';
    throw error;
  }
}
