import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { withIdleSessions } from '../../src/maintenance/retention/idle-sessions.ts';
import type { SessionId } from '../../src/session/id.ts';
import { withSessionLock } from '../../src/session/lock.ts';
import { writeRecord } from '../../src/session/record.ts';
import { autocommitAt, endedDaysAgo, openSession } from '../harness/opened.ts';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, REAL_GIT, write } from '../harness/world.ts';

let session: TestSession;
let repository: string;

beforeEach(() => {
  session = makeSession();
  ({ repository } = session);
});

/** Makes a snapshot that is `ago` old, with `text` in the file `a`. */
async function snapshot(ago: { days?: number; minutes?: number }, text: string, marks = {}): Promise<string> {
  write(join(session.sandbox, 'a'), `${text}\n`);
  const back = (ago.days ?? 0) * 86_400_000 + (ago.minutes ?? 0) * 60_000;
  // At noon, so that no test crosses the end of an hour or a day.
  const noon = new Date();
  noon.setUTCHours(12, 0, 0, 0);
  return autocommitAt(session, new Date(noon.getTime() - back), marks);
}

function chain(id = 's1'): string[] {
  const range = ['rev-list', '--first-parent', `agtsessions/${id}`, '^main'];
  return git(repository, ...range).split('\n');
}

const texts = (id?: string) => chain(id).map((commit) => git(repository, 'show', `${commit}:sandbox/a`));
const refs = () => git(repository, 'for-each-ref', '--format=%(refname) %(objectname)');
const objects = () => git(repository, 'cat-file', '--batch-all-objects', '--batch-check').split('\n').sort();
const exists = (oid: string) => objects().some((line) => line.startsWith(oid));
const fsck = () => git(repository, 'fsck', '--strict', '--full', '--no-dangling');

function remove(id = 's1', daysAgo = 40): void {
  agtOk(repository, 'session', 'remove', '--id', id);
  endedDaysAgo({ ...session, id }, daysAgo);
}

