import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { autocommitAt } from '../harness/opened.ts';
import { autocommit, makeSession, type TestSession, tryAutocommit } from '../harness/session.ts';
import { agt, agtOk, GIT_MODE, git, REAL_GIT, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

let session: TestSession;
let repository: string;

beforeEach(() => {
  session = makeSession();
  ({ repository } = session);
});

const fill = (name: string, bytes: number) => write(join(session.sandbox, name), randomBytes(bytes));
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
const tip = () => git(repository, 'rev-parse', 'agtsessions/s1');

describe('agt.budget', () => {
  test('refuses an autocommit past the budget, gives the reason and writes nothing', () => {
    agtOk(repository, 'config', 'set', 'agt.budget', '100k');
    fill('a', 60_000);
    autocommit(session);
    fill('b', 60_000);
    autocommit(session);
    const before = tip();
    expect(tryAutocommit(session)).toMatchObject({ exitCode: 0, stdout: 's1: nothing changed\n' });
    fill('c', 10);
    expect(tryAutocommit(session, '-n').stderr).toContain('agt captures this only if it can thin enough\n');
    const refused = tryAutocommit(session);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(
      /^error: the snapshots of all sessions take 1[12]\d\.\d\d KiB, more than agt\.budget \(100\.00 KiB\); nothing was captured\nhint: see the size of each session: agt du\n/,
    );
    expect(tip()).toBe(before);
    expect(agt(repository, 'autocommit', '--all').exitCode).toBe(1);
    expect(JSON.parse(agtOk(repository, 'du', '--json')).budget).toBe(102_400);

    agtOk(repository, 'config', 'set', 'agt.budget', '1m');
    expect(autocommit(session).outcome).toBe('committed');
  });

  test('status tells once that the budget is exceeded, whatever has failed because of it', () => {
    agtOk(repository, 'config', 'set', 'agt.budget', '10');
    const agent = agentIn(session.sandbox, 'claude-code', 'c-1');
    const fails = { exitCode: 0, stdout: expect.any(String), stderr: expect.any(String) };
    for (const id of ['1', '2']) {
      agent.begins(id);
      fill(id, 100);
      agent.ends(id, fails);
    }
    const { stdout, stderr } = agt(repository, 'status');
    expect(`${stdout}${stderr}`.match(/agt\.budget \(/g)).toHaveLength(1);
    expect(stdout).toContain('s1  failed ');
    expect(JSON.parse(agtOk(repository, 'status', '--json')).hook_failures).not.toEqual([]);
  });

  test('the snapshots of a folder are told as its own, with the commands for folders', () => {
    write(join(repository, 'a'), '1\n');
    agtOk(repository, 'snapshot');
    agtOk(repository, 'config', 'set', 'agt.budget', '10');
    write(join(repository, 'a'), '2\n');
    expect(agt(repository, 'snapshot').stderr).toMatch(
      /^error: the snapshots of this folder take .*; nothing was captured\nhint: see its size: agt du --folders\nhint: free space: agt gc --folders\n/m,
    );
  });

  test('thins out active sessions first, and warns about it', async () => {
    for (const minutes of [3, 2, 1, 0]) {
      fill('a', 30_000);
      const noon = daysAgo(9);
      noon.setUTCHours(12, 0, 0, 0);
      await autocommitAt(session, new Date(noon.getTime() - minutes * 60_000));
    }
    agtOk(repository, 'config', 'set', 'agt.budget', '100k');
    fill('a', 10);
    const captured = tryAutocommit(session);
    expect(captured).toMatchObject({
      exitCode: 0,
      stderr: 'warning: s1: agt.budget exceeded: thinned s1 (deleted 2 of 4 snapshots)\n',
    });
    expect(git(repository, 'rev-list', '--count', '--first-parent', 'agtsessions/s1', '^main')).toBe('3');
    fill('a', 20);
    expect(autocommit(session)).toMatchObject({ outcome: 'committed', warnings: [] });
    expect(JSON.parse(agtOk(repository, 'du', '--json')).total).toBeLessThan(100_000);
  });

  test('the guard warns when it thinned out a session, and when it captured nothing', async () => {
    const noon = daysAgo(9).setUTCHours(12, 0, 0, 0);
    for (const n of [0, 1, 2]) {
      fill('a', 30_000);
      await autocommitAt(session, new Date(noon + n * 60_000));
    }
    agtOk(repository, 'config', 'set', 'agt.budget', '70k');
    const clean = () => {
      fill('a', 30_000);
      return run(GIT_MODE, ['clean', '-fdq'], { cwd: session.sandbox });
    };
    expect(clean()).toMatchObject({
      exitCode: 0,
      stderr: 'warning: s1: agt.budget exceeded: thinned s1 (deleted 1 of 3 snapshots)\n',
    });
    expect(clean().stderr).toMatch(
      /^warning: agt: the session was not captured before this command: the snapshots of all sessions take .*\n$/,
    );
  });

  test('notices freed space, and never refuses a restore or a removal', () => {
    agtOk(repository, 'config', 'set', 'agt.budget', '50k');
    const other = { ...session, id: 's2' };
    agtOk(repository, 'session', 'new', '--id', 's2');
    write(join(session.folder, '../s2/sandbox/big'), randomBytes(60_000));
    autocommit(other);
    fill('a', 10);
    expect(tryAutocommit(session).exitCode).toBe(1);
    agtOk(repository, 'session', 'remove', 's2', '--delete-branch', '--force');
    expect(autocommit(session).outcome).toBe('committed');
    fill('a', 60_000);
    autocommit(session);
    fill('a', 10);
    agtOk(repository, 'session', 'restore', 's1', '--to', '@');
    agtOk(repository, 'session', 'remove', 's1');
  });
});

describe('an autocommit in a repository with many packs', () => {
  const packs = () => {
    const names = readdirSync(join(repository, '.git/objects/pack'));
    return names.filter((name) => name.endsWith('.pack')).length;
  };

  test('combines the packs, unless gc.auto is 0', () => {
    for (let i = 0; i < 45; i++) {
      const oid = run(REAL_GIT, ['hash-object', '-w', '--stdin'], { cwd: repository, input: `${i}` }).stdout;
      run(REAL_GIT, ['pack-objects', '-q', '.git/objects/pack/pack'], { cwd: repository, input: oid });
    }
    git(repository, 'config', 'gc.auto', '0');
    fill('a', 10);
    autocommit(session);
    expect(packs()).toBe(46); // with the pack of the autocommit
    git(repository, 'config', '--unset', 'gc.auto');
    fill('a', 10);
    autocommit(session);
    expect(packs()).toBeLessThan(5); // those of snapshots stay apart
    expect(git(repository, 'fsck', '--strict', '--no-dangling')).toBe('');
    expect(autocommit(session)).toMatchObject({ outcome: 'unchanged', warnings: [] });
  });
});
