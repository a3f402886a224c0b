/** A shell command of an agent in a session writes into the user's checkout: it is recorded there, and comes back. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { Front, toolEvent } from '../harness/front.ts';
import { makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { AGT, agtOk, git, makeRepositoryAt, makeTempDir, run, write } from '../harness/world.ts';
import { failures, hook, log, metadata, silent, toolOf } from './hooks.ts';

const FILES = { x: 'x\n', 'sub/y': 'y\n' };

/** Runs a command as an agent in the sandbox does. */
function shell(cwd: string, command: string, id = 't1', after = 'PostToolUse'): void {
  expect(toolOf(cwd, 'Bash', { command }, 'PreToolUse', id)).toEqual(silent);
  run('sh', ['-c', command], { cwd });
  expect(toolOf(cwd, 'Bash', { command }, after, id)).toEqual(silent);
}

test.each([
  ['an absolute path', ({ repository }) => `sed -i s/x/agent/ ${repository}/x`],
  ['cd and rm', ({ repository }) => `cd "${repository}" && rm x`],
  ['the home directory', () => 'rm ~/work/project/x'],
  ['two dots from the home directory', () => 'rm $HOME/work/../work/project/x'],
  ['two dots', () => 'echo agent >../../../../project/x'],
  ['two dots of a directory above', () => 'cd ../../../.. && rm project/x'],
  [
    'a link',
    ({ repository, sandbox }) => {
      symlinkSync(join(repository, 'sub'), join(sandbox, 'up'));
      return 'rm up/y; echo agent >up/../x';
    },
  ],
  ['git', ({ repository }) => `git -C ${repository} commit -qam agent; git -C ${repository} branch -qD own`],
] as [string, (session: TestSession) => string][])(
  'by %s: agt status says who it was, and agt undo takes it back',
  (_, commandIn) => {
    const home = process.env['HOME'] ?? '';
    rmSync(join(home, 'work'), { recursive: true, force: true });
    const session = sessionIn(makeRepositoryAt(join(home, 'work/project'), FILES));
    const { repository, sandbox } = session;
    writeFileSync(join(repository, 'x'), 'x of a person\n');
    git(repository, 'branch', 'own', 'HEAD');
    const refs = git(repository, 'for-each-ref', 'refs/heads/main', 'refs/heads/own');
    const call = commandIn(session);
    shell(sandbox, call);
    expect(existsSync(join(repository, '.git/agt/strays/s1'))).toBe(false);
    const status = agtOk(repository, 'status');
    expect(status).toMatch(/by session +s1, .*: Bash: .* \(claude, t1\) has changed /);
    expect(status).toMatch(/to take it back: agt undo\n/);
    expect(agtOk(repository, 'snapshot', 'list')).toMatch(/\(Bash: .*\) \(by session s1\) \(claude\)/);
    expect(agtOk(repository, 'activity')).toMatch(/ project \(folder\) +claude +\d+ +\(by session s1\)/);
    for (const options of [[], ['--everywhere']])
      expect(JSON.parse(agtOk(repository, 'activity', '--json', ...options))).toContainEqual(
        expect.objectContaining({
          ...{ folder: repository, repository: null, session_id: null, by_session: 's1' },
        }),
      );
    agtOk(repository, 'undo');
    expect(readFileSync(join(repository, 'x'), 'utf8')).toBe('x of a person\n');
    expect(readFileSync(join(repository, 'sub/y'), 'utf8')).toBe('y\n');
    expect(git(repository, 'for-each-ref', 'refs/heads/main', 'refs/heads/own')).toBe(refs);
    expect(agtOk(repository, 'status')).not.toContain('by session');
    expect(failures()).toEqual([]);
  },
);

