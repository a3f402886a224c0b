/** Runs a program of a file system, such as btrfs(8). */
import { execFile } from 'node:child_process';
import { delimiter } from 'node:path';
import { AgtError, errorCode } from '../errors.ts';
import { SYSTEM_PROGRAMS } from './place.ts';

const MOST_OUTPUT = 64 * 1024 * 1024;

/** Returns its output. @throws AgtError with the first line of its errors. */
export function runTool(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const env = { LC_ALL: 'C', PATH: [process.env['PATH'] ?? '', ...SYSTEM_PROGRAMS].join(delimiter) };
  return new Promise((resolve, reject) => {
    execFile(program, args, { env, cwd, maxBuffer: MOST_OUTPUT }, (cause, stdout, stderr) => {
      if (cause === null) return resolve(stdout);
      const reason = stderr.split('\n').find((line) => line !== '') ?? errorCode(cause);
      reject(new AgtError(`${program} ${args.slice(0, 2).join(' ')} failed: ${reason}`, { cause }));
    });
  });
}
