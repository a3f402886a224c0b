/** Words that every JSON output uses in one sense. docs/guide/json.md explains them, and a test compares. */

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

/** The fate of a file. */
export function fileStatus(kind: keyof typeof STATUS): (typeof STATUS)[keyof typeof STATUS] {
  return STATUS[kind];
}
