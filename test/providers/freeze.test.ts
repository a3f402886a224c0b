/** Captures of a frozen folder on btrfs, while an agent writes. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { btrfsProvider } from '../../src/providers/btrfs.ts';
import { isWhole } from '../../src/providers/choose.ts';
import { listMoments } from '../../src/workspace/moments.ts';
import { btrfsProblem, type Disk, fillDisk, mountBtrfs } from '../harness/disks.ts';
import {
  autocommit,
  onDisk,
  sessionIn,
  sessionOf,
  snapshotFolder,
  snapshotTree,
  type TestSession,
  tryAutocommit,
} from '../harness/session.ts';
import { agtOk, git, makeRepositoryAt, makeTempDir, write } from '../harness/world.ts';
import { writeMany } from './write-many.ts';

const problem = btrfsProblem();

/** Replaces, edits, moves and removes files for ever. */
const WRITER = `
  const fs = require('node:fs');
  fs.mkdirSync('d', { recursive: true });
  for (let n = 0; ; n++) {
    const name = (n % 5 === 0 ? 'd/' : '') + 'w' + (n % 40);
    try {
      if (n % 4 === 0) fs.writeFileSync(name, String(n).padStart(8));
      else if (n % 4 === 1) fs.rmSync(name, { force: true });
      else if (n % 4 === 2) { fs.writeFileSync('new', String(n).padStart(8)); fs.renameSync('new', name); }
      else if (n % 16 === 3) { fs.renameSync('d', 'e'); fs.renameSync('e', 'd'); }
      else fs.appendFileSync(name, 'x');
    } catch {}
  }`;

