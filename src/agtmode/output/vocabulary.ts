/** Words that every JSON output uses in one sense. docs/guide/json.md explains them, and a test compares. */

import type { DiffEntry } from '../../git/objects/raw-diff.ts';

const STATUS = {
  A: 'added',
  added: 'added',
  M: 'modified',
  changed: 'modified',
  mode: 'mode',
  D: 'deleted',
  deleted: 'deleted',
  '!': 'blocked',
} as const;

/** The fate of a file in a list for a person. */
export const LETTERS = { added: 'A', modified: 'M', mode: 'M', deleted: 'D', blocked: '!' } as const;

/** The fate of a file that a commit or snapshot changes. */
export function changeStatus({ before, after }: Pick<DiffEntry, 'before' | 'after'>) {
  return fileStatus(before === undefined ? 'A' : after === undefined ? 'D' : 'M');
}

/** The fate of a file. */
export function fileStatus(kind: keyof typeof STATUS): (typeof STATUS)[keyof typeof STATUS] {
  return STATUS[kind];
}