describe('agt gc --thin', () => {
  test('keeps tree, message and dates of the snapshots that it keeps, on a shorter chain', async () => {
    await snapshot({ days: 20, minutes: 2 }, 'first');
    await snapshot({ days: 20, minutes: 1 }, 'goes 1');
    await snapshot({ days: 20 }, 'day');
    await snapshot({ days: 3, minutes: 2 }, 'goes 2');
    await snapshot({ days: 3, minutes: 1 }, 'named', { label: 'tests pass' });
    await snapshot({ days: 3 }, 'hour');
    autocommit(session);
    write(join(session.sandbox, 'a'), 'now\n');
    autocommit(session);
    const before = new Map(texts().map((text, i) => [text, chain()[i] ?? '']));
    const dates = (commit: string) =>
      git(repository, 'show', '-s', '--format=%T %an %ae %at %cn %ct %B', commit);

    const output = agtOk(repository, 'gc', '--thin');
    expect(output).toMatch(/^s1: thinned out, deleted 2 of 7 snapshots \([\d.]+ (bytes|KiB)\)\n/);
    expect(texts()).toEqual(['now', 'hour', 'named', 'day', 'first']);
    for (const commit of chain()) {
      const old = before.get(git(repository, 'show', `${commit}:sandbox/a`)) ?? '';
      expect(dates(commit)).toBe(dates(old));
    }
    expect(git(repository, 'rev-parse', 'refs/agt/tip/s1')).toBe(chain()[0]);
    expect(chain().at(-1)).toBe(before.get('first'));
    expect(fsck()).toBe('');
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', warnings: [] });
    expect(agtOk(repository, 'gc', '--thin')).not.toContain('thinned out');
  });

  test('keeps commits of the agent and the user reachable that only a deleted snapshot referred to', async () => {
    await snapshot({ days: 9, minutes: 9 }, 'first');
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'amended away');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'of the user');
    const lost = ['agt/s1', 'main'].map((branch) => git(repository, 'rev-parse', branch));
    await snapshot({ days: 9, minutes: 8 }, 'goes');
    git(session.sandbox, 'reset', '-q', '--soft', 'HEAD~');
    git(repository, 'reset', '-q', '--soft', 'HEAD~');
    await snapshot({ days: 9, minutes: 7 }, 'goes too');
    await snapshot({ days: 9 }, 'stays');
    agtOk(repository, 'gc', '--thin');
    expect(texts()).toEqual(['stays', 'first']);
    const parents = git(repository, 'show', '-s', '--format=%P', 'agtsessions/s1').split(' ');
    expect(parents.slice(1)).toEqual([git(repository, 'rev-parse', 'main'), ...lost.reverse()]);
    git(repository, 'reflog', 'expire', '--expire=now', '--all');
    agtOk(repository, 'gc', '--prune=now');
    for (const commit of lost) expect(exists(commit)).toBe(true);
  });

  test('updates the name of the restored snapshot in a restore', async () => {
    await snapshot({ days: 9, minutes: 9 }, 'first');
    await snapshot({ days: 9, minutes: 8 }, 'goes');
    const source = await snapshot({ days: 9, minutes: 7 }, 'source');
    await snapshot({ days: 9, minutes: 6 }, 'source', { restored: { commit: source, by: 'restore' } });
    await snapshot({ days: 9 }, 'tip');
    agtOk(repository, 'gc', '--thin');
    const [, restoring, restored] = chain();
    expect(restored).not.toBe(source);
    const message = git(repository, 'show', '-s', '--format=%B', restoring ?? '');
    expect(message).toContain(`Agt-Restored: ${restored}\n`);
    expect(message).toContain(`agt restore to ${restored?.slice(0, 10)}\n`);
    expect(message).not.toContain(source.slice(0, 10));
  });

  test('frees disk space with --prune=now, but keeps snapshots that a fork needs', async () => {
    const kept = await snapshot({ days: 9, minutes: 9 }, 'held by the fork');
    await snapshot({ days: 9, minutes: 8 }, 'held by the fork, too');
    agtOk(repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    const dropped = await snapshot({ days: 8, minutes: 9 }, 'goes');
    const blob = git(repository, 'rev-parse', `${dropped}:sandbox/a`);
    await snapshot({ days: 8 }, 'stays');
    const fork = chain('s2');
    agtOk(repository, 'gc', '--thin');
    expect(exists(dropped)).toBe(true);
    agtOk(repository, 'gc', '--prune=now');
    expect(exists(dropped)).toBe(false);
    expect(exists(blob)).toBe(false);
    expect(chain('s2')).toEqual(fork);
    expect(git(repository, 'show', `${kept}:sandbox/a`)).toBe('held by the fork');
    expect(fsck()).toBe('');
    expect(autocommit(session).outcome).toBe('unchanged');
    expect(autocommit({ ...session, id: 's2' }).warnings).toEqual([]);
  });

  test('waits for a running autocommit', async () => {
    await snapshot({ days: 9, minutes: 9 }, 'first');
    await snapshot({ days: 9, minutes: 8 }, 'goes');
    await snapshot({ days: 9 }, 'tip');
    const { repository: opened, record } = openSession(session);
    let free = false;
    const capture = withSessionLock(opened, record.session_id, async () => {
      await sleep(1000);
      free = true;
    });
    const env = { ...process.env, AGT_GIT_PATH: REAL_GIT };
    const { stdout } = await promisify(execFile)(AGT, ['gc', '--thin'], { cwd: repository, env });
    expect(stdout).toContain('s1: thinned out, deleted 1 of 3 snapshots');
    expect(free).toBe(true);
    await capture;
  });

  test('works in a sha256 repository', async () => {
    repository = join(makeTempDir(), 'project');
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main', '--object-format=sha256');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
    const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json'));
    session = { repository, sandbox, folder: join(sandbox, '..'), id: 's1' };
    await snapshot({ days: 9, minutes: 9 }, 'first');
    const dropped = await snapshot({ days: 9, minutes: 8 }, 'goes');
    await snapshot({ days: 9 }, 'tip');
    agtOk(repository, 'gc', '--thin', '--prune=now');
    expect(texts()).toEqual(['tip', 'first']);
    expect(exists(dropped)).toBe(false);
    expect(fsck()).toBe('');
  });

  test('works in a partial clone without access to its origin', async () => {
    const origin = session.repository;
    write(join(origin, 'old'), 'only in an old commit\n');
    git(origin, 'add', 'old');
    git(origin, 'commit', '-q', '-m', 'old');
    git(origin, 'rm', '-q', 'old');
    git(origin, 'commit', '-q', '-m', 'not any more');
    git(origin, 'config', 'uploadpack.allowFilter', 'true');
    repository = join(makeTempDir(), 'project');
    git(origin, 'clone', '-q', '--filter=blob:none', `file://${origin}`, repository);
    const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json'));
    session = { repository, sandbox, folder: join(sandbox, '..'), id: 's1' };
    await snapshot({ days: 9, minutes: 9 }, 'first');
    const dropped = await snapshot({ days: 9, minutes: 8 }, 'goes');
    await snapshot({ days: 9 }, 'tip');
    renameSync(origin, `${origin}.away`);
    agtOk(repository, 'config', 'set', 'agt.budget', '10m');
    const output = agtOk(repository, 'gc', '--thin', '--prune=now');
    expect(output).toContain('s1: thinned out, deleted 1 of 3 snapshots');
    expect(output).not.toContain('not worth rewriting');
    expect(texts()).toEqual(['tip', 'first']);
    expect(exists(dropped)).toBe(false);
    expect(JSON.parse(agtOk(repository, 'du', '--json')).total).toBeGreaterThan(100);
    expect(autocommit(session).outcome).toBe('unchanged');
    expect(fsck()).toBe('');
  });

  test('skips a session whose shadow branch was moved', async () => {
    await snapshot({ days: 9, minutes: 9 }, 'first');
    await snapshot({ days: 9, minutes: 8 }, 'goes');
    await snapshot({ days: 9 }, 'tip');
    git(repository, 'branch', '-f', 'agtsessions/s1', 'main');
    const before = refs();
    expect(agtOk(repository, 'gc', '--thin')).toContain('s1: skipped: agtsessions/s1 was moved');
    expect(refs()).toBe(before);
  });

  test('does not touch active sessions without --thin', async () => {
    await snapshot({ days: 90, minutes: 9 }, 'first');
    await snapshot({ days: 90, minutes: 8 }, 'second');
    await snapshot({ days: 90 }, 'tip');
    const before = refs();
    expect(agtOk(repository, 'gc')).toMatch(/^object store: /);
    expect(refs()).toBe(before);
  });
});

