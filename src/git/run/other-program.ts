/** Runs another program than git, such as `gh`, in git's directory and with the user's environment. */
import { spawn } from 'node:child_process';
import { errorCode } from '../../errors.ts';
import type { Git } from './git.ts';

interface ProgramRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Undefined if the program is not on PATH. */
export function runOtherProgram(
  { cwd, env, userLocale }: Git,
  program: string,
  args: readonly string[],
): Promise<ProgramRun | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...userLocale },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk: Buffer) => {
        output[name] += chunk.toString();
      });
    child.on('error', (error) => (errorCode(error) === 'ENOENT' ? resolve(undefined) : reject(error)));
    child.on('close', (code) => resolve({ exitCode: code ?? -1, ...output }));
  });
}
