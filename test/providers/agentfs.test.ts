/** Whether an agentfs program is sound, as agt measures it, and what it says of one that is not. */
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fakeProblem, makeFakeAgentfs, mountsBelow } from '../harness/fake-agentfs.ts';
import { AGT, makeRepository, makeTempDir, run } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

interface Rated {
  readonly kind: string;
  readonly score: number;
  readonly notes: readonly [string, ...string[]];
  readonly hint: string | null;
}

type Env = Readonly<Record<string, string>>;

let repository: string;

beforeAll(() => {
  repository = makeRepository();
});

function rate(env: Env): Rated {
  const { stdout } = run(AGT, ['doctor', '--json'], { cwd: repository, env });
  return JSON.parse(stdout).providers.find(({ kind }: Rated) => kind === 'agentfs');
}

const ask = (env: Env) =>
  run(AGT, ['session', 'new', 'a1', '--fs-snapshots', 'agentfs'], { cwd: repository, env });

const doctor = (env: Env, ...args: string[]) =>
  run(AGT, ['doctor', '--verbose', ...args], { cwd: repository, env }).stdout;

const stateOf = (env: Env) => join(env['XDG_STATE_HOME'] ?? '', 'agt/agentfs');

/** Folders in which agt measured, and mounts there. */
const leftIn = (env: Env) => [
  ...readdirSync(stateOf(env)).filter((name) => name !== 'measured.json'),
  ...mountsBelow(stateOf(env)),
];

test('without such a program agt names the reason, and refuses a session that asks for it', () => {
  const env = { PATH: '/usr/bin:/bin', XDG_STATE_HOME: makeTempDir('state') };
  expect(rate(env)).toMatchObject({ score: 0, notes: ['there is no agentfs program on PATH'] });
  const { exitCode, stderr } = ask(env);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^error: fs\.snapshots "agentfs" cannot work in .*: there is no agentfs program/);
  expect(stderr).toContain('--fs-snapshots auto');
  expect(existsSync(`${repository}.agt`)).toBe(false);
  const inPlace = ['session', 'new', '--working-copy', 'in-place', '--fs-snapshots', 'agentfs'];
  expect(run(AGT, inPlace, { cwd: repository, env }).exitCode).toBe(2);
});

const problem = fakeProblem();

describe.skipIf(problem !== undefined)(
  `a fake agentfs${problem === undefined ? '' : ` (${problem})`}`,
  () => {
    test.each([
      ['descriptors', /after a look at 2000 files it has 20\d\d descriptors open \(limit: \w+\)/],
      ['copies', /reading a file of 4\.0 MiB adds [4-9]\.\d MiB to its database/],
      ['names', /after a second mount 1 of 26 files are missing or have other content/],
    ])('%s: agt refuses with the figure', (fault, figure) => {
      const { env, program, end } = makeFakeAgentfs(fault);
      const { score, notes, hint } = rate(env);
      expect([score, notes[0]]).toEqual([0, expect.stringMatching(figure)]);
      expect(notes[0]).toContain(`${program}, version 9.8.7, is not sound`);
      expect(hint).toContain('--fs-snapshots git');
      const { exitCode, stderr } = ask(env);
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(figure)]);
      expect(stderr).toContain('hint: agt measures it again once the program has changed');
      expect(leftIn(env)).toEqual([]);
      end();
    });

    test('agt measures a sound one once, and again when the program has changed; auto never asks it', () => {
      const { env, calls, program } = makeFakeAgentfs();
      for (const command of ['new', 'remove']) run(AGT, ['session', command, 'x'], { cwd: repository, env });
      expect(calls()).toEqual([]);
      expect(rate(env)).toMatchObject({ score: 10, clone: true, freeze: false, drop: 'at once' });
      expect(calls()).toEqual(['--version', 'init', 'mount', 'mount', 'mount']);
      expect(doctor(env)).toMatch(/^ {2}agentfs +10 +version 9\.8\.7/m);
      expect(calls()).toHaveLength(5);
      utimesSync(program, 1, 1);
      rate(env);
      expect(calls()).toHaveLength(10);
      expect(leftIn(env)).toEqual([]);
    });

    test('agt does not remember one that does not mount', () => {
      const { env, calls } = makeFakeAgentfs('silent');
      expect(rate(env).notes[0]).toMatch(/could not measure it: .* did not mount .*: no such device/);
      expect(rate(env).score).toBe(0);
      expect(calls()).toEqual(['--version', 'init', 'mount', '--version', 'init', 'mount']);
    });

    test('killed while it measures: the next doctor names what is mounted, and ends it', () => {
      const { env } = makeFakeAgentfs();
      const killed = { ...env, AGT_TEST_KILL_AT: 'agentfs: mounted to measure#1' };
      run(process.execPath, [KILLABLE, 'doctor'], { cwd: repository, env: killed });
      const [folder, mounted] = leftIn(env);
      expect(mounted).toBe(join(stateOf(env), folder ?? '', 'mount'));
      expect(doctor(env, '--fix')).toContain(`fixed: ${join(stateOf(env), folder ?? '')}`);
      expect(leftIn(env)).toEqual([]);
    });
  },
);

const real = process.env['AGT_TEST_AGENTFS'];

describe.skipIf(real === undefined)('the real agentfs of AGT_TEST_AGENTFS', () => {
  test('agt measures it, leaves nothing behind, and uses it only if it is sound', () => {
    const path = `${dirname(real ?? '')}${delimiter}${process.env['PATH']}`;
    const env = { PATH: path, XDG_STATE_HOME: makeTempDir('state') };
    const { score, notes } = rate(env);
    console.log(notes[0]);
    expect(leftIn(env)).toEqual([]);
    expect(score === 0 ? notes[0] : 'sound').toMatch(/^sound$|, is not sound: .*\d/);
    if (score === 0) expect(ask(env).exitCode).toBe(1);
  });
});
