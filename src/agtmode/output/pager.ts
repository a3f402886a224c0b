/** Shows text as git shows its own output: through the user's pager if standard output is a terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { gitAnswer } from '../../git/run/git.ts';
import { hearingAlone } from '../../process/interrupts.ts';
import { isTerminal, type Text } from '../../process/streams.ts';
import type { Context } from '../context.ts';

/** Resolves to false once the user has left the pager. */
type Write = (text: Text) => Promise<boolean>;

export function showInPager(context: Context, text: Text): Promise<void> {
  return withPager(context, async (write) => void (text !== '' && (await write(text))));
}

/** The pager starts with the first text. Ctrl-C is for the pager; agt waits for its end. */
export async function withPager(context: Context, action: (write: Write) => Promise<void>): Promise<void> {
  const pager = isTerminal(1) ? await gitAnswer(await context.git(), ['var', 'GIT_PAGER']) : '';
  if (!pager || pager === 'cat') {
    return action(async (text) => {
      context.out(text);
      return true;
    });
  }
  let isOpen = true;
  const leave = () => {
    isOpen = false;
  };
  let opened: { readonly input: Writable; readonly end: Promise<unknown> } | undefined;
  const open = () => {
    const env = { LESS: 'FRX', LV: '-c', ...context.env }; // the defaults that git sets
    const child = spawn('/bin/sh', ['-c', pager], { env, stdio: ['pipe', 'inherit', 'inherit'] });
    const input = child.stdin.on('error', leave).on('close', leave);
    const end = once(child, 'close');
    end.catch(leave); // it is awaited below
    return { input, end };
  };
  const write: Write = async (text) => {
    opened ??= open();
    const { input, end } = opened;
    if (isOpen && !input.write(text)) await Promise.race([once(input, 'drain'), end]);
    return isOpen;
  };
  await hearingAlone(['SIGINT'], leave, async () => {
    try {
      await action(write);
    } catch (error) {
      if (isOpen) throw error; // Ctrl-C ends git as well
    } finally {
      opened?.input.end();
      await opened?.end;
    }
  });
}
