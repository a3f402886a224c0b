/** XDG_STATE_HOME, where agt keeps the snapshots of folders: full, read-only, of another user. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtWithPermissions, permissionsProblem } from '../harness/privileges.ts';
import { makeSession } from '../harness/session.ts';
import { AGT, makeRepository, makeTempDir, run } from '../harness/world.ts';

test('a state directory without room, or on a read-only disk, is named, and snapshots there can be read', ({
  skip,
}) => {
  const disk = makeTempDir('disk');
  skip(
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]).status !== 0,
    'mount(8) needs root',
  );
  try {
    const project = makeRepository({ large: randomBytes(3_000_000) });
    const env = { XDG_STATE_HOME: disk };
    const full = run(AGT, ['snapshot'], { cwd: project, env });
    expect(full).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not enough space') });
    rmSync(join(project, 'large'));
    expect(run(AGT, ['snapshot'], { cwd: project, env }).exitCode).toBe(0);
    spawnSync('mount', ['-o', 'remount,ro', disk]);
    const cwd = makeTempDir();
    const refused = `agt cannot write in "${join(disk, 'agt/folders')}", where it keeps the snapshots`;
    const reason = new RegExp(`^error: ${refused}.*: read-only file system\nhint: `);
    expect(run(AGT, ['snapshot'], { cwd, env }).stderr).toMatch(reason);
    const doctor = run(AGT, ['doctor'], { cwd, env });
    expect(doctor.stdout).toContain(`error: ${join(disk, 'agt/folders')}: agt cannot write there: read-only`);
    for (const dir of [cwd, project])
      expect(run(AGT, ['status'], { cwd: dir, env }).stdout).toContain('agt cannot write there: read-only');
    expect(run(AGT, ['snapshot', 'status'], { cwd: project, env }).stdout).toMatch(/^snapshots {2}1$/m);
    const input = JSON.stringify({ cwd, hook_event_name: 'UserPromptSubmit', prompt: 'hello' });
    const hook = run(AGT, ['hook', 'claude-code'], { cwd: '/', env, input });
    expect(hook).toMatchObject({ exitCode: 0, stdout: '', stderr: expect.stringContaining(refused) });
  } finally {
    spawnSync('umount', [disk]);
  }
});

test('a state directory of another user stops nothing else', ({ skip }) => {
  const problem = permissionsProblem();
  skip(problem !== undefined, problem);
  const { XDG_STATE_HOME } = process.env;
  const state = makeTempDir('state');
  const folders = join(state, 'agt/folders');
  mkdirSync(folders, { recursive: true });
  chmodSync(folders, 0);
  const { repository } = makeSession();
  process.env['XDG_STATE_HOME'] = state;
  try {
    for (const words of [['status'], ['du'], ['session', 'show', 's1']]) {
      const outcome = agtWithPermissions(repository, ...words);
      expect(outcome.stderr).toBe('');
      expect(outcome.stdout).toContain('s1');
    }
    expect(agtWithPermissions(repository, 'doctor').stdout).toContain(`error: ${folders}: agt cannot write`);
    const plain = agtWithPermissions(makeTempDir(), 'snapshot', 'status');
    expect(plain.stderr).toContain(`agt cannot write in "${folders}"`);
  } finally {
    process.env['XDG_STATE_HOME'] = XDG_STATE_HOME;
    if (XDG_STATE_HOME === undefined) delete process.env['XDG_STATE_HOME'];
  }
});

test('a state directory that cannot be made is named, and ends no hook late', () => {
  const cwd = makeTempDir();
  const dangling = join(makeTempDir(), 'link');
  symlinkSync('/nowhere/at/all', dangling);
  for (const XDG_STATE_HOME of ['/proc/nothing', dangling]) {
    const env = { XDG_STATE_HOME };
    const refused = `agt cannot write in "${XDG_STATE_HOME}`;
    const named = run(AGT, ['snapshot'], { cwd, env });
    expect(named).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(refused) });
    const input = JSON.stringify({ cwd, hook_event_name: 'UserPromptSubmit', prompt: 'hello' });
    const hook = run(AGT, ['hook', 'claude-code'], { cwd: '/', env, input });
    expect(hook).toMatchObject({ exitCode: 0, stdout: '', stderr: expect.stringContaining(refused) });
  }
  const doctor = run(AGT, ['doctor'], { cwd, env: { XDG_STATE_HOME: dangling } });
  expect(doctor.stdout).toContain(`error: ${dangling}: agt cannot write there`);
});