test('a person has gone on: the way back names the files of the call alone, and it works', () => {
  const { repository, sandbox } = makeSession(FILES);
  shell(sandbox, `echo agent >"${repository}/sub/y"; echo agent >"${repository}/it's"`);
  writeFileSync(join(repository, 'x'), 'of a person\n');
  const { folder } = JSON.parse(agtOk(repository, 'status', '--json'));
  const [{ take_back, ...stray }] = folder.by_sessions;
  const about = { session_id: 's1', agent: 'claude', tool: 'Bash', call_id: 't1' };
  expect(stray).toMatchObject({ ...about, paths: ["it's", 'sub/y'] });
  run('sh', ['-c', take_back.replace(/^agt /, `${AGT} `)], { cwd: repository });
  const texts = ['x', 'sub/y'].map((name) => readFileSync(join(repository, name), 'utf8'));
  expect(texts).toEqual(['of a person\n', 'y\n']);
  expect(existsSync(join(repository, "it's"))).toBe(false);
  expect(JSON.parse(agtOk(repository, 'status', '--json')).folder.by_sessions).toEqual([]);
});

test('a person has taken it back by git and gone on in the file: agt status tells of it no longer', () => {
  const { repository, sandbox } = makeSession({ x: 'x\n2\n3\n4\n' });
  shell(sandbox, `sed -i s/x/agent/ ${repository}/x`);
  git(repository, 'checkout', '-q', 'x');
  writeFileSync(join(repository, 'x'), 'x\n2\n3\n4\nof a person\n');
  agtOk(repository, 'snapshot');
  expect(JSON.parse(agtOk(repository, 'status', '--json')).folder.by_sessions).toEqual([]);
});

test('calls at once, one that failed, and one whose end no event tells', () => {
  const { repository, sandbox } = makeSession(FILES);
  const [one, two, three] = ['1', '2', '3'].map((name) => `touch ${repository}/${name}`);
  if (one === undefined || two === undefined || three === undefined) throw new Error();
  const event = (name: string, command: string, id: string) => toolOf(sandbox, 'Bash', { command }, name, id);
  event('PreToolUse', one, 'a');
  run('sh', ['-c', one], { cwd: sandbox });
  event('PostToolUseFailure', one, 'a');
  event('PreToolUse', two, 'b');
  event('PostToolUse', 'ls', 'c');
  run('sh', ['-c', two], { cwd: sandbox });
  event('PostToolUse', two, 'b');
  event('PreToolUse', three, 'd');
  run('sh', ['-c', three], { cwd: sandbox });
  hook(sandbox, 'Stop');
  const log = JSON.parse(agtOk(repository, 'snapshot', 'list', '--json')) as Record<string, unknown>[];
  expect(log.filter(({ by_session }) => by_session === 's1').reverse()).toMatchObject([
    { before: 'Bash' }, // the first snapshot
    { summary: one, outcome: 'failed', added: 1 },
    { summary: two, outcome: 'succeeded', added: 1 },
    { summary: three, added: 1 },
  ]);
  expect(existsSync(join(repository, '.git/agt/strays/s1'))).toBe(false);
  expect(failures()).toEqual([]);
});

