/**
 * Copies files, links and directories with everything that belongs to them: times, owners, access lists, extended
 * attributes, hard links among them. GNU tar can do that; without it there is no copy.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { AgtError } from '../../errors.ts';

const EVERYTHING = ['--acls', '--xattrs', '--xattrs-include=*', '--numeric-owner'];
const LIST = ['--null', '--no-unquote', '--verbatim-files-from', '--files-from=-'];
const CREATE = ['--create', '--format=posix', '--no-recursion', '--sparse', ...EVERYTHING, ...LIST];
const EXTRACT = [
  '--extract',
  '--preserve-permissions',
  '--same-owner',
  '--delay-directory-restore',
  ...EVERYTHING,
];

/** Paths are relative to both folders, one byte per character; of a directory only itself. @throws AgtError */
export async function copyEntries(from: string, to: string, paths: readonly string[]): Promise<void> {
  const env = { ...process.env, LC_ALL: 'C', TAR_OPTIONS: '' };
  const writer = spawn('tar', [...CREATE], { cwd: from, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const reader = spawn('tar', [...EXTRACT], { cwd: to, env, stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = [endOf(writer), endOf(reader)];
  for (const stream of [writer.stdin, writer.stdout, reader.stdin]) stream.on('error', () => undefined); // the exit code tells
  writer.stdout.pipe(reader.stdin);
  writer.stdin.end(Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'));
  const codes = await Promise.all(ended);
  if (codes.some((code) => code !== 0)) throw new AgtError('tar could not copy the files');
}

async function endOf(child: ChildProcess): Promise<number | undefined> {
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? undefined;
  } catch {
    return undefined;
  }
}
