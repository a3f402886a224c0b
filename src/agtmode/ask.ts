/** Asks a person a question. */
import { constants } from 'node:os';
import { AgtError } from '../errors.ts';
import { onSignals } from '../process/interrupts.ts';
import type { Context } from './context.ts';

/** No, if nobody can answer. */
export async function askYesOrNo({ interactive }: Context, question: string, interrupted?: string) {
  return interactive && /^y(es)?$/i.test(await ask(`${question} [y/N] `, interrupted));
}

/** For a terminal. @throws AgtError on Ctrl-C and other signals. */
export async function ask(question: string, interrupted = 'interrupted; nothing has changed') {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const controller = new AbortController();
  let by: NodeJS.Signals = 'SIGINT';
  const release = onSignals((signal) => {
    by = signal;
    controller.abort();
  });
  try {
    return (await terminal.question(question, { signal: controller.signal })).trim();
  } catch (cause) {
    throw new AgtError(interrupted, { exitCode: 128 + constants.signals[by], cause });
  } finally {
    release();
    terminal.close();
  }
}
