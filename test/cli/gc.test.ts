/** agt gc deletes removed sessions and shrinks the object store. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { withIdleSessions } from '../../src/maintenance/retention/prune.ts';
import type { SessionId } from '../../src/session/id.ts';
import { withSessionLock } from '../../src/session/lock.ts';
import { writeRecord } from '../../src/session/record.ts';
import { endedDaysAgo, openSession } from '../harness/opened.ts';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { chain, exists, fsck, refs, texts } from './stored.ts';

let session: TestSession;
let repository: string;

beforeEach(() => {
  session = makeSession();
  ({ repository } = session);
});

function remove(id = 's1', daysAgo = 40): void {
  agtOk(repository, 'session', 'remove', '--id', id);
  endedDaysAgo({ ...session, id }, daysAgo);
}

describe('agt gc of removed sessions', () => {
  test('deletes snapshots older than agt.retention, and the work branch only if its commits are merged', async () => {
    write(join(session.sandbox, 'a'), 'x\n');
    git(session.sandbox, 'add', 'a');
    git(session.sandbox, 'commit', '-q', '-m', 'of the agent');
    agtOk(repository, 'session', 'new', '--id', 's2');
    const last = autocommit(session).commit ?? '';
    for (const id of ['s1', 's2']) git(repository, 'config', `branch.agt/${id}.remote`, 'origin');
    remove('s1');
    remove('s2');
    agtOk(repository, 'config', 'set', 'agt.retention', '41 days');
    const before = refs(repository);
    expect(agtOk(repository, 'gc')).not.toContain('deleted');
    expect(refs(repository)).toBe(before);

    agtOk(repository, 'config', 'set', 'agt.retention', '39d');
    const planned = agtOk(repository, 'gc', '--dry-run');
    expect(planned).toMatch(
      /^s1: would delete 2 of 2 snapshots \(.*\)\ns1: would keep agt\/s1 \(\w{10}\), .*\ns2: would delete 1 of 1 snapshot \(.*\)\ns2: would delete agt\/s2 \(\w{10}\): your branches have its commits\nwould free about .*, and what packing saves: objects older than 2 weeks now, younger ones in a later agt gc$/,
    );
    const { sessions } = JSON.parse(agtOk(repository, 'gc', '--dry-run', '--json'));
    expect(sessions).toMatchObject([{ work_branch_kept: 'agt/s1' }, { work_branch_kept: null }]);
    expect(refs(repository)).toBe(before);
    const output = agtOk(repository, 'gc', '--prune=now');
    expect(output).toMatch(
      /^s1: deleted .*\ns1: kept agt\/s1 \(\w{10}\), .*\ns2: deleted .*\ns2: deleted agt\/s2 \(\w{10}\): /,
    );
    expect(
      refs(repository)
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(['refs/heads/agt/s1', 'refs/heads/main']);
    expect(git(repository, 'config', '--get-regexp', '^branch')).toBe('branch.agt/s1.remote origin');
    expect(exists(repository, last)).toBe(false);
    expect(agtOk(repository, 'session', 'list', '--all')).toBe('');
    expect(
      ['sessions', 'scan', 'timestamps', 'locks'].flatMap((dir) =>
        readdirSync(join(repository, '.git/agt', dir)),
      ),
    ).toEqual([]);
    expect(fsck(repository)).toBe('');
  });

  test('keeps only snapshots that a person labelled', async () => {
    write(join(session.sandbox, 'a'), 'named\n');
    autocommit(session, '--label', 'tests pass');
    write(join(session.sandbox, 'a'), 'other\n');
    remove();
    expect(agtOk(repository, 'gc')).toContain('s1: kept the labelled ones, deleted 1 of 2 snapshots');
    expect(texts(repository)).toEqual(['named']);
    expect(agtOk(repository, 'gc')).not.toContain('labelled');
    expect(agt(repository, 'doctor').exitCode).toBe(0);
  });

  test('keeps all snapshots of a fork', async () => {
    write(join(session.sandbox, 'a'), 'shared\n');
    autocommit(session);
    agtOk(repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    const before = chain(repository, 's2');
    remove();
    agtOk(repository, 'gc', '--prune=now');
    expect(chain(repository, 's2')).toEqual(before);
    expect(fsck(repository)).toBe('');
  });

  test('finishes an interrupted deletion, which doctor reports', async () => {
    autocommit(session, '--label', 'named');
    remove('s1', 0);
    const { repository: opened, record } = openSession(session);
    writeRecord(opened, { ...record, intent: { operation: 'drop' } });
    git(repository, 'update-ref', '-d', 'refs/agt/tip/s1');
    expect(agt(repository, 'doctor').stdout).toContain('agt did not finish dropping the snapshots of it');
    agtOk(repository, 'gc');
    expect(refs(repository)).not.toContain('s1');
    expect(agtOk(repository, 'session', 'list', '--all')).toBe('');
  });

  test('keeps branches that are checked out in a worktree', async () => {
    write(join(session.sandbox, 'a'), 'x\n');
    remove();
    const look = join(repository, '../look');
    git(repository, 'worktree', 'add', '-q', look, 'agtsessions/s1');
    expect(agtOk(repository, 'gc')).toContain(`s1: skipped: agtsessions/s1 is checked out in ${look}`);
    git(look, 'checkout', '-q', 'agt/s1');
    expect(agtOk(repository, 'gc')).toContain('s1: deleted');
    expect(git(look, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('agt/s1');
  });
});

describe('the object store after agt gc', () => {
  /** Makes four old packs; most objects of the second one are unreachable. */
  function packed(): string[] {
    const oids: string[] = [];
    for (const [i, keep] of [true, false, true].entries()) {
      for (let j = 0; j < 20; j++) {
        write(join(repository, `f${i}-${j}`), `${i} ${j} ${Math.random()}\n`.repeat(50));
        oids.push(git(repository, 'hash-object', '-w', `f${i}-${j}`));
      }
      if (keep) git(repository, 'add', '-A');
      git(
        repository,
        '-c',
        'pack.packSizeLimit=0',
        'repack',
        '-d',
        '-q',
        '--geometric=2',
        '--keep-pack=none',
      );
    }
    return oids;
  }

  test('loses only unreachable objects, and only when they are old', () => {
    const oids = packed();
    const gone = oids.slice(20, 40);
    git(repository, 'commit', '-q', '-m', 'files');
    for (const name of oids.slice(20, 40).map((_, j) => join(repository, `f1-${j}`))) write(name, 'x');
    git(repository, 'rm', '-q', '--cached', '-r', '--ignore-unmatch', ...gone.map((_, j) => `f1-${j}`));
    git(repository, 'commit', '-q', '--amend', '-m', 'files');
    git(repository, 'reflog', 'expire', '--expire=now', '--all');
    const there = () => gone.filter((oid) => exists(repository, oid)).length;
    expect(there()).toBe(20);
    agtOk(repository, 'gc');
    expect(there()).toBe(20);
    const dir = join(repository, '.git/objects/pack');
    for (const name of readdirSync(dir)) utimesSync(join(dir, name), 1e9, 1e9);
    agtOk(repository, 'gc', '--prune=never');
    expect(there()).toBe(20);
    agtOk(repository, 'gc');
    expect(there()).toBe(0);
    expect(fsck(repository)).toBe('');
    expect(git(repository, 'status', '--porcelain', '--untracked-files=no')).toBe('');
  });

  test('names the temporary files of a killed git, those that go and those that stay', () => {
    const pack = join(repository, '.git/objects/pack');
    for (const name of ['tmp_pack_old', 'tmp_idx_old', 'tmp_pack_new'])
      write(join(pack, name), 'x'.repeat(2000));
    for (const name of ['tmp_pack_old', 'tmp_idx_old']) utimesSync(join(pack, name), 1e9, 1e9);
    const { stdout, stderr } = agt(repository, 'gc', '--progress');
    expect(stdout).toMatch(
      /^removed what a killed git had left: pack\/tmp_(pack|idx)_old, .* \(3.91 KiB\)$/m,
    );
    expect(stdout).toMatch(/^left, because git may be writing it: pack\/tmp_pack_new \(1.95 KiB\); /m);
    expect(stderr).toBe('');
    expect(JSON.parse(agtOk(repository, 'gc', '--prune=now', '--json')).disk).toMatchObject({
      garbage_removed: [{ path: 'pack/tmp_pack_new', bytes: 2000 }],
      garbage_left: [],
    });
    expect(agtOk(repository, 'gc')).not.toContain('killed');
  });

  test('stays as it is if --prune is not a time', () => {
    remove();
    const before = refs(repository);
    const refused = agt(repository, 'gc', '--prune=soon');
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^error: "soon" is not a time\nhint: /);
    expect(refs(repository)).toBe(before);
  });

  test('shrinks only while no autocommit runs: agt gc waits for running ones, and new ones wait for agt gc', async () => {
    const { repository: opened, record } = openSession(session);
    const order: string[] = [];
    const step = async (name: string, ms: number) => {
      order.push(`${name} begins`);
      await sleep(ms);
      order.push(`${name} ends`);
    };
    const before = withSessionLock({ repository: opened, id: record.session_id }, () => step('capture', 300));
    while (order.length === 0) await sleep(5);
    const gc = withIdleSessions(opened, () => step('gc', 300));
    while (!existsSync(join(repository, '.git/agt/locks/.prune'))) await sleep(5);
    // A session that did not exist when the removal began waits as well.
    const after = withSessionLock({ repository: opened, id: 's2' as SessionId }, () =>
      step('new session', 0),
    );
    await Promise.all([before, gc, after]);
    expect(order).toEqual(
      ['capture', 'gc', 'new session'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
    expect(readdirSync(join(repository, '.git/agt/locks'))).toEqual([]);
  });

  test('keeps a pack that the user marked with .keep', () => {
    packed();
    git(repository, 'repack', '-a', '-d', '-q', '-k');
    const dir = join(repository, '.git/objects/pack');
    const [pack = ''] = readdirSync(dir).filter((name) => name.endsWith('.pack'));
    write(join(dir, pack.replace(/pack$/, 'keep')), '');
    git(repository, 'rm', '-q', '-r', '--cached', '.');
    agtOk(repository, 'gc', '--prune=now');
    expect(readdirSync(dir)).toContain(pack);
  });

  test('does not grow by packs that a promisor has left which is gone', () => {
    const dir = join(repository, '.git/objects/pack');
    const sizeOf = (name: string) => statSync(join(dir, name)).size;
    const total = () => readdirSync(dir).reduce((sum, name) => sum + sizeOf(name), 0);
    write(join(repository, 'large'), randomBytes(100_000));
    git(repository, 'add', 'large');
    git(repository, 'commit', '-qm', 'large');
    git(repository, 'repack', '-a', '-d', '-q');
    const [pack = ''] = readdirSync(dir).filter((name) => name.endsWith('.pack'));
    write(join(dir, pack.replace(/pack$/, 'promisor')), '');
    write(join(repository, 'gone'), randomBytes(20_000));
    git(repository, 'add', 'gone');
    git(repository, 'repack', '-d', '-q');
    git(repository, 'rm', '-q', '--cached', 'gone');
    const before = total();
    agtOk(repository, 'gc', '--prune=now');
    expect(total()).toBeLessThanOrEqual(before);
    expect(git(repository, 'fsck', '--no-dangling')).toBe('');
  });

  test('a dry run counts unreachable objects that would go, and no others', () => {
    agtOk(repository, 'gc', '--prune=now');
    const dryRun = () => agtOk(repository, 'gc', '--prune=now', '-n');
    expect(dryRun()).toBe('nothing to delete; packing objects anew may free space all the same');
    const path = join(repository, 'file');
    write(path, 'unreachable\n');
    git(repository, 'hash-object', '-w', path);
    expect(dryRun()).toMatch(/^would free about \d+ bytes, and what packing saves$/);
    const young = /(?<=^|\n)(note: )?(.* is unreachable but still too young; .*)\n/;
    expect(agt(repository, 'gc', '-n')).toMatchObject({
      stdout: 'nothing to delete; packing objects anew may free space all the same\n',
      stderr: expect.stringMatching(/^note: \d+ bytes is unreachable but still too young; .*\n$/),
    });
    const [dry, done] = [agt(repository, 'gc', '-n').stderr, agt(repository, 'gc').stdout];
    expect(young.exec(dry)?.[2]).toBe(young.exec(done)?.[2]);
    agtOk(repository, 'gc', '--prune=now');
    expect(dryRun()).toBe('nothing to delete; packing objects anew may free space all the same');
  });

  test('calls nothing young that --prune=now would leave, in a pack that is not worth rewriting', () => {
    write(join(repository, 'large'), randomBytes(100_000));
    write(join(repository, 'gone'), 'gone\n');
    git(repository, 'add', 'large', 'gone');
    git(repository, 'repack', '-a', '-d', '-q');
    git(repository, 'rm', '-q', '--cached', 'gone');
    write(join(repository, 'gone'), 'loose\n');
    git(repository, 'hash-object', '-w', 'gone');
    const sizes = (...words: string[]): { bytes: number; young: number } =>
      JSON.parse(agtOk(repository, 'gc', '-n', '--json', ...words));
    const { young } = sizes();
    expect(young).toBeGreaterThan(0);
    expect(sizes('--prune=now')).toMatchObject({ bytes: young, young: 0 });
    agtOk(repository, 'gc', '--prune=now');
    expect(agt(repository, 'gc', '-n').stderr).toBe('');
    expect(sizes()).toMatchObject({ bytes: 0, young: 0 });
  });

  test('deletes files that a killed git left, although there is nothing else to delete', () => {
    agtOk(repository, 'gc', '--prune=now');
    const left = join(repository, '.git/objects/pack/tmp_pack_abcdef');
    write(left, 'half a pack');
    agtOk(repository, 'gc', '--prune=never');
    expect(existsSync(left)).toBe(true);
    agtOk(repository, 'gc', '--prune=now');
    expect(existsSync(left)).toBe(false);
  });
});

test.each([
  [['--folders', '--pushed'], '--folders and --pushed cannot go together'],
  [['--daily'], '--daily goes only with --folders'],
])('agt gc %s is refused', (words, message) => {
  const refused = agt('/', 'gc', ...words);
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`error: ${message}\n`) });
});