test('the front starts agt for such a call, and for none that stays in the sandbox', () => {
  const { repository, sandbox, folder } = makeSession({ ...FILES, 'bin/run': '#!/bin/sh\n' });
  const other = sessionIn(repository, 's2');
  const program = join(makeTempDir(), 'program');
  write(program, '', 0o755);
  symlinkSync(program, join(sandbox, 'bin/program'));
  symlinkSync(repository, join(sandbox, 'up'));
  symlinkSync(join(repository, 'made by a write'), join(sandbox, 'dead'));
  const front = new Front();
  const starts = (tool_input: object, event = 'PreToolUse') =>
    front.starts(sandbox, ['hook', 'claude-code'], {
      input: toolEvent(sandbox, { tool_input }).replace('PostToolUse', event),
    });
  front.settle(sandbox, () => starts({ command: 'ls' }));
  const home = process.env['HOME'] ?? '';
  for (const command of [
    `ls ${repository}`,
    `cd '${repository}'; make`,
    `sed -i s/a/b/ ${repository}/x`,
    'cat ../../../../project/x',
    'cat ~/../x',
    'cd ../..',
    `rm ${other.sandbox}/x`,
    'echo x >up/x',
    'cat up',
    'echo x >dead',
    `rm ${sandbox}/up/x`,
  ])
    expect([command, starts({ command })]).toEqual([command, true]);
  for (const command of [
    'ls -la && npm test',
    `cd ${sandbox} && rm x`,
    `rm ${folder}/xdg/y`,
    `ls ${repository}2 ${repository}.old ${dirname(repository)} /tmp ${home}`,
    'bin/program --all; ./bin/run; cd ..',
    'git log --format="%h | %s" <x >sub/z',
  ])
    expect([command, starts({ command })]).toEqual([command, false]);
  expect(starts({ file_path: join(sandbox, 'up/x') })).toBe(true);
  expect(starts({ file_path: join(sandbox, 'dead') })).toBe(true);
  expect(starts({ file_path: join(sandbox, 'sub/../up/x') })).toBe(true);
  expect(starts({ file_path: join(sandbox, 'sub/y'), content: `see ${repository}/x` })).toBe(false);
  // While such a call is under way, the front passes every event on.
  expect(starts({ command: 'ls' }, 'PostToolUse')).toBe(false);
  toolOf(sandbox, 'Bash', { command: `ls ${repository}` }, 'PreToolUse');
  expect(starts({ command: 'ls' }, 'PostToolUse')).toBe(true);
  toolOf(sandbox, 'Bash', { command: `ls ${repository}` });
  front.settle(sandbox, () => starts({ command: 'ls' }));
  const linked = join(makeTempDir(), 'linked tree');
  git(repository, 'worktree', 'add', '-q', '-b', 'side', linked);
  // busybox compares seconds.
  const later = new Date(Date.now() + 2_000);
  utimesSync(join(repository, '.git/worktrees'), later, later);
  expect(starts({ command: 'ls' })).toBe(true); // agt has to look where it is
  utimesSync(join(repository, '.git/worktrees'), new Date(0), new Date(0));
  front.settle(sandbox, () => starts({ command: 'ls' }));
  expect(starts({ command: `rm "${linked}/x"` })).toBe(true);
  expect(starts({ command: `rm ${linked.replace(' ', '\\ ')}/x` })).toBe(true);
});

test('a folder that the call removes, and a disk that is full, stop nothing', ({ skip }) => {
  const { repository, sandbox } = makeSession(FILES);
  const linked = join(makeTempDir(), 'linked');
  git(repository, 'worktree', 'add', '-q', '-b', 'side', linked);
  writeFileSync(join(linked, 'mine'), 'of a person\n');
  shell(sandbox, `rm -rf ${linked}; rm ${repository}/x`);
  expect(failures()).toEqual([]);
  expect(agtOk(repository, 'status')).toMatch(/by session +s1, .*: Bash: .* has changed x/);
  mkdirSync(linked);
  agtOk(linked, 'restore', '@');
  expect(readFileSync(join(linked, 'mine'), 'utf8')).toBe('of a person\n');

  const disk = makeTempDir('disk');
  const mounted = run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { cwd: '/' });
  skip(mounted.exitCode !== 0, 'a small disk cannot be mounted here');
  process.env['XDG_STATE_HOME'] = disk;
  try {
    mkdirSync(join(disk, 'agt/hooks'), { recursive: true });
    shell(sandbox, 'true');
    run('dd', ['if=/dev/zero', `of=${disk}/full`, 'bs=64k'], { cwd: '/' });
    const other = sessionIn(repository, 's2');
    shell(sandbox, `echo agent >${repository}/sub/y; echo agent >${other.sandbox}/x`);
    expect(log(other)[0]).toMatchObject({ tool: 'Bash', by_session: 's1' });
    expect(existsSync(join(repository, '.git/agt/strays/s1'))).toBe(false);
    expect(JSON.parse(agtOk(repository, 'status', '--json')).hook_failures).toMatchObject([
      { tool: 'claude-code', event: 'PreToolUse', reason: expect.stringMatching(/space/i) },
    ]);
  } finally {
    run('umount', ['--lazy', disk], { cwd: '/' });
    delete process.env['XDG_STATE_HOME'];
  }
});

