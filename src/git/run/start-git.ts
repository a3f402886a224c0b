/** Starts a git that works while this process does something else. */
import { spawn } from 'node:child_process';
import { cannotRun, type Git, type GitRun, gitFailed, killedBy, requireDescriptors } from './git.ts';
import { traceCommand } from './trace.ts';

/** When the function returns its promise, git has been started and has its input. Any exit code is a result. */
export function startGit(git: Git, args: readonly string[], input: string): Promise<GitRun> {
  traceCommand(git.env, git.path, args);
  requireDescriptors(git);
  const child = spawn(git.path, args, { cwd: git.cwd, env: git.env });
  const run = new Promise<GitRun>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let stderr = '';
    child.on('error', (error) => reject(cannotRun(git, error)));
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on('close', (code, signal) => {
      if (signal !== null) reject(killedBy(signal, args));
      else resolve({ exitCode: code ?? -1, stdout: Buffer.concat(chunks), stderr });
    });
  });
  child.stdin.on('error', () => undefined); // git has ended: its exit code is the result
  child.stdin.end(input);
  return run;
}

/**
 * Standard output of a git that reads, as `gitBytes` returns it. Small commands call nothing else, and need not wait for
 * execa to load. @throws AgtError with git's own message.
 */
export async function readGit(git: Git, args: readonly string[], input = ''): Promise<Buffer> {
  const run = await startGit(git, args, input);
  if (run.exitCode !== 0) throw gitFailed(args, run);
  return run.stdout;
}
