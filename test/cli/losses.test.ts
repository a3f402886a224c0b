/** Each way of losing work, in a checkout without a session, with the events of an agent before and after the call. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { LOSSES, type Loss, makePrecious, stateOf } from '../agents/losses.ts';
import { AGT, agt, agtOk, git, makeTempDir, run } from '../harness/world.ts';

let calls = 0;

/** As the agent runs its shell, after the event of its start: Claude Code reads a file of settings that agt writes. */
function startAgent(folder: string): void {
  const file = join(makeTempDir(), 'environment');
  const input = JSON.stringify({
    session_id: 'c',
    cwd: folder,
    hook_event_name: 'SessionStart',
    source: 'startup',
  });
  spawnSync(AGT, ['hook', 'claude-code'], {
    cwd: folder,
    input,
    env: { ...process.env, CLAUDE_ENV_FILE: file },
  });
  environment = existsSync(file) ? `. ${file}; ` : '';
}

let environment = '';

beforeEach(() => {
  environment = '';
});

/** The events of a call, as Claude Code sends them. `isLate`: the hook after the call was killed. */
function call(
  folder: string,
  command: string,
  { conversation = 'c', isLate = false, mayComplain = false } = {},
): void {
  const id = `call ${calls++}`;
  const event = (name: string) => ({
    ...{ session_id: conversation, cwd: folder, hook_event_name: name, tool_name: 'Bash', tool_use_id: id },
    ...{ tool_input: { command }, tool_response: {} },
  });
  const send = (name: string) =>
    spawnSync(AGT, ['hook', 'claude-code'], {
      cwd: '/',
      input: JSON.stringify(event(name)),
      encoding: 'utf8',
    });
  expect(send('PreToolUse')).toMatchObject({ status: 0, stdout: '', ...(mayComplain ? {} : { stderr: '' }) });
  run('sh', ['-c', `${environment}${command}`], { cwd: folder });
  if (!isLate) expect(send('PostToolUse').status).toBe(0);
}

function loseAndUndo(folder: string, { person, call: command }: Loss, options = {}): void {
  call(folder, 'true');
  sh(folder, person);
  const before = stateOf(folder);
  call(folder, command, options);
  expect(stateOf(folder)).not.toBe(before);
  // agt's git makes a snapshot in the middle of a script: then that is a step of its own.
  for (let step = 0; step < 3 && stateOf(folder) !== before; step++) undo(folder);
  expect(stateOf(folder)).toBe(before);
}

describe.each(LOSSES)('$name', (loss) => {
  test('agt undo brings all of it back', () => {
    const folder = makePrecious();
    startAgent(folder);
    loseAndUndo(folder, loss);
  });
});

const named = (...names: string[]) => LOSSES.filter(({ name }) => names.includes(name));
const GIT = named('git reset --hard', 'git stash clear', 'git branch -D', 'git clean -fdx', 'rm -rf .git');

describe.each([
  ['a linked worktree', 'linked', 'git -C ../linked submodule --quiet deinit -f --all'],
  [
    'a submodule',
    'project/module',
    'cp module/m module/a; git -C module add a; git -C module commit -qm a; git -C module branch topic',
  ],
])('in %s', (_, place, prepare) => {
  // Without its .git file, the folder of a submodule is one of the repository around it.
  const losses = place === 'linked' ? GIT : GIT.filter(({ name }) => name !== 'rm -rf .git');
  test.each(losses)('$name: agt undo brings all of it back', (loss) => {
    const project = makePrecious();
    const folder = join(dirname(project), place);
    sh(project, prepare);
    sh(
      folder,
      'mkdir -p "sub dir"; echo b >"sub dir/b"; git add .; git commit -qm more; git commit -q --allow-empty -m x',
    );
    startAgent(folder);
    loseAndUndo(folder, loss);
  });
});

test.each(GIT)('$name: the hook after the call was killed', (loss) => {
  loseAndUndo(makePrecious(), loss, { isLate: true });
});

test('two agents in one checkout: each step back, to the edits that the first call destroyed', () => {
  const folder = makePrecious();
  call(folder, 'true');
  sh(folder, 'echo mine >a; git stash -q; echo more >a');
  const first = stateOf(folder);
  call(folder, 'git stash clear; git checkout -q .', { conversation: 'one' });
  sh(folder, 'echo again >"sub dir/b"');
  const second = stateOf(folder);
  call(folder, 'rm -rf "sub dir"; git branch -qD topic', { conversation: 'two' });
  undo(folder);
  expect(stateOf(folder)).toBe(second);
  undo(folder);
  undo(folder);
  expect(stateOf(folder)).toBe(first);
});

describe.each(GIT)('$name, while the disk of the snapshots is full', (loss) => {
  test('the tool goes on, agt says so, and undo knows whole snapshots alone', ({ skip }) => {
    const disk = makeTempDir('disk');
    const mounted = run('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk], { cwd: '/' });
    skip(mounted.exitCode !== 0, 'a small disk cannot be mounted here');
    const before = process.env['XDG_STATE_HOME'];
    process.env['XDG_STATE_HOME'] = disk;
    try {
      mkdirSync(join(disk, 'agt/hooks'), { recursive: true }); // as agt hooks install does
      const folder = makePrecious();
      call(folder, 'true');
      const whole = stateOf(folder);
      const list = () => JSON.parse(agtOk(folder, 'snapshot', 'list', '--json')) as { commit: string }[];
      const snapshots = list();
      const full = join(disk, 'full');
      sh(disk, 'dd if=/dev/zero of=full bs=64k 2>/dev/null || :');
      sh(folder, loss.person);
      call(folder, loss.call, { mayComplain: true });
      expect(list()).toEqual(snapshots);
      rmSync(full);
      const store = JSON.parse(agtOk(folder, 'snapshot', 'status', '--json')).store;
      expect(git(store, 'fsck', '--strict', '--no-dangling')).toBe('');
      expect(agt(folder, 'status').stdout).toMatch(/no space left|not enough space/i);
      call(folder, 'echo later >later');
      expect(list().length).toBeGreaterThan(snapshots.length);
      undo(folder);
      expect(existsSync(join(folder, 'later'))).toBe(false);
      if (stateOf(folder) !== whole) undo(folder);
      expect(stateOf(folder)).toBe(whole);
    } finally {
      run('umount', [disk], { cwd: '/' });
      if (before === undefined) delete process.env['XDG_STATE_HOME'];
      else process.env['XDG_STATE_HOME'] = before;
    }
  });
});

function sh(folder: string, script: string): void {
  const { exitCode, stderr } = run('sh', ['-c', script], { cwd: folder });
  expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
}

/** In the folder that the call has emptied or removed. */
function undo(folder: string): void {
  const linked = join(dirname(folder), 'linked');
  const isRemoved = basename(folder) === 'project' && !existsSync(linked);
  if (isRemoved) mkdirSync(linked);
  const undone = isRemoved ? agt(linked, 'restore', '@') : agt(folder, 'undo');
  expect(undone.stderr).not.toMatch(/^error/m);
}
