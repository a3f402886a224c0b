/**
 * Sessions whose folders are mounts, with a sound fake of agentfs: what they hold is what they hold with git, they are
 * mounted again after a restart, and nothing stays mounted after a kill.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attack } from '../crash/aftermath.ts';
import { type FakeAgentfs, fakeProblem, makeFakeAgentfs, mountsBelow } from '../harness/fake-agentfs.ts';
import {
  autocommit,
  onDisk,
  sessionOf,
  snapshotFolder,
  snapshotTree,
  type TestSession,
} from '../harness/session.ts';
import { ofToday } from '../harness/today.ts';
import { AGT, agt, agtOk, git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';

const problem = fakeProblem();
const program = [process.execPath, join(import.meta.dirname, '../../dist/failure-points/main.cjs')];
const PATH = process.env['PATH'];

function makeProject(): string {
  return makeRepository({ a: 'a\n', b: 'b\n', 'src/c': 'src/c\n', '.gitignore': 'built\n' });
}

function facts({ sandbox, folder }: TestSession): unknown[] {
  const told = (...args: string[]) => run(REAL_GIT, args, { cwd: sandbox }).stdout;
  return [
    [...snapshotFolder(folder)].sort(),
    told('status', '--porcelain=v2', '--ignored', '-z'),
    told('symbolic-ref', 'HEAD') + told('rev-parse', 'HEAD^{tree}'),
  ];
}

function capture(session: TestSession): unknown[] {
  const { outcome, changes, skipped } = autocommit(session);
  expect(snapshotTree(session, `agtsessions/${session.id}`)).toEqual(onDisk(session));
  return [outcome, changes, skipped];
}

/** Every step of the life of a session, with the facts after it. */
function live(repository: string, provider: string): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const of = (id: string) => sessionOf(repository, id);
  const make = (...args: string[]) => agtOk(repository, 'session', ...args, '--fs-snapshots', provider);
  make('new', 's1');
  found['new'] = [facts(of('s1')), capture(of('s1'))];
  make('new', 's2');
  found['new again'] = [facts(of('s2')), capture(of('s2'))];
  write(join(repository, 'src/c'), 'other\n');
  git(repository, 'rm', '-q', 'b');
  git(repository, 'commit', '-q', '-am', 'second');
  make('new', 's3');
  found['new at another commit'] = [facts(of('s3')), capture(of('s3'))];
  write(join(of('s2').sandbox, 'a'), 'changed\n');
  write(join(of('s2').sandbox, 'built'), 'object\n', 0o600);
  write(join(of('s2').folder, 'config/token'), 'token\n');
  rmSync(join(of('s2').sandbox, 'b'));
  make('fork', 's2', '--id', 'f1');
  found['fork'] = [facts(of('f1')), capture(of('f1'))];
  agtOk(repository, 'session', 'restore', 'f1', '--to', '@{1}');
  found['restored'] = facts(of('f1'));
  agtOk(repository, 'session', 'remove', 'f1');
  found['removed'] = existsSync(of('f1').folder);
  agtOk(repository, 'session', 'restore', 'f1', '--to', '@');
  found['restored after removal'] = [facts(of('f1')), capture(of('f1'))];
  return found;
}