describe.skipIf(problem !== undefined)(`btrfs${problem === undefined ? '' : ` (${problem})`}`, () => {
  let disk: Disk;
  let repository: string;
  let session: TestSession;
  let state: string;

  beforeAll(() => {
    disk = mountBtrfs();
    state = makeTempDir('state');
    process.env['XDG_STATE_HOME'] = state;
    const files = { a: 'a\n', b: 'b\n', 'src/c': 'src/c\n' };
    repository = makeRepositoryAt(join(disk.path, 'project'), files);
    session = sessionIn(repository);
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  const owner = ({ id, sandbox }: TestSession) => ({ session_id: id, sandbox });
  const agtDir = () => join(repository, '.git/agt');
  const moments = (of = session) => listMoments(agtDir(), owner(of));
  const view = (commit: string | null, of = session) =>
    moments(of).findLast((one) => one.commit === commit && isWhole(one.token))?.token.path;

  async function whileWriting<T>(cwd: string, action: () => T): Promise<T> {
    const writer: ChildProcess = spawn(process.execPath, ['-e', WRITER], { cwd, stdio: 'ignore' });
    try {
      return action();
    } finally {
      writer.kill('SIGKILL');
      await new Promise((resolve) => writer.on('exit', resolve));
    }
  }

  test('a small change and an unchanged folder freeze nothing', () => {
    writeMany(session.sandbox, 'few', 20);
    expect(autocommit(session).outcome).toBe('committed');
    expect(autocommit(session).outcome).toBe('unchanged');
    expect(moments()).toEqual([]);
    expect(existsSync(join(`${repository}.agt`, 'frozen/moment'))).toBe(false);
  });

  test('while an agent writes, each snapshot is exactly its frozen moment', async () => {
    await whileWriting(session.sandbox, () => {
      for (let round = 0; round < 5; round++) {
        writeMany(join(session.sandbox, `many${round % 3}`), `round ${round}`);
        if (round === 4) rmSync(join(session.sandbox, 'many0'), { recursive: true });
        const { commit, warnings, failed } = autocommit(session);
        expect([warnings, failed]).toEqual([[], []]);
        const folder = view(commit) as string;
        expect(folder).toContain('/frozen/moment-s1-');
        const frozen = { ...session, folder };
        expect(snapshotTree(session, commit as string)).toEqual(onDisk(frozen));
      }
    });
    autocommit(session);
    expect(autocommit(session).outcome).toBe('unchanged');
    expect(snapshotTree(session, 'agtsessions/s1')).toEqual(onDisk(session));
  });

  test('what lies on another file system inside is captured live', () => {
    agtOk(repository, 'session', 'new', 'nest');
    const own = sessionOf(repository, 'nest');
    expect(spawnSync('btrfs', ['subvolume', 'create', join(own.sandbox, 'inner')]).status).toBe(0);
    writeMany(join(own.sandbox, 'inner/deep'), 'inner', 5);
    mkdirSync(join(own.sandbox, 'mounted'));
    expect(spawnSync('mount', ['-t', 'tmpfs', 'none', join(own.sandbox, 'mounted')]).status).toBe(0);
    try {
      writeMany(join(own.sandbox, 'mounted/deep'), 'mounted', 5);
      writeMany(join(own.sandbox, 'many'), 'text');
      const { commit } = autocommit(own);
      expect(view(commit, own)).toBeDefined();
      expect(snapshotTree(own, commit as string)).toEqual(onDisk(own));
      writeMany(join(own.sandbox, 'many'), 'again');
      writeFileSync(join(own.sandbox, 'inner/deep/f1'), 'changed');
      const next = autocommit(own);
      expect(next.changes).toHaveLength(301);
      expect(snapshotTree(own, next.commit as string)).toEqual(onDisk(own));
      expect(autocommit(own).outcome).toBe('unchanged');
    } finally {
      spawnSync('umount', ['--lazy', join(own.sandbox, 'mounted')]);
    }
    agtOk(repository, 'session', 'remove', 'nest');
  });

  test('a fork of an earlier snapshot is a clone of the nearest moment, and equal to a fork by git', () => {
    agtOk(repository, 'session', 'new', 'origin');
    const own = sessionOf(repository, 'origin');
    const commits: string[] = [];
    const step = (change: () => void) => {
      change();
      const { commit } = autocommit(own);
      commits.push(commit as string);
    };
    const path = (name: string) => join(own.sandbox, name);
    step(() => writeMany(path('many'), 'one'));
    step(() => {
      write(path('a'), 'edited\n');
      write(path('run.sh'), '#!/bin/sh\n', 0o755);
      write(path('many/f3'), 'edited\n', 0o600);
      rmSync(path('many/f4'));
      mkdirSync(path('empty/inner'), { recursive: true });
      write(join(own.folder, '.agtignore'), '*.tmp\n');
      write(path('x.tmp'), 'never captured');
      git(own.sandbox, 'add', 'run.sh');
    });
    step(() => {
      writeMany(path('many'), 'two');
      rmSync(path('empty'), { recursive: true });
      git(own.sandbox, 'commit', '-q', '-m', 'run');
    });
    step(() => write(join(own.folder, '.agtignore'), '*.log\n'));
    expect(commits.map((commit) => view(commit, own) !== undefined)).toEqual([true, false, true, false]);
    write(path('a'), 'the newest');
    for (const n of [1, 3]) {
      const commit = commits[n] as string;
      const ids = [`by-clone${n}`, `by-git${n}`] as const;
      agtOk(repository, 'session', 'fork', 'origin', '--at', commit, '--id', ids[0]);
      agtOk(repository, 'session', 'fork', 'origin', '--at', commit, '--id', ids[1], '--fs-snapshots', 'git');
      const [clone, byGit] = ids.map((id) => sessionOf(repository, id)) as [TestSession, TestSession];
      const facts = (of: TestSession) => [
        git(of.sandbox, 'status', '--porcelain'),
        git(of.sandbox, 'ls-files', '--stage'),
        git(of.sandbox, 'rev-parse', 'HEAD'),
        readdirSync(of.folder).filter((name) => name !== '.agt-token'),
        autocommit(of).outcome,
      ];
      expect(snapshotFolder(clone.folder)).toEqual(snapshotFolder(byGit.folder));
      expect(facts(clone)).toEqual(facts(byGit));
      const inode = (of: TestSession) => statSync(join(of.sandbox, 'src/c')).ino;
      expect([inode(clone) === inode(own), inode(byGit) === inode(own)]).toEqual([true, false]);
      for (const id of ids) agtOk(repository, 'session', 'remove', id);
    }
    agtOk(repository, 'session', 'remove', 'origin');
  });

  test('fs.keep moments stay, and go with the session', () => {
    agtOk(repository, 'config', 'set', 'fs.keep', '2');
    for (let round = 0; round < 3; round++) {
      writeMany(join(session.sandbox, 'kept'), `kept ${round}`);
      autocommit(session);
    }
    const kept = moments();
    expect(kept).toHaveLength(2);
    const frozen = () =>
      readdirSync(join(`${repository}.agt`, 'frozen')).filter((name) => /^moment/.test(name));
    expect(frozen().sort()).toEqual(kept.map(({ token }) => token.path.split('/').at(-1)).sort());
    expect(readdirSync(join(agtDir(), 'frozen/s1')).sort()).toEqual(
      kept.flatMap(({ number }) => [`${number}.json`, `${number}.scan`]).sort(),
    );
    const { last_frozen: last } = JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json'));
    expect([last.folder, last.commit]).toEqual([kept[1]?.token.path, kept[1]?.commit]);
    expect(agtOk(repository, 'session', 'show', 's1')).toMatch(
      /^last frozen +\d+ seconds? ago, snapshot \w+: \//m,
    );
    expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
    agtOk(repository, 'session', 'remove', 's1');
    expect([frozen(), existsSync(join(agtDir(), 'frozen/s1'))]).toEqual([[], false]);
    agtOk(repository, 'session', 'restore', 's1', '--to', '@');
    agtOk(repository, 'config', 'set', 'fs.keep', '0');
    writeMany(join(session.sandbox, 'kept'), 'without a moment');
    autocommit(session);
    expect([frozen(), moments()]).toEqual([[], []]);
    agtOk(repository, 'config', 'unset', 'fs.keep');
  });

  test('with every frozen folder deleted by hand, all commands still work', () => {
    writeMany(join(session.sandbox, 'lost'), 'one');
    autocommit(session);
    writeMany(join(session.sandbox, 'lost'), 'two');
    autocommit(session);
    expect(moments()).toHaveLength(2);
    for (const { token } of moments())
      expect(spawnSync('btrfs', ['subvolume', 'delete', token.path]).status).toBe(0);
    const [, first] = git(repository, 'rev-list', '--first-parent', 'agtsessions/s1').split('\n');
    expect(view(first as string)).toBeUndefined();
    agtOk(repository, 'session', 'fork', 's1', '--at', '@{1}', '--id', 'lost-fork');
    expect(readFileSync(join(sessionOf(repository, 'lost-fork').sandbox, 'lost/f1'), 'utf8')).toBe('one 1\n');
    agtOk(repository, 'session', 'restore', 's1', '--to', '@{1}');
    expect(readFileSync(join(session.sandbox, 'lost/f1'), 'utf8')).toBe('one 1\n');
    agtOk(repository, 'undo', 's1');
    expect(readFileSync(join(session.sandbox, 'lost/f1'), 'utf8')).toBe('two 1\n');
    agtOk(repository, 'session', 'show', 's1');
    expect(agtOk(repository, 'doctor', '--fix')).toContain('a lease of a folder that is gone');
    expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
    for (const id of ['lost-fork', 's1']) agtOk(repository, 'session', 'remove', id);
    expect(btrfsProvider.walk(join(`${repository}.agt`, 'sessions'))).toEqual([]);
  });

  test('on a full disk agt says so, the last snapshot stands, and nothing is left', () => {
    agtOk(repository, 'session', 'new', 'full');
    const own = sessionOf(repository, 'full');
    const { commit } = autocommit(own);
    for (let n = 0; n < 300; n++) writeFileSync(join(own.sandbox, `f${n}`), randomBytes(100_000));
    const empty = fillDisk(disk);
    const refused = tryAutocommit(own);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/^error: .*(space|full)/i)]);
    expect(git(repository, 'rev-parse', 'agtsessions/full')).toBe(commit);
    empty();
    expect(moments(own)).toEqual([]);
    expect(autocommit(own).changes).toHaveLength(300);
    expect(snapshotTree(own, 'agtsessions/full')).toEqual(onDisk(own));
    expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
    agtOk(repository, 'session', 'remove', 'full');
  });
});
