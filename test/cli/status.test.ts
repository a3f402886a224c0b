import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, makeTempDir, write } from '../harness/world.ts';
import { makeFolder } from './turns-in-folder.ts';

describe('agt status', () => {
  test('shows each session, its changes since the last autocommit, the settings and the problems', () => {
    const { repository, sandbox } = makeSession();
    expect(agtOk(repository, 'status')).toMatch(/^s1 .* never .* never /m);
    agtOk(repository, 'autocommit', '--session-id', 's1');
    write(join(sandbox, 'new.txt'), 'x\n');
    git(repository, 'update-ref', '-d', 'refs/heads/agtsessions/s1');
    const text = agtOk(repository, 'status');
    expect(text).toContain('1 session\n');
    expect(text).toMatch(/^ID {2}STATE .* UNSAVED .*\ns1 {2}active {7}\+0 {6}1 {8}1 /m);
    expect(text).toContain('1 problem\n  error: s1: agtsessions/s1 is missing\n');
    const report = JSON.parse(agtOk(repository, 'status', '--json'));
    expect(report.sessions[0]).toMatchObject({ session_id: 's1', changed_since: 1 });
    expect(report.findings).toHaveLength(1);
  });

  test('shows the snapshots of a folder without a session; agt list says that there are none', () => {
    const folder = makeTempDir('notes');
    expect(agtOk(folder, 'status')).toMatch(
      /^no snapshots of .* yet; take one: agt snapshot\n\nno sessions: /,
    );
    expect(agtOk(folder, 'list')).toMatch(
      /^no sessions: .* git repository; to record this folder: agt snapshot$/,
    );
    expect(agtOk(folder, 'list', '--json')).toBe('[]');
    write(join(folder, 'a'), 'a\n');
    agtOk(folder, 'snapshot', '--label', 'mine');
    write(join(folder, 'a'), 'b\n');
    const shown = /^snapshots {2}1\nlast {7}.*, "mine"\nchanged {4}1 path since/m;
    for (const words of [['status'], ['snapshot', 'status']]) expect(agtOk(folder, ...words)).toMatch(shown);
    expect(agtOk(folder, 'list')).toContain('agt snapshot list');
    const report = JSON.parse(agtOk(folder, 'status', '--json'));
    expect(report).toMatchObject({ repository: null, sessions: [], findings: [], hook_failures: [] });
    expect(report.folder).toEqual(JSON.parse(agtOk(folder, 'snapshot', 'status', '--json')));
    const project = makeRepository();
    expect(JSON.parse(agtOk(project, 'status', '--json')).folder).toBeNull();
    agtOk(project, 'snapshot');
    expect(agtOk(project, 'status')).toMatch(/^snapshots {2}1$/m);
  });
});

test('status goes on where a sandbox cannot be captured', () => {
  const session = makeSession();
  agtOk(session.repository, 'session', 'new', '--id', 's2');
  rmSync(join(session.sandbox, '.git'));
  const outcome = agt(session.repository, 'status');
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
  expect(outcome.stdout).toMatch(/^s2 /m);
  expect(outcome.stdout).toContain('error: s1: its sandbox has lost its .git file');
});

test('a branch that an agent has deleted, and that a redo has deleted again, is named', () => {
  const { folder, turn, edit } = makeFolder();
  const moved = () => JSON.parse(agtOk(folder, 'snapshot', 'status', '--json')).moved_branches;
  git(folder, 'branch', 'topic');
  turn('one', () => git(folder, 'branch', '-qD', 'topic'), edit('a', '1\n'));
  const first = moved();
  expect(first).toMatchObject([{ branch: 'topic', to: null, agent: 'claude' }]);
  agtOk(folder, 'undo', '--turn');
  expect(moved()).toEqual([]);
  agtOk(folder, 'redo', '--turn');
  expect(moved()).toEqual(first);
  agtOk(folder, 'undo', '--turn');
  git(folder, 'branch', '-qD', 'topic'); // by a person
  expect(moved()).toEqual([]);
});

test('what snapshots leave out, with its size and the setting that takes it', () => {
  const { repository, sandbox } = makeSession();
  agtOk(repository, 'config', 'set', '--global', 'agt.maxFileSize', '1k');
  write(join(sandbox, 'large'), Buffer.alloc(2000));
  const reason = 'is larger than agt.maxFileSize (2000 bytes)';
  const line = `sandbox/large ${reason}`;
  const setting = 'to take larger files: agt config set agt.maxFileSize SIZE';
  expect(agt(repository, 'status').stdout).toMatch(
    new RegExp(`^s1 leaves out +${RegExp.escape(line)}\n +${setting}\n`, 'm'),
  );
  const [view] = JSON.parse(agt(repository, 'status', '--json').stdout).sessions;
  expect(view.skipped).toEqual([{ path: 'sandbox/large', reason }]);
  agt(repository, 'autocommit', 's1');
  expect(agtOk(repository, 'session', 'show', 's1')).toMatch(
    new RegExp(`^left out +${RegExp.escape(line)}\n +${setting}$`, 'm'),
  );
  const folder = makeTempDir('notes');
  write(join(folder, 'large'), Buffer.alloc(2000));
  agt(folder, 'snapshot');
  expect(agt(folder, 'snapshot', 'status').stdout).toMatch(
    new RegExp(
      `^not taken +large ${RegExp.escape(reason)}\n +to take larger files: agt config set --global `,
      'm',
    ),
  );
  agtOk(repository, 'config', 'unset', '--global', 'agt.maxFileSize');
  expect(agtOk(repository, 'status')).not.toContain('leaves out');
});
