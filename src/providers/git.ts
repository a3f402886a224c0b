/** Works everywhere: agt copies files by itself, and git keeps what a session held. */
import { existsSync, mkdirSync } from 'node:fs';
import { removeTree } from '../disk/remove-tree.ts';
import { AgtError } from '../errors.ts';
import { type Provider, refuseUnwritable } from './provider.ts';
import { carriesNonce, type Token } from './token.ts';

const SCORE = 50;

export const gitProvider: Provider = {
  kind: 'git',
  find: (place) =>
    refuseUnwritable('git', place) ?? {
      ...{ kind: 'git', score: SCORE, clone: false, freeze: false, drop: 'slowly' },
      notes: ['works on every file system'],
    },
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
