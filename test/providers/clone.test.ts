/** The traps of a clone: agents that write meanwhile, borders of subvolumes, settings that change a checkout. */
import { spawn, spawnSync } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { btrfsProblem, type Disk, mountBtrfs } from '../harness/disks.ts';
import { autocommit, sessionOf, snapshotFolder } from '../harness/session.ts';
import { agtOk, git, makeRepositoryAt, makeTempDir, write } from '../harness/world.ts';

const problem = btrfsProblem();

/** Replaces, edits and removes files for ever. */
const WRITER = `
  const fs = require('node:fs');
  for (let n = 0; ; n++) {
    const name = 'w' + (n % 40);
    if (n % 3 === 0) fs.writeFileSync(name, String(n).padStart(8));
    else if (n % 3 === 1) fs.rmSync(name, { force: true });
    else { fs.writeFileSync('new', String(n).padStart(8)); fs.renameSync('new', 'w' + ((n * 7) % 40)); }
  }`;

function starting(directory: string) {
  return (start: string) => readdirSync(directory).find((name) => name.startsWith(start)) ?? start;
}

describe.skipIf(problem !== undefined)(`btrfs${problem === undefined ? '' : ` (${problem})`}`, () => {
  let disk: Disk;
  let repository: string;

  beforeAll(() => {
    disk = mountBtrfs();
    process.env['XDG_STATE_HOME'] = makeTempDir('state');
    const files = { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n', 'src/c': 'src/c\n' };
    repository = makeRepositoryAt(join(disk.path, 'project'), files);
    agtOk(repository, 'session', 'new', 's1');
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  const session = (id: string) => sessionOf(repository, id);

  test('while an agent writes, a fork is exactly its snapshot', async () => {
    const writer = spawn(process.execPath, ['-e', WRITER], { cwd: session('s1').sandbox, stdio: 'ignore' });
    try {
      for (const id of ['w1', 'w2', 'w3']) {
        agtOk(repository, 'session', 'fork', 's1', '--id', id);
        expect(autocommit(session(id)).changes).toEqual([]);
        const listed = git(repository, 'ls-tree', '-r', '--name-only', `agtsessions/${id}`, 'sandbox/');
        const onDisk = [...snapshotFolder(session(id).folder)].filter(
          ([, what]) => !what.startsWith('directory'),
        );
        expect(onDisk.map(([path]) => path).sort()).toEqual(listed.split('\n').sort());
      }
    } finally {
      writer.kill('SIGKILL');
      await new Promise((resolve) => writer.on('exit', resolve));
    }
  });

  test('a subvolume that an agent made is in the fork, and goes with the session', () => {
    agtOk(repository, 'session', 'new', 'nest');
    const { sandbox } = session('nest');
    expect(spawnSync('btrfs', ['subvolume', 'create', join(sandbox, 'inner')]).status).toBe(0);
    write(join(sandbox, 'inner/deep/x'), 'x\n');
    agtOk(repository, 'session', 'fork', 'nest', '--id', 'nest-fork');
    expect(snapshotFolder(session('nest-fork').folder)).toEqual(snapshotFolder(session('nest').folder));
    for (const id of ['nest', 'nest-fork']) agtOk(repository, 'session', 'remove', id);
    expect(
      readdirSync(join(`${repository}.agt`, 'sessions')).filter((name) => name.startsWith('nest')),
    ).toEqual([]);
    agtOk(repository, 'session', 'restore', 'nest', '--to', '@');
    expect(readFileSync(join(sandbox, 'inner/deep/x'), 'utf8')).toBe('x\n');
  });

  test('nobody inherits what somebody has written into a template or a frozen moment', () => {
    const frozen = join(`${repository}.agt`, 'frozen');
    agtOk(repository, 'session', 'new', 'many');
    const { sandbox } = session('many');
    for (let n = 0; n < 300; n++) write(join(sandbox, `many/${n}`), `${n}\n`);
    agtOk(repository, 'autocommit', 'many');
    for (const name of ['template', 'moment-many'].map(starting(frozen))) {
      const folder = join(frozen, name);
      expect(spawnSync('btrfs', ['property', 'set', '-ts', folder, 'ro', 'false']).status).toBe(0);
      writeFileSync(join(folder, 'sandbox/a.txt'), 'of somebody\n');
    }
    rmSync(join(sandbox, 'many/1'));
    agtOk(repository, 'autocommit', 'many');
    agtOk(repository, 'session', 'new', 'next');
    agtOk(repository, 'session', 'fork', 'many', '--at', '@{1}', '--id', 'earlier');
    for (const id of ['next', 'earlier']) {
      expect(readFileSync(join(session(id).sandbox, 'a.txt'), 'utf8')).toBe('a.txt\n');
      expect(git(session(id).sandbox, 'status', '--porcelain', 'a.txt')).toBe('');
    }
    for (const id of ['many', 'next', 'earlier']) agtOk(repository, 'session', 'remove', id);
  });

  test('two names of one file are two files in a fork', () => {
    const { sandbox } = session('s1');
    write(join(sandbox, 'one'), 'shared\n', 0o640);
    linkSync(join(sandbox, 'one'), join(sandbox, 'src/two'));
    autocommit(session('s1'));
    for (const [id, ...options] of [['linked'], ['moment', '--at', '@']]) {
      agtOk(repository, 'session', 'fork', 's1', '--id', id as string, ...options);
      const fork = session(id as string);
      expect(autocommit(fork).changes).toEqual([]);
      expect(statSync(join(fork.sandbox, 'src/two')).mode & 0o777).toBe(0o640);
      writeFileSync(join(fork.sandbox, 'one'), 'other\n');
      expect(readFileSync(join(fork.sandbox, 'src/two'), 'utf8')).toBe('shared\n');
    }
  });

  test('new attributes and settings make git write the files anew', () => {
    const read = (id: string) => readFileSync(join(session(id).sandbox, 'a.txt'), 'utf8');
    agtOk(repository, 'session', 'new', 'plain');
    writeFileSync(join(repository, '.gitattributes'), '*.txt eol=crlf\n');
    git(repository, 'add', '.gitattributes');
    git(repository, 'commit', '-q', '-m', 'attributes');
    agtOk(repository, 'session', 'new', 'attributes');
    agtOk(repository, 'session', 'new', 'before', '--from', 'main~1');
    write(join(repository, '.git/info/attributes'), '*.txt eol=lf\n');
    agtOk(repository, 'session', 'new', 'info');
    expect(['plain', 'attributes', 'before', 'info'].map(read)).toEqual([
      'a.txt\n',
      'a.txt\r\n',
      'a.txt\n',
      'a.txt\n',
    ]);
    write(join(repository, '.git/hooks/post-checkout'), '#!/bin/sh\ntouch hook-ran\n', 0o755);
    agtOk(repository, 'session', 'new', 'hook');
    expect(readdirSync(session('hook').sandbox)).toContain('hook-ran');
  });

  test('after a move of the repository, sessions are found, cloned and removed', () => {
    for (const path of ['.agt', '']) renameSync(repository + path, `${repository}-moved${path}`);
    repository = `${repository}-moved`;
    agtOk(repository, 'doctor', '--fix');
    agtOk(repository, 'session', 'fork', 's1', '--id', 'after');
    expect(autocommit(session('after')).changes).toEqual([]);
    for (const id of ['s1', 'after', 'plain', 'w1']) agtOk(repository, 'session', 'remove', id);
    expect(readdirSync(join(`${repository}.agt`, 'sessions'))).not.toContain('s1');
  });
});
