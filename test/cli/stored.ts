/** Reads the snapshots, refs and objects of a repository. */
import { git } from '../harness/world.ts';

/** The snapshots of a session, newest first. */
export function chain(repository: string, id = 's1'): string[] {
  const range = ['rev-list', '--first-parent', `agtsessions/${id}`, '^main'];
  return git(repository, ...range).split('\n');
}

/** The content of the file `a` in each snapshot. */
export const texts = (repository: string, id?: string) =>
  chain(repository, id).map((commit) => git(repository, 'show', `${commit}:sandbox/a`));

export const refs = (repository: string) =>
  git(repository, 'for-each-ref', '--format=%(refname) %(objectname)');

export const exists = (repository: string, oid: string) =>
  git(repository, 'cat-file', '--batch-all-objects', '--batch-check')
    .split('\n')
    .some((line) => line.startsWith(oid));

export const fsck = (repository: string) => git(repository, 'fsck', '--strict', '--full', '--no-dangling');
