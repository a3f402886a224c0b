/** `agt` alone, in a terminal that script(1) makes: three next steps, by the place. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, agtOk, makeRepository, makeTempDir, run } from '../harness/world.ts';

function welcome(cwd: string, home: string): string[] {
  const env = { HOME: home, XDG_STATE_HOME: undefined, TERM: 'xterm', PATH: `${home}:/usr/bin:/bin` };
  const said = run('script', ['-qec', AGT, '/dev/null'], { cwd, env });
  expect(said.exitCode).toBe(0);
  const steps = [...said.stdout.matchAll(/^ {2}(\S.*?) {3,}\S/gm)].map(([, command = '']) => command);
  expect(steps).toHaveLength(3);
  return steps;
}

const START = 'agt run --new NAME -- COMMAND';

test('hooks that are missing come first, and are gone when they are there', () => {
  const home = makeTempDir('home');
  const repository = makeRepository();
  expect(welcome(repository, home)).toEqual([START, 'agt status', 'agt doctor']);
  mkdirSync(join(home, '.claude'));
  expect(welcome(repository, home)[0]).toBe('agt hooks install --all');
  run(AGT, ['hooks', 'install', '--all'], { cwd: '/', env: { HOME: home, XDG_STATE_HOME: undefined } });
  expect(welcome(repository, home)[0]).toBe(START);
});

test('no repository; a folder with snapshots', () => {
  const home = makeTempDir('home');
  const folder = join(makeTempDir(), 'folder');
  mkdirSync(folder);
  expect(welcome(folder, home)).toEqual(['agt snapshot', 'agt clone URL', 'agt status']);
  run(AGT, ['snapshot'], { cwd: folder, env: { HOME: home, XDG_STATE_HOME: undefined } });
  expect(welcome(folder, home).slice(0, 2)).toEqual(['agt snapshot list', 'agt snapshot']);
  writeFileSync(join(folder, 'a'), 'a');
  run(AGT, ['snapshot'], { cwd: folder, env: { HOME: home, XDG_STATE_HOME: undefined } });
  expect(welcome(folder, home).slice(0, 2)).toEqual(['agt snapshot list', 'agt undo']);
});

test('sessions; inside of one; one in which a command runs', () => {
  const home = makeTempDir('home');
  const repository = makeRepository();
  agtOk(repository, 'session', 'new', 's1');
  expect(welcome(repository, home).slice(0, 2)).toEqual(['agt list', START]);
  const sandbox = agtOk(repository, 'session', 'path', 's1');
  expect(welcome(sandbox, home)).toEqual(['agt session log', 'agt undo', 'agt accept']);
  const command = `cd ${repository} && exec ${AGT} </dev/null`;
  const said = run(AGT, ['run', 's1', '--', 'script', '-qec', command, '/dev/null'], {
    cwd: repository,
    env: { HOME: home, TERM: 'xterm' },
  });
  expect(said.stdout).toMatch(/agt session log s1 +script runs in this session: its steps so far/);
});

test('not in a terminal: the whole help, as wrong usage', () => {
  const said = run(AGT, [], { cwd: '/' });
  expect([said.exitCode, said.stdout]).toEqual([2, expect.stringContaining('agt session new')]);
});
