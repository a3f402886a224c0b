/** `agt undo --to-green`, and an end of `agt bisect run` by a signal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { bisect, counted, left } from './bisected.ts';

describe('agt bisect run', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'leaves no process and no folder: %s',
    async (signal) => {
      const session = counted(3);
      const pids = makeTempDir();
      const command = `touch '${pids}'/$$; (trap '' TERM; touch '${pids}'/$(sh -c 'echo $PPID'); sleep 300) & sleep 300`;
      const child = spawn(AGT, ['bisect', 'run', 's1', '-j', '2', '--', 'sh', '-c', command], {
        cwd: session.repository,
        env: { ...process.env, AGT_GIT_PATH: REAL_GIT },
        stdio: 'ignore',
      });
      const started = () => readdirSync(pids).map(Number);
      for (let i = 0; i < 200 && started().length < 4; i++) await sleep(50);
      expect(started()).toHaveLength(4);
      child.kill(signal);
      await once(child, 'exit');
      const isAlive = (pid: number) => run('sh', ['-c', `kill -0 ${pid}`], { cwd: '/' }).exitCode === 0;
      for (let i = 0; i < 40 && started().some(isAlive); i++) await sleep(50);
      expect(started().filter(isAlive)).toEqual([]);
      if (signal !== 'SIGKILL') return expect(left(session)).toEqual(['sessions']);
      expect(left(session)).toEqual(['probes', 'sessions']);
      expect(agt(session.repository, 'doctor').stdout).toContain('a killed agt left this copy of a snapshot');
      bisect(session.repository, ['--session', 's1'], 'true');
      expect(left(session)).toEqual(['sessions']);
    },
  );
});

describe('agt undo --to-green', () => {
  const value = ({ sandbox }: TestSession) => readFileSync(join(sandbox, 'n'), 'utf8').trim();

  test('goes back to the newest step at which the command passes, and redo goes forward again', () => {
    const session = counted(6);
    write(join(session.sandbox, 'n'), '99\n');
    const preview = agt(session.repository, 'undo', 's1', '--to-green', 'test $(cat n) -lt 3', '-n');
    expect(preview.stdout).toMatch(/^M n\ns1: would restore 1 path to [0-9a-f]{10}\nwould be undone: .*\n$/);
    expect(value(session)).toBe('99');
    const { stdout } = agt(session.repository, 'undo', 's1', '--to-green', 'test $(cat n) -lt 3');
    expect(stdout).toMatch(
      /^s1: restored 1 path, verified\n {2}M n\n(undone: .*)\n.* 3 of 8\nto take this back: agt redo s1 5\n$/,
    );
    expect(value(session)).toBe('2');
    agtOk(session.repository, 'redo', 's1', '1');
    expect(value(session)).toBe('3');
    agtOk(session.repository, 'redo', 's1');
    expect(value(session)).toBe('4');
    agtOk(session.repository, 'undo', 's1', '--to-green', 'test $(cat n) -lt 1');
    agtOk(session.repository, 'autocommit', 's1', '--label', 'green');
    agtOk(session.repository, 'redo', 's1');
    expect(value(session)).toBe('4');
    agtOk(session.repository, 'redo', 's1', '3');
    expect(value(session)).toBe('99');
    const one = agt(session.repository, 'undo', 's1', '--to-green', 'test $(cat n) -lt 99').stdout;
    expect(one).toContain('\nto take this back: agt redo s1\n');
    agtOk(session.repository, 'redo', 's1');
    expect(value(session)).toBe('99');
    agtOk(session.repository, 'undo', 's1', '--to-green', 'test $(cat n) -lt 2');
    const [, back = ''] =
      /^to take this back: agt (.*)$/m.exec(agtOk(session.repository, 'redo', 's1')) ?? [];
    agtOk(session.repository, ...back.split(' '));
    expect(value(session)).toBe('1');
    expect(left(session)).toEqual(['sessions']);
  });

  test('where the command passes already, or nowhere, nothing changes', () => {
    const session = counted(3);
    write(join(session.sandbox, 'n'), '2\n');
    expect(agtOk(session.repository, 'undo', 's1', '--to-green', 'test $(cat n) = 2')).toBe(
      's1: the command passes, there is nothing to undo',
    );
    const { exitCode, stderr } = agt(session.repository, 'undo', 's1', '--to-green', 'exit 3');
    expect([exitCode, stderr.split('\n').at(-3)]).toEqual([
      1,
      'error: "exit 3" passes at none of the 5 steps',
    ]);
    expect(value(session)).toBe('2');
    for (const words of [
      ['2', '--to-green', 'true'],
      ['--step', '@{1}', '--to-green', 'true'],
      ['--to-green', ''],
    ])
      expect(agt(session.repository, 'undo', 's1', ...words).exitCode).toBe(2);
    const typo = agt(session.sandbox, 'undo', '--to-grene', './n').stderr;
    expect(typo).toContain('did you mean: --to-green');
    expect(typo).not.toContain('version of');
    const empty = agt(makeSession({ n: '0\n' }, 's2').repository, 'undo', 's2', '--to-green', 'true', '-n');
    expect([empty.exitCode, empty.stderr]).toEqual([1, 'error: "s2" has no snapshots yet\n']);
  });
});
