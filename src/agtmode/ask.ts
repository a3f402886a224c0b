/** Asks a person a question. */
import type { Context } from './context.ts';

/** No, if nobody can answer. */
export async function askYesOrNo({ interactive }: Context, question: string): Promise<boolean> {
  return interactive && /^y(es)?$/i.test(await ask(`${question} [y/N] `));
}

/** For a terminal. */
export async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
}
