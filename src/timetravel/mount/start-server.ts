/** Starts the process that serves a mounted snapshot, and waits until its files can be read. */
import { spawn } from 'node:child_process';
import { AgtError } from '../../errors.ts';
import { mountFile } from '../../layout.ts';
import { ownCommand } from '../../process/invocation.ts';
import { MOUNTED } from './serve.ts';

/** The server goes on when this agt has ended. @throws AgtError with what the server said */
export async function startServer(agtDir: string, name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [program = '', ...first] = ownCommand();
  const { AGT_TRACE: _, ...quiet } = { ...process.env, ...env };
  const server = spawn(program, [...first, '--serve-mount', mountFile(agtDir, name)], {
    ...{ cwd: '/', detached: true, env: quiet },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  server.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.on('close', () => reject(new AgtError(reasonIn(said))));
    server.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString() === MOUNTED) resolve();
    });
  });
  server.stdout.destroy();
  server.stderr.destroy();
  server.unref();
}

function reasonIn(said: string): string {
  return /^error: (.*)$/m.exec(said)?.[1] ?? 'the process that serves the snapshot has ended';
}
