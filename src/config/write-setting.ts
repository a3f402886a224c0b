/** Writes one value into a settings file with git-config, which locks the file and keeps its comments. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Git, gitText } from '../git/run/git.ts';

export async function writeSetting(git: Git, file: string, name: string, value: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  await gitText(git, ['config', '--file', file, '--replace-all', name, value]);
}
