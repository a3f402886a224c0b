/** With the programs of macOS on PATH (harness/bsd-tools.ts) front and shim answer as ever, or start agt. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bsdTools } from '../../harness/bsd-tools.ts';
import { Front, SHELLS, toolEvent } from '../../harness/front.ts';
import { makeSession } from '../../harness/session.ts';
import { AGT, agtOk, git, makeTempDir, run, write } from '../../harness/world.ts';

const bsd = bsdTools();
const env = { PATH: `${bsd.directory}:${process.env['PATH']}` };

test('the front starts agt', () => {
  const front = new Front();
  const session = makeSession();
  const cwd = session.sandbox;
  front.settle(cwd);
  expect(front.starts(cwd)).toBe(false);
  expect(front.starts(cwd, ['autocommit'], { env })).toBe(true);
  expect(readFileSync(bsd.refused, 'utf8')).toContain('find -printf\n');
  for (const { name } of SHELLS) {
    write(join(cwd, name), 'new\n');
    const { exitCode, stderr } = front.run(
      cwd,
      ['hook', 'claude-code'],
      { env, input: toolEvent(cwd) },
      name,
    );
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(git(session.repository, 'show', `agtsessions/s1:sandbox/${name}`)).toBe('new');
  }
});

test('the shim and the commands of a day need nothing that is only GNU', () => {
  const session = makeSession({ a: '1\n' });
  const place = makeTempDir('shim');
  run(AGT, ['shim', 'install', '--dir', place], { cwd: '/' });
  write(bsd.refused, '');
  const lines = [
    'log --all --oneline',
    'branch -a',
    'status --short',
    'for-each-ref',
    'fetch --all',
    'stash list',
  ];
  for (const line of lines) {
    const settings = { cwd: session.sandbox, env: { ...env, AGT_GIT_PATH: undefined } };
    const [plain, there] = [{ ...settings, env: { AGT_GIT_PATH: undefined } }, settings].map((one) =>
      run(join(place, 'git'), line.split(' '), one),
    );
    expect([line, there]).toEqual([line, plain]);
  }
  write(join(session.sandbox, 'a'), '2\n');
  agtOk(session.repository, 'autocommit', '--session-id', 's1');
  write(join(session.sandbox, 'a'), '3\n');
  const day = ['autocommit --session-id s1', 'session undo s1', 'session redo s1', 'session fork s1 --id s2']
    .concat(['session run s2 -- true', 'accept s1', 'session remove s2', 'doctor', 'gc'])
    .map((line) => run(AGT, line.split(' '), { cwd: session.repository, env }))
    .map(({ exitCode, stderr }) => [exitCode, stderr]);
  expect(day).toEqual(day.map(() => [0, '']));
  expect(readFileSync(bsd.refused, 'utf8')).toBe('');
});
