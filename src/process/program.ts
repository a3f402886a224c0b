/** Waits for a program that this process has started. */
import type { ChildProcess } from 'node:child_process';

export interface ProgramEnd {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Empty if `onOutput` got it. */
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** What it prints to pipes, and how it ends. @throws the system's error if it could not be started. */
export function endOf(
  child: ChildProcess,
  input: string | Uint8Array = '',
  onOutput?: (chunk: Buffer) => void,
): Promise<ProgramEnd> {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on('data', onOutput ?? ((chunk: Buffer) => stdout.push(chunk)));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin?.on('error', () => undefined); // it has ended: its exit code is the result
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) =>
      resolve({ exitCode, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
    );
  });
}
