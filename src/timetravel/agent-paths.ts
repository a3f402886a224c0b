/**
 * Paths as the agent knows them: relative to the sandbox (restore/scope.ts reads what people write). The session's other
 * folders are named plainly, `xdg/log`, `config/x`; where the sandbox has an `xdg` or `config` of its own at its top, the
 * plain name is the sandbox's and theirs is `../xdg/log`, which always works.
 */

import { type Git, gitText } from '../git/run/git.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';

/** Which of the session's other folders have a namesake at the top of the sandbox. */
export type Namesakes = ReadonlySet<string>;

export const OTHER_FOLDERS = TOP_FOLDERS.filter((top) => top !== 'sandbox');

/** `trees` are trees of session folders, or commits of them: a namesake in one of them counts for all. */
export async function readNamesakes(git: Git, trees: readonly string[]): Promise<Namesakes> {
  const asked = trees.flatMap((tree) =>
    OTHER_FOLDERS.map((name) => ({ name, object: `${tree}:sandbox/${name}` })),
  );
  const input = asked.map(({ object }) => `${object}\n`).join('');
  const answers = await gitText(git, ['cat-file', '--batch-check=there'], { input });
  const there = answers.split('\n').map((answer) => answer === 'there');
  return new Set(asked.filter((_, i) => there[i]).map(({ name }) => name));
}

/** From a path in the session folder to the agent's words. */
export function pathOfAgent(path: string, namesakes: Namesakes): string {
  if (path.startsWith('sandbox/')) return path.slice('sandbox/'.length);
  return namesakes.has(path.split('/')[0] ?? '') ? `../${path}` : path;
}

/** A pathspec of git's, in its parts. */
export interface Pathspec {
  /** `:(icase)`, `:!`; mostly empty. */
  readonly magic: string;
  readonly path: string;
}

/** `toFolder` is told a path without its magic; wildcards stay what they are: `*.c` is `sandbox/*.c`. */
export function pathspecInFolder(spec: string, toFolder: (path: string) => string): Pathspec {
  const [, magic = '', path = ''] = /^(:\([^)]*\)|:[!^/]+)?(.*)$/s.exec(spec) ?? [];
  return { magic, path: Buffer.from(toFolder(path), 'latin1').toString() };
}

export function excludes({ magic }: Pathspec): boolean {
  return /[!^]|exclude/.test(magic);
}