describe.skipIf(problem !== undefined)(
  `a fake agentfs${problem === undefined ? '' : ` (${problem})`}`,
  () => {
    let fake: FakeAgentfs;
    let repository: string;
    let area: string;

    beforeAll(() => {
      fake = makeFakeAgentfs();
      Object.assign(process.env, fake.env);
      repository = makeProject();
      area = `${repository}.agt`;
    });

    afterAll(() => {
      for (const point of mountsBelow(area)) spawnSync('umount', ['--lazy', point]);
      fake.end();
      for (const name of Object.keys(fake.env)) delete process.env[name];
      process.env['PATH'] = PATH;
    });

    const sessions = () => join(area, 'sessions');
    const leases = () => readdirSync(join(fake.env.XDG_STATE_HOME, 'agt/leases'));
    const frozen = (prefix: string) =>
      readdirSync(join(area, 'frozen')).filter((name) => name.startsWith(prefix));
    const findings = (cwd = repository) => JSON.parse(agt(cwd, 'doctor', '--json').stdout).findings;

    test('the life of sessions is that with git', { timeout: 120_000 }, () => {
      const oracle = live(makeProject(), 'git');
      const found = live(repository, 'agentfs');
      for (const [step, expected] of Object.entries(oracle))
        expect([step, found[step]]).toEqual([step, expected]);
      expect(mountsBelow(sessions()).sort()).toEqual(
        ['f1', 's1', 's2', 's3'].map((id) => join(sessions(), id)),
      );
      expect(leases()).toHaveLength(frozen('').length);
      expect(JSON.parse(agtOk(repository, 'session', 'show', 'f1', '--json')).provider).toBe('agentfs');
      expect(findings()).toEqual([]);
    });

    test('git trusts the index of a new session and of a fork', () => {
      agtOk(repository, 'session', 'fork', 's2', '--id', 'f3', '--fs-snapshots', 'agentfs');
      const notTrusted = (id: string) => git(sessionOf(repository, id).sandbox, 'diff-files', '--name-only');
      expect(['s2', 'f3', 's3'].map(notTrusted)).toEqual(['a\nb', 'a\nb', '']);
      agtOk(repository, 'session', 'remove', 'f3');
    });

    test('after a restart the next command mounts the folder, and nothing is lost', () => {
      const session = sessionOf(repository, 's1');
      write(join(session.sandbox, 'a'), 'not captured\n');
      const unmount = () => {
        expect(spawnSync('umount', [session.folder]).status).toBe(0);
        expect(existsSync(session.sandbox)).toBe(false);
      };
      unmount();
      const [finding] = findings();
      expect(finding).toMatchObject({ level: 'error', about: 's1', fixable: true });
      expect(finding.problem).toContain('mounted no longer');
      expect(autocommit(session).changes).toEqual([{ path: 'sandbox/a', status: 'modified' }]);
      unmount();
      agtOk(repository, 'doctor', '--fix');
      expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('not captured\n');
      unmount();
      const missing = run(AGT, ['autocommit', 's1'], { cwd: repository, env: { PATH: '/usr/bin:/bin' } });
      expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining('no agentfs program')]);
      write(join(session.folder, 'stray'), 'stray\n');
      const refused = agt(repository, 'autocommit', 's1');
      expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('stray')]);
      rmSync(join(session.folder, 'stray'));
      agtOk(repository, 'session', 'remove', 's1');
      agtOk(repository, 'session', 'restore', 's1', '--to', '@');
      expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('not captured\n');
    });

    test('agt does not remove a session in whose folder a program works', async () => {
      const { folder, sandbox } = sessionOf(repository, 's3');
      const inside = spawn('sleep', ['100'], { cwd: sandbox });
      const refused = agt(repository, 'session', 'remove', 's3');
      inside.kill();
      await new Promise((resolve) => inside.on('exit', resolve));
      expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/busy[\s\S]*hint: /)]);
      expect(statSync(folder).isDirectory()).toBe(true);
      expect(findings()).toEqual([]);
      agtOk(repository, 'session', 'remove', 's3');
      expect(existsSync(folder)).toBe(false);
    });

    const NEW = ['session', 'new', 'k', '-q', '--fs-snapshots', 'agentfs'];
    const FORK = ['session', 'fork', 's2', '--id', 'k', '-q', '--fs-snapshots', 'agentfs'];
    const REMOVE = ['session', 'remove', 'k'];

    const EVERY_STEP: [string, string, string[]][] = [
      ['a new session', 'agentfs: folder made#1', NEW],
      ['a new session', 'agentfs: database made#1', NEW],
      ['a new session', 'agentfs: mounted#1', NEW],
      ['a new session', 'agentfs: unmounted to move#1', NEW],
      ['a new session', 'agentfs: moved#1', NEW],
      ['a fork', 'agentfs: server stopped#1', FORK],
      ['a removal', 'agentfs: moved#1', REMOVE],
      ['a removal', 'agentfs: unmounted#1', REMOVE],
      ['a removal', 'agentfs: database removed#1', REMOVE],
    ];
    /** AGT_TEST_STEPS=all: every step. */
    const STEPS = EVERY_STEP.filter((_, n) => process.env['AGT_TEST_STEPS'] === 'all' || n % 3 === 2);

    test.each(ofToday(STEPS))('%s killed at "%s"', { timeout: 60_000 }, async (_, point, command) => {
      if (command === REMOVE) {
        agtOk(repository, ...FORK);
        write(join(sessionOf(repository, 'k').sandbox, 'a'), 'newest\n');
      }
      const { sandbox } = sessionOf(repository, 's2');
      expect(
        await attack({ repository, sandbox }, command, { program, env: { AGT_TEST_KILL_AT: point } }),
      ).toBe('SIGKILL');
      expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('changed\n');
      const again = agt(repository, ...command);
      expect(again.stderr).toMatch(again.exitCode === 0 ? /^/ : /already (exists|removed)/);
      agtOk(repository, 'doctor', '--fix');
      if (command === REMOVE) agtOk(repository, 'session', 'restore', 'k', '--to', '@');
      const content = command === NEW ? 'a\n' : command === FORK ? 'changed\n' : 'newest\n';
      expect(readFileSync(join(sessionOf(repository, 'k').sandbox, 'a'), 'utf8')).toBe(content);
      agtOk(repository, 'session', 'remove', 'k', '--delete-branch', '--force');
      expect(readdirSync(sessions()).sort()).toEqual(['f1', 's1', 's2']);
      expect(mountsBelow(area)).toHaveLength(3);
      expect([leases().length, findings()]).toEqual([frozen('').length, []]);
    });

    test('at the end nothing is mounted, and agt doctor --fix drops the templates of a deleted repository', () => {
      for (const id of ['f1', 's1']) agtOk(repository, 'session', 'remove', id);
      rmSync(repository, { recursive: true });
      const found = findings(area);
      const left = found.find(({ fixable }: { fixable: boolean }) => !fixable); // the others are templates
      expect(left).toMatchObject({ level: 'note', about: sessionOf(repository, 's2').folder });
      spawnSync('sh', ['-c', left.mend.replace(/^.*then: /, '')]);
      run(AGT, ['doctor', '--fix'], { cwd: area });
      expect([mountsBelow(area), leases(), frozen('')]).toEqual([[], [], []]);
    });
  },
);
