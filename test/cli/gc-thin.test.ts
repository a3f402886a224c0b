/** agt gc --thin deletes old snapshots of active sessions. */
import { execFile } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { withSessionLock } from '../../src/session/lock.ts';
import { autocommitAt, openSession } from '../harness/opened.ts';
import { autocommit, makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { AGT, agtOk, git, makeTempDir, REAL_GIT, write } from '../harness/world.ts';
import { chain, exists, fsck, refs, texts } from './stored.ts';

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
    const before = new Map(texts(repository).map((text, i) => [text, chain(repository)[i] ?? '']));
    const dates = (commit: string) =>
      git(repository, 'show', '-s', '--format=%T %an %ae %at %cn %ct %B', commit);

    const output = agtOk(repository, 'gc', '--thin');
    expect(output).toMatch(/^s1: thinned out, deleted 2 of 7 snapshots \([\d.]+ (bytes|KiB)\)\n/);
    expect(texts(repository)).toEqual(['now', 'hour', 'named', 'day', 'first']);
    for (const commit of chain(repository)) {
      const old = before.get(git(repository, 'show', `${commit}:sandbox/a`)) ?? '';
      expect(dates(commit)).toBe(dates(old));
    }
    expect(git(repository, 'rev-parse', 'refs/agt/tip/s1')).toBe(chain(repository)[0]);
    expect(chain(repository).at(-1)).toBe(before.get('first'));
    expect(fsck(repository)).toBe('');
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
    expect(texts(repository)).toEqual(['stays', 'first']);
    const parents = git(repository, 'show', '-s', '--format=%P', 'agtsessions/s1').split(' ');
    expect(parents.slice(1)).toEqual([git(repository, 'rev-parse', 'main'), ...lost.reverse()]);
    git(repository, 'reflog', 'expire', '--expire=now', '--all');
    agtOk(repository, 'gc', '--prune=now');
    for (const commit of lost) expect(exists(repository, commit)).toBe(true);
  });

  test('updates the name of the restored snapshot in a restore', async () => {
    await snapshot({ days: 9, minutes: 9 }, 'first');
    await snapshot({ days: 9, minutes: 8 }, 'goes');
    const source = await snapshot({ days: 9, minutes: 7 }, 'source');
    await snapshot({ days: 9, minutes: 6 }, 'source', { restored: { commit: source, by: 'restore' } });
    await snapshot({ days: 9 }, 'tip');
    agtOk(repository, 'gc', '--thin');
    const [, restoring, restored] = chain(repository);
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
    const fork = chain(repository, 's2');
    agtOk(repository, 'gc', '--thin');
    expect(exists(repository, dropped)).toBe(true);
    agtOk(repository, 'gc', '--prune=now');
    expect(exists(repository, dropped)).toBe(false);
    expect(exists(repository, blob)).toBe(false);
    expect(chain(repository, 's2')).toEqual(fork);
    expect(git(repository, 'show', `${kept}:sandbox/a`)).toBe('held by the fork');
    expect(fsck(repository)).toBe('');
    expect(autocommit(session).outcome).toBe('unchanged');
    expect(autocommit({ ...session, id: 's2' }).warnings).toEqual([]);
  });

  test('waits for a running autocommit', async () => {
    await snapshot({ days: 9, minutes: 9 }, 'first');
    await snapshot({ days: 9, minutes: 8 }, 'goes');
    await snapshot({ days: 9 }, 'tip');
    const { repository: opened, record } = openSession(session);
    let free = false;
    const capture = withSessionLock({ repository: opened, id: record.session_id }, async () => {
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
    session = sessionIn(repository);
    await snapshot({ days: 9, minutes: 9 }, 'first');
    const dropped = await snapshot({ days: 9, minutes: 8 }, 'goes');
    await snapshot({ days: 9 }, 'tip');
    agtOk(repository, 'gc', '--thin', '--prune=now');
    expect(texts(repository)).toEqual(['tip', 'first']);
    expect(exists(repository, dropped)).toBe(false);
    expect(fsck(repository)).toBe('');
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
    session = sessionIn(repository);
    await snapshot({ days: 9, minutes: 9 }, 'first');
    const dropped = await snapshot({ days: 9, minutes: 8 }, 'goes');
    await snapshot({ days: 9 }, 'tip');
    renameSync(origin, `${origin}.away`);
    agtOk(repository, 'config', 'set', 'agt.budget', '10m');
    const output = agtOk(repository, 'gc', '--thin', '--prune=now');
    expect(output).toContain('s1: thinned out, deleted 1 of 3 snapshots');
    expect(output).not.toContain('not worth rewriting');
    expect(texts(repository)).toEqual(['tip', 'first']);
    expect(exists(repository, dropped)).toBe(false);
    expect(JSON.parse(agtOk(repository, 'du', '--json')).total).toBeGreaterThan(100);
    expect(autocommit(session).outcome).toBe('unchanged');
    expect(fsck(repository)).toBe('');
  });

  test('skips a session whose shadow branch was moved', async () => {
    await snapshot({ days: 9, minutes: 9 }, 'first');
    await snapshot({ days: 9, minutes: 8 }, 'goes');
    await snapshot({ days: 9 }, 'tip');
    git(repository, 'branch', '-f', 'agtsessions/s1', 'main');
    const before = refs(repository);
    expect(agtOk(repository, 'gc', '--thin')).toContain('s1: skipped: another program moved agtsessions/s1');
    expect(refs(repository)).toBe(before);
  });

  test('does not touch active sessions without --thin', async () => {
    await snapshot({ days: 90, minutes: 9 }, 'first');
    await snapshot({ days: 90, minutes: 8 }, 'second');
    await snapshot({ days: 90 }, 'tip');
    const before = refs(repository);
    expect(agtOk(repository, 'gc')).toMatch(/^freed .*; the object store takes .*$/);
    expect(refs(repository)).toBe(before);
  });
});
