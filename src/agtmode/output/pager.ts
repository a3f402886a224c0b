/** Shows text as git shows its own output: through the user's pager if standard output is a terminal. */
import { spawn } from 'node:child_process';
import { gitAnswer } from '../../git/run/git.ts';
import { isTerminal } from '../../process/terminal.ts';
import type { Context } from '../context.ts';

export async function showInPager(context: Context, text: string): Promise<void> {
  const pager =
    text !== '' && isTerminal(1) ? await gitAnswer(await context.git(), ['var', 'GIT_PAGER']) : '';
  if (!pager || pager === 'cat') return context.out(text);
  await new Promise<void>((resolve) => {
    // Ctrl-C is for the pager; agt waits for its end.
    const ignore = () => undefined;
    process.on('SIGINT', ignore);
    const env = { LESS: 'FRX', LV: '-c', ...context.env }; // the defaults that git sets
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
    child.stdin.on('error', () => undefined); // the user has left the pager
    child.stdin.end(text);
  });
}