describe('agt gc of removed sessions', () => {
  test('deletes snapshots older than agt.retention, and the work branch only if its commits are merged', async () => {
    write(join(session.sandbox, 'a'), 'x\n');
    git(session.sandbox, 'add', 'a');
    git(session.sandbox, 'commit', '-q', '-m', 'of the agent');
    agtOk(repository, 'session', 'new', '--id', 's2');
    const last = autocommit(session).commit ?? '';
    remove('s1');
    remove('s2');
    agtOk(repository, 'config', 'set', 'agt.retention', '41 days');
    const before = refs();
    expect(agtOk(repository, 'gc')).not.toContain('deleted');
    expect(refs()).toBe(before);

    agtOk(repository, 'config', 'set', 'agt.retention', '39d');
    const planned = agtOk(repository, 'gc', '--dry-run');
    expect(planned).toMatch(
      /^s1: would delete 2 of 2 snapshots \(.*\)\ns2: would delete 1 of 1 snapshot \(.*\)\nwould free .*$/,
    );
    expect(refs()).toBe(before);
    const output = agtOk(repository, 'gc', '--prune=now');
    expect(output).toMatch(/^s1: deleted .*\ns1: kept agt\/s1, .*\ns2: deleted /);
    expect(
      refs()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(['refs/heads/agt/s1', 'refs/heads/main']);
    expect(exists(last)).toBe(false);
    expect(agtOk(repository, 'session', 'list', '--all')).toBe('');
    expect(
      ['sessions', 'scan', 'timestamps', 'locks'].flatMap((dir) =>
        readdirSync(join(repository, '.git/agt', dir)),
      ),
    ).toEqual([]);
    expect(fsck()).toBe('');
  });

  test('keeps only snapshots that a person labelled', async () => {
    write(join(session.sandbox, 'a'), 'named\n');
    autocommit(session, '--label', 'tests pass');
    write(join(session.sandbox, 'a'), 'other\n');
    remove();
    expect(agtOk(repository, 'gc')).toContain('s1: kept the labelled ones, deleted 1 of 2 snapshots');
    expect(texts()).toEqual(['named']);
    expect(agtOk(repository, 'gc')).not.toContain('labelled');
    expect(agt(repository, 'doctor').exitCode).toBe(0);
  });

  test('keeps all snapshots of a fork', async () => {
    write(join(session.sandbox, 'a'), 'shared\n');
    autocommit(session);
    agtOk(repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    const before = chain('s2');
    remove();
    agtOk(repository, 'gc', '--prune=now');
    expect(chain('s2')).toEqual(before);
    expect(fsck()).toBe('');
  });

  test('finishes an interrupted deletion, which doctor reports', async () => {
    autocommit(session, '--label', 'named');
    remove('s1', 0);
    const { repository: opened, record } = openSession(session);
    writeRecord(opened, { ...record, intent: { operation: 'drop' } });
    git(repository, 'update-ref', '-d', 'refs/agt/tip/s1');
    expect(agt(repository, 'doctor').stdout).toContain('agt did not finish dropping its snapshots');
    agtOk(repository, 'gc');
    expect(refs()).not.toContain('s1');
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
    const there = () => gone.filter(exists).length;
    expect(there()).toBe(20);
    agtOk(repository, 'gc');
    expect(there()).toBe(20);
    const dir = join(repository, '.git/objects/pack');
    for (const name of readdirSync(dir)) utimesSync(join(dir, name), 1e9, 1e9);
    agtOk(repository, 'gc', '--prune=never');
    expect(there()).toBe(20);
    agtOk(repository, 'gc');
    expect(there()).toBe(0);
    expect(fsck()).toBe('');
    expect(git(repository, 'status', '--porcelain', '--untracked-files=no')).toBe('');
  });

  test('stays as it is if --prune is not a time', () => {
    remove();
    const before = refs();
    const refused = agt(repository, 'gc', '--prune=soon');
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^error: "soon" is not a time\nhint: /);
    expect(refs()).toBe(before);
  });

  test('shrinks only while no autocommit runs: agt gc waits for running ones, and new ones wait for agt gc', async () => {
    const { repository: opened, record } = openSession(session);
    const order: string[] = [];
    const step = async (name: string, ms: number) => {
      order.push(`${name} begins`);
      await sleep(ms);
      order.push(`${name} ends`);
    };
    const before = withSessionLock(opened, record.session_id, () => step('capture', 300));
    const gc = withIdleSessions(opened, () => step('gc', 300));
    await sleep(50);
    // A session that did not exist when the removal began waits as well.
    const after = withSessionLock(opened, 's2' as SessionId, () => step('new session', 0));
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
});
