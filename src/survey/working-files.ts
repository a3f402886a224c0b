/**
 * The files of many sandboxes that differ from HEAD. git does not enter submodules: one counts as changed if it has checked
 * out another commit.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isReadableHead } from '../git/files/head-file.ts';
import { type StatusEntry, statusOfEach } from '../git/objects/status.ts';
import type { Git } from '../git/run/git.ts';
import type { SandboxFacts } from './sandbox-facts.ts';

const OPTIONS = ['--untracked-files=all', '--ignore-submodules=dirty'];

/** So many untracked files are a directory that nobody has ignored yet. A listing counts no more. */
const MOST_UNTRACKED = 2000;

/** By sandbox. None where there is no sandbox, and where git cannot tell. */
export async function readWorkingFiles(
  git: Git,
  facts: readonly Pick<SandboxFacts, 'record' | 'gitDir'>[],
): Promise<Map<string, readonly StatusEntry[]>> {
  const present = facts.filter(({ gitDir }) => gitDir !== undefined && isReadable(gitDir));
  const sandboxes = present.map(({ record }) => record.sandbox);
  const found = await statusOfEach(git, sandboxes, OPTIONS);
  return new Map([...found].map(([sandbox, { entries }]) => [sandbox, worthCounting(entries)]));
}

/** git would wait for a named pipe. */
function isReadable(gitDir: string): boolean {
  const index = lstatSync(join(gitDir, 'index'), { throwIfNoEntry: false });
  return index?.isFile() !== false && isReadableHead(gitDir);
}

/** Without untracked repositories, which git lists as directories. */
function worthCounting(entries: readonly StatusEntry[]): StatusEntry[] {
  let untracked = 0;
  return entries.filter(
    ({ kind, path }) => kind !== 'untracked' || (!path.endsWith('/') && untracked++ < MOST_UNTRACKED),
  );
}
