/** accept, unaccept, reject and sync, to be killed: a user branch, a user with uncommitted files, and a session. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { newestIsKept, type Place, type Scene, stateOf } from './scenes.ts';

/** Uncommitted files of the user: they never change. */
const OWN = {
  staged: 'staged by the user\n',
  untracked: 'untracked\n',
  other: 'changed\n',
  '.env': 'SECRET=1\n',
};
const STATUS = ' M other\nA  staged-by-user\n?? untracked';

function theUserWorks({ repository, sandbox }: Place): void {
  write(join(repository, 'other'), 'committed\n');
  git(repository, 'add', 'other');
  git(repository, 'commit', '-q', '-m', 'third');
  write(join(repository, 'other'), OWN.other);
  write(join(repository, 'staged-by-user'), OWN.staged);
  git(repository, 'add', 'staged-by-user');
  write(join(repository, 'untracked'), OWN.untracked);
  for (let n = 0; n < 20; n++) write(join(sandbox, `many/${n}`), `${n}\n`.repeat(500));
  write(join(repository, '.git/tip-before'), git(repository, 'rev-parse', 'main'));
}

const tipBefore = ({ repository }: Place) => readFileSync(join(repository, '.git/tip-before'), 'utf8');
const isLanded = ({ repository }: Place) =>
  agt(repository, 'git', 'cat-file', '-e', 'main:newest').exitCode === 0;

/** The worktree is where its branch is, and the user's own files are as before. */
function theUsersFilesAreKept(place: Place): void {
  const { repository } = place;
  expect(git(repository, 'status', '--porcelain')).toBe(STATUS);
  expect(readFileSync(join(repository, 'other'), 'utf8')).toBe(OWN.other);
  expect(readFileSync(join(repository, 'staged-by-user'), 'utf8')).toBe(OWN.staged);
  expect(readFileSync(join(repository, 'untracked'), 'utf8')).toBe(OWN.untracked);
  expect(readFileSync(join(repository, '.env'), 'utf8')).toBe(OWN['.env']);
  expect(existsSync(join(repository, 'newest'))).toBe(isLanded(place));
  expect(existsSync(join(repository, 'many/19'))).toBe(isLanded(place));
}

/** One commit of the work, however often agt was killed, and it can be taken back. */
function landsOnce(place: Place): void {
  const { repository } = place;
  theUsersFilesAreKept(place);
  if (!isLanded(place)) agtOk(repository, 'accept', 's1');
  theUsersFilesAreKept(place);
  expect(isLanded(place)).toBe(true);
  expect(git(repository, 'rev-list', '--count', `${tipBefore(place)}..main`)).toBe('1');
  comesBack(place);
}

function comesBack(place: Place): void {
  const { repository } = place;
  if (isLanded(place)) agtOk(repository, 'session', 'unaccept', 's1');
  expect(git(repository, 'rev-parse', 'main')).toBe(tipBefore(place));
  theUsersFilesAreKept(place);
  newestIsKept(place);
}

/** The user's commit is in the sandbox, and no merge is half done. */
function syncs(rebase: readonly string[]) {
  return (place: Place) => {
    const { repository, sandbox } = place;
    expect(stateOf(repository, 's1')).toBe('active');
    agtOk(repository, 'sync', 's1', ...rebase);
    expect(readFileSync(join(sandbox, 'other'), 'utf8')).toBe('committed\n');
    expect(readFileSync(join(sandbox, 'many/19'), 'utf8')).toBe('19\n'.repeat(500));
    theUsersFilesAreKept(place);
    newestIsKept(place);
  };
}

function committed(place: Place): void {
  theUserWorks(place);
  git(place.sandbox, 'add', '-A');
  git(place.sandbox, 'commit', '-q', '-m', 'by the agent');
}

export const LANDING_SCENES: readonly Scene[] = [
  { name: 'accept', prepare: theUserWorks, command: ['accept', 's1'], check: landsOnce },
  {
    name: 'accept with a hook that checks the files',
    prepare: (place) => {
      theUserWorks(place);
      write(join(place.repository, '.git/hooks/pre-merge-commit'), '#!/bin/sh\ntest -e newest\n', 0o755);
    },
    command: ['accept', 's1'],
    check: landsOnce,
  },
  {
    name: 'unaccept',
    prepare: (place) => {
      theUserWorks(place);
      agtOk(place.repository, 'accept', 's1');
    },
    command: ['session', 'unaccept', 's1'],
    check: comesBack,
  },
  { name: 'reject', prepare: theUserWorks, command: ['reject', 's1', '--reason', 'no'], check: comesBack },
  { name: 'sync', prepare: committed, command: ['sync', 's1'], check: syncs([]) },
  {
    name: 'sync --rebase',
    prepare: committed,
    command: ['sync', 's1', '--rebase'],
    check: syncs(['--rebase']),
  },
  {
    name: 'sync after accept --keep',
    prepare: (place) => {
      theUserWorks(place);
      agtOk(place.repository, 'accept', 's1', '--keep');
      write(join(place.sandbox, 'later'), 'later\n');
    },
    command: ['sync', 's1'],
    check: (place) => {
      syncs([])(place);
      expect(git(place.sandbox, 'status', '--porcelain', '--branch')).toBe('## agt/s1\n?? later');
      expect(git(place.sandbox, 'rev-parse', 'HEAD')).toBe(git(place.repository, 'rev-parse', 'main'));
    },
  },
];
