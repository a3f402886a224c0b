/** A checkout of a user, an agent that works in it, and everything that must come back. */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { snapshotFolder } from '../../harness/session.ts';
import { agtOk, git, makeRepository, REAL_GIT, run, write } from '../../harness/world.ts';

export const FILES = {
  '.gitignore': '*.o\n',
  '.gitattributes': '*.crlf text eol=crlf\n',
  a: 'a\n',
  b: 'b\n',
  c: 'c\n',
  'dir/d': 'd\n',
  'e.crlf': 'one\ntwo\n',
};

/** A checkout with every kind of uncommitted work. */
export function busyCheckout(): string {
  const repository = makeRepository(FILES);
  const at = (path: string) => join(repository, path);
  write(at('a'), 'changed\n');
  write(at('b'), 'staged\n');
  git(repository, 'add', 'b');
  write(at('b'), 'changed after staging\n');
  rmSync(at('c'));
  git(repository, 'rm', '-q', 'dir/d');
  write(at('e.crlf'), 'lf\nand crlf\r\n');
  write(at('new dir/untracked \n name'), 'untracked\n', 0o600);
  write(at('staged'), 'only staged\n');
  git(repository, 'add', 'staged');
  write(at('intent'), 'to add\n');
  git(repository, 'add', '-N', 'intent');
  symlinkSync('a', at('link'));
  write(at('ignored.o'), 'ignored\n');
  write(at('program'), '#!/bin/sh\n', 0o755);
  writeFileSync(Buffer.concat([Buffer.from(`${repository}/bytes-`), Buffer.from([0xff, 0xfe])]), 'odd\n');
  return repository;
}

export interface Seen {
  readonly files: Map<string, string>;
  readonly index: string;
  readonly status: string;
  readonly head: string;
  readonly main: string;
}

/** Everything that must come back. */
export function look(repository: string): Seen {
  const files = snapshotFolder(join(repository, '..'), ['project']);
  for (const path of [...files.keys()]) if (path.startsWith('project/.git/')) files.delete(path);
  return {
    files,
    index: git(repository, 'ls-files', '--stage', '--debug').replace(
      /^ +(ctime|mtime|dev|uid|size).*\n?/gm,
      '',
    ),
    status: git(repository, 'status', '--porcelain'),
    head: git(repository, 'symbolic-ref', 'HEAD'),
    main: git(repository, 'rev-parse', 'main'),
  };
}

export function begin(repository: string, id = 's1', ...options: string[]): string {
  return agtOk(repository, 'session', 'new', id, '--working-copy', 'in-place', ...options);
}

export function metadata(repository: string, id = 's1') {
  return JSON.parse(readFileSync(join(repository, '.git/agt/sessions', `${id}.json`), 'utf8'));
}

/** The work of an agent: files, records, a commit. */
export function work(repository: string): void {
  write(join(repository, 'a'), 'by the agent\n');
  write(join(repository, 'agent'), 'agent\n');
  git(repository, 'add', 'agent');
  git(repository, 'commit', '-q', '-m', 'by the agent');
  write(join(repository, 'left/over'), 'left over\n');
  rmSync(join(repository, 'b'));
  agtOk(repository, 'session', 'record', '--tool', 'Edit', '--summary', 'work');
}

const KILLABLE = join(import.meta.dirname, '../../../dist/failure-points/main.cjs');

export function killedAt(point: string, repository: string, ...args: string[]): void {
  const env = { AGT_TEST_KILL_AT: `${point}#1`, AGT_GIT_PATH: REAL_GIT };
  expect(run(process.execPath, [KILLABLE, ...args], { cwd: repository, env }).exitCode).toBe(null);
}
