/** Writes and removes values in a settings file with git-config, which locks the file and keeps its comments. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgtError } from '../errors.ts';
import { type Git, gitText, runGit } from '../git/run/git.ts';

export async function writeSetting(git: Git, file: string, name: string, value: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  await gitText(git, ['config', '--file', file, '--replace-all', name, value]);
}

/** git-config's exit code for a name that the file does not have, or has several times; --unset-all removes all. */
const NOT_FOUND = 5;

/** A setting that the file does not have is no error. */
export async function unsetSetting(git: Git, file: string, name: string): Promise<void> {
  const { exitCode, stderr } = await runGit(git, ['config', '--file', file, '--unset-all', name]);
  if (exitCode !== 0 && exitCode !== NOT_FOUND)
    throw new AgtError(`cannot change ${file}: ${stderr.trim()}`, { hints: ['correct the file by hand'] });
}
