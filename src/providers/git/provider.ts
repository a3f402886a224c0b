/** Works everywhere: agt copies files by itself, and git keeps what a session held. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError } from '../../errors.ts';
import type { Place } from '../place.ts';
import type { Finding, Provider } from '../provider.ts';
import { carriesNonce, type Token } from '../token.ts';

const SCORE = 50;

export const gitProvider: Provider = {
  kind: 'git',
  find,
  prepare: async ({ path }) => {
    mkdirSync(path, { recursive: true });
  },
  freeze: async () => {
    throw new AgtError('the provider git freezes no folder');
  },
  remove: async (token: Token, at = token.path) => {
    if (existsSync(at) && !carriesNonce(at, token)) return false;
    removeTree(at);
    return true;
  },
  walk: () => [],
};

function find({ existing }: Place): Finding {
  const common = { kind: 'git', clone: false, freeze: false, drop: 'slowly' } as const;
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    const hint = `let your user write to ${existing}`;
    return { ...common, score: 0, notes: [`${existing} is not writable`], hint };
  }
  return { ...common, score: SCORE, notes: ['works on every file system'] };
}