test('another sandbox is recorded in its session; off records nothing; record refuses nothing', () => {
  const { repository, sandbox } = makeSession(FILES);
  const other = sessionIn(repository, 's2');
  shell(sandbox, `rm ${other.sandbox}/x`);
  expect(metadata(other).agent).toBe(undefined);
  expect(log(other)[0]).toMatchObject({ tool: 'Bash', by_session: 's1', deleted: 1 });
  agtOk(repository, 'config', 'set', '--global', 'agt.fence', 'off');
  shell(sandbox, `rm ${repository}/x`);
  expect(JSON.parse(agtOk(repository, 'status', '--json')).folder).toBe(null);
  agtOk(repository, 'config', 'set', '--global', 'agt.fence', 'record');
  const input = { file_path: join(repository, 'sub/y'), content: 'agent' };
  expect(toolOf(sandbox, 'Write', input, 'PreToolUse')).toEqual(silent);
  writeFileSync(input.file_path, input.content);
  toolOf(sandbox, 'Write', input);
  expect(agtOk(repository, 'status')).toMatch(/by session +s1, .*: Write: .* has changed sub\/y/);
  agtOk(repository, 'config', 'unset', '--global', 'agt.fence');
});

test('calls of two sessions at once: the status names both, where it may have been either', () => {
  const one = makeSession(FILES);
  const { repository } = one;
  const two = sessionIn(repository, 'two');
  const event = (cwd: string, name: string, session_id: string, command: string) =>
    hook(cwd, name, { session_id, tool_name: 'Bash', tool_input: { command }, tool_use_id: session_id });
  event(one.sandbox, 'PreToolUse', 'c-1', `echo >>${repository}/x`);
  writeFileSync(join(repository, 'x'), 'of one\n');
  event(two.sandbox, 'PreToolUse', 'c-2', `echo >>${repository}/sub/y`);
  writeFileSync(join(repository, 'sub/y'), 'of either\n');
  event(one.sandbox, 'PostToolUse', 'c-1', `echo >>${repository}/x`);
  event(two.sandbox, 'PostToolUse', 'c-2', `echo >>${repository}/sub/y`);
  const { folder } = JSON.parse(agtOk(repository, 'status', '--json'));
  const told = (folder.by_sessions as { paths: string[]; among: string[] }[]).map(({ paths, among }) => [
    paths,
    among,
  ]);
  expect(told).toEqual([
    [['sub/y'], ['s1', 'two']],
    [['x'], ['s1']],
  ]);
  expect(agtOk(repository, 'status')).toMatch(/by session +s1 or two, .*: a call has changed sub\/y/);
});

test('work before such a call is not by its agent, and a row without a prompt says whose call it was', () => {
  const { repository, sandbox } = makeSession(FILES);
  shell(sandbox, `touch ${repository}/1`);
  writeFileSync(join(repository, 'x'), 'by a person\n');
  shell(sandbox, `touch ${repository}/2`, 't2');
  const rows = agtOk(repository, 'snapshot', 'list').split('\n');
  expect(rows.filter((row) => row.includes('(before Bash)'))[0]).toMatch(
    / \(before Bash\) \(not by claude\)$/,
  );
  agtOk(repository, 'undo', '--step', '@{0}');
  const turns = agtOk(repository, 'log', '--turns').trimEnd().split('\n');
  for (const row of turns.slice(1)) expect(row).toMatch(/ \(by session s1\)$/);
});

test('an undo by turns takes such a call back alone, and the turn before it with the next', () => {
  const { repository, sandbox } = makeSession(FILES);
  hook(repository, 'UserPromptSubmit', { prompt: 'Make g' });
  shell(repository, 'echo g > g', 't0');
  hook(repository, 'Stop');
  shell(sandbox, `echo agent >"${repository}/x"`);
  agtOk(repository, 'undo', '--turn');
  expect(readFileSync(join(repository, 'x'), 'utf8')).toBe('x\n');
  expect(existsSync(join(repository, 'g'))).toBe(true);
  expect(agtOk(repository, 'undo', '--turn')).toContain('undone: turn "Make g"');
  expect(existsSync(join(repository, 'g'))).toBe(false);
});
