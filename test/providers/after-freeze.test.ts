/** The session folder changes after agt has frozen it on btrfs, and before agt has read it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listMoments } from '../../src/workspace/moments.ts';
import { btrfsProblem, type Disk, mountBtrfs } from '../harness/disks.ts';
import { autocommit, onDisk, sessionOf, snapshotTree } from '../harness/session.ts';
import { AGT, agtOk, git, makeRepositoryAt, makeTempDir, run, write } from '../harness/world.ts';
import { writeMany } from './write-many.ts';

const problem = btrfsProblem();

describe.skipIf(problem !== undefined)(`btrfs${problem === undefined ? '' : ` (${problem})`}`, () => {
  let disk: Disk;
  let repository: string;

  beforeAll(() => {
    disk = mountBtrfs();
    process.env['XDG_STATE_HOME'] = makeTempDir('state');
    repository = makeRepositoryAt(join(disk.path, 'project'), { a: 'a\n' });
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  /** A stand-in for btrfs(8) runs a script as soon as the folder is frozen. */
  function autocommitThen(script: string, id: string) {
    const bin = makeTempDir('bin');
    const real = spawnSync('sh', ['-c', 'command -v btrfs'], { encoding: 'utf8' }).stdout.trim();
    const body = `"${real}" "$@" || exit\ncase "$*" in *"snapshot -r"*) ${script};; esac\n`;
    write(join(bin, 'btrfs'), `#!/bin/sh\n${body}`, 0o755);
    const env = { PATH: `${bin}:${process.env['PATH']}` };
    return run(AGT, ['autocommit', id, '--json'], { cwd: repository, env });
  }

  test('a write after the freeze stays out, and the next capture has just that', () => {
    agtOk(repository, 'session', 'new', 'after');
    const own = sessionOf(repository, 'after');
    autocommit(own);
    writeMany(join(own.sandbox, 'many'), 'text');
    const late = `printf late > "${own.sandbox}/many/f7"; printf new > "${own.sandbox}/late"; rm "${own.sandbox}/many/f9"`;
    const first = autocommitThen(late, 'after');
    expect(JSON.parse(first.stdout).changes).toHaveLength(300);
    const tree = snapshotTree(own, 'agtsessions/after');
    expect([tree.get('sandbox/many/f7'), tree.has('sandbox/late'), tree.has('sandbox/many/f9')]).toEqual([
      '100644 text 7\n',
      false,
      true,
    ]);
    const next = autocommit(own);
    expect(next.changes.map(({ path, status }) => `${status} ${path}`).sort()).toEqual([
      'added sandbox/late',
      'deleted sandbox/many/f9',
      'modified sandbox/many/f7',
    ]);
    agtOk(repository, 'session', 'remove', 'after');
  });

  test('directories that became something else since the freeze are captured as they were', () => {
    agtOk(repository, 'session', 'new', 'became');
    const own = sessionOf(repository, 'became');
    const outside = makeTempDir('outside');
    writeMany(join(outside, 'deep'), 'of somebody else', 3);
    const names = ['link', 'mount', 'subvolume', 'file', 'gone'];
    for (const name of names) {
      writeMany(join(own.sandbox, name, 'deep'), name, 3);
      // A subvolume inside: the frozen folder does not have it, so agt looks at the live folder.
      const inner = join(own.sandbox, name, 'deep/inner');
      expect(spawnSync('btrfs', ['subvolume', 'create', inner]).status).toBe(0);
    }
    write(join(outside, 'deep/inner/secret'), 'secret\n');
    writeMany(join(own.sandbox, 'many'), 'text');
    const before = onDisk(own);
    const away = join(disk.path, 'away');
    mkdirSync(away);
    const late = `cd "${own.sandbox}" && for n in link subvolume file gone; do mv $n "${away}/$n"; done
      ln -s "${outside}" link; mount -t tmpfs none mount; mkdir -p mount/deep; echo new > mount/deep/f0
      btrfs subvolume create subvolume >&2; mkdir subvolume/deep; echo new > subvolume/deep/f0; echo new > file`;
    const first = autocommitThen(late, 'became');
    try {
      expect([first.exitCode, first.stderr]).toEqual([0, '']);
      expect(JSON.parse(first.stdout).commit).toBe(git(repository, 'rev-parse', 'agtsessions/became'));
      expect(
        listMoments(join(repository, '.git/agt'), { session_id: 'became', sandbox: own.sandbox }),
      ).toHaveLength(1);
      expect(snapshotTree(own, 'agtsessions/became')).toEqual(before);
      const next = autocommit(own);
      expect(next.failed).toEqual([]);
      expect(snapshotTree(own, 'agtsessions/became')).toEqual(onDisk(own));
    } finally {
      spawnSync('umount', ['--lazy', join(own.sandbox, 'mount')]);
    }
    agtOk(repository, 'session', 'remove', 'became');
  });
});
