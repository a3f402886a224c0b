/** Runs a program of a file system, such as btrfs(8). */
import { delimiter } from 'node:path';
import { AgtError, errorCode } from '../errors.ts';
import { SYSTEM_PROGRAMS } from './place.ts';

/** @throws AgtError with the first line of its errors. */
export async function runTool(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const { execa } = await import('execa');
  const env = { LC_ALL: 'C', PATH: [process.env['PATH'] ?? '', ...SYSTEM_PROGRAMS].join(delimiter) };
  const run = await execa(program, args, {
    env,
    reject: false,
    stdin: 'ignore',
    ...(cwd === undefined ? {} : { cwd }),
  });
  if (run.exitCode === 0) return run.stdout;
  const said = run.stderr.split('\n').find((line) => line !== '') ?? '';
  const reason = run.exitCode === undefined ? errorCode(run.cause) : said;
  throw new AgtError(`${program} ${args.slice(0, 2).join(' ')} failed: ${reason}`, { cause: run.cause });
}
