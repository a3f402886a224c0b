/** Asks a person a question. */
import type { Context } from './context.ts';

/** No, if nobody can answer. */
export async function askYesOrNo({ interactive }: Context, question: string): Promise<boolean> {
  if (!interactive) return false;
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
