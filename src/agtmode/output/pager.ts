/** Shows text as git shows its own: through the user's pager where standard output is a terminal. */
import { spawn } from 'node:child_process';
import { gitAnswer } from '../../git/run/git.ts';
import type { Context } from '../context.ts';

export async function showInPager(context: Context, text: string): Promise<void> {
  const pager =
    text !== '' && process.stdout.isTTY ? await gitAnswer(await context.git(), ['var', 'GIT_PAGER']) : '';
  if (!pager || pager === 'cat') return context.out(text);
  await new Promise<void>((resolve) => {
    // The terminal's interrupt is the pager's to handle.
    const ignore = () => undefined;
    process.on('SIGINT', ignore);
    const env = { LESS: 'FRX', LV: '-c', ...context.env };
    const child = spawn('/bin/sh', ['-c', pager], { env, stdio: ['pipe', 'inherit', 'inherit'] });
    const end = () => {
      process.off('SIGINT', ignore);
      resolve();
    };
    child.on('error', () => {
      context.out(text);
      end();
    });
    child.on('close', end);
    child.stdin.on('error', () => undefined); // the reader has seen enough
    child.stdin.end(text);
  });
}
