/** Each hint is followed to the letter. */
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { agtWithPermissions, permissionsProblem } from '../harness/privileges.ts';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, run, write } from '../harness/world.ts';

test('accept has a conflict with uncommitted work: sync, commit, solve, accept', () => {
  const { repository, sandbox } = makeSession({ 'a b': '1\n' });
  write(join(sandbox, 'a b'), 'agent\n');
  write(join(repository, 'a b'), 'user\n');
  git(repository, 'commit', '-qam', 'Mine');
  const env = { PATH: `${dirname(AGT)}:${process.env['PATH']}` };
  const follow = (stderr: string) => {
    const [, command = ''] = /hint: [^:\n]*: ((?:agt|git) .*)\n$/.exec(stderr) ?? [];
    expect(command).not.toBe('');
    return run('/bin/sh', ['-c', command], { cwd: repository, env });
  };
  const refused = agt(repository, 'accept', 's1');
  expect(refused.exitCode).toBe(1);
  const blocked = follow(refused.stderr);
  expect(blocked.stderr).toContain('a b: not committed');
  expect(follow(blocked.stderr).exitCode).toBe(0);
  expect(follow(agt(repository, 'accept', 's1').stderr).exitCode).toBe(1);
  write(join(sandbox, 'a b'), 'both\n');
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-qm', 'Solved');
  agtOk(repository, 'accept', 's1');
  expect(readFileSync(join(repository, 'a b'), 'utf8')).toBe('both\n');
});

test.skipIf(permissionsProblem())(
  'a file that cannot be read: accept says --keep, which leaves it out',
  () => {
    const { repository, sandbox } = makeSession({ a: '1\n' });
    write(join(sandbox, 'a'), '2\n');
    write(join(sandbox, 'closed'), 'secret\n');
    chmodSync(join(sandbox, 'closed'), 0);
    const accept = (...more: string[]) => agtWithPermissions(repository, 'accept', 's1', ...more);
    expect(accept().stderr).toMatch(/or let the session go on: --keep\n$/);
    expect(accept('--keep', '--untracked=all')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('left out closed\n'),
      stderr: 'warning: stays out, because its mode keeps agt from it: closed\n',
    });
    expect(git(repository, 'show', '--name-only', '--format=')).toBe('a');
  },
);

test('after a move of the repository with its sessions, each command on a session works', () => {
  const { repository } = makeSession({ a: '1\n' });
  const moved = join(repository, '../moved');
  renameSync(repository, moved);
  renameSync(`${repository}.agt`, `${moved}.agt`);
  expect(agt(moved, 'list')).toMatchObject({
    stdout: expect.stringContaining('sandbox moved'),
    stderr: 'note: to connect what has moved again (s1): agt doctor --fix\n',
  });
  const sandbox = join(`${moved}.agt`, 'sessions/s1/sandbox');
  expect(agtOk(moved, 'run', 's1', '--', 'pwd')).toBe(sandbox);
  expect(agtOk(moved, 'session', 'path', 's1')).toBe(sandbox);
  expect(agtOk(moved, 'list')).toMatch(/^s1 +active/m);
  writeFileSync(join(sandbox, 'a'), '2\n');
  agtOk(moved, 'accept', 's1');
  expect(readFileSync(join(moved, 'a'), 'utf8')).toBe('2\n');
});

test('unaccept lists what was accepted, and says that an acceptance was taken back already', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  const hintOf = () => agt(repository, 'unaccept').stderr.split('\n')[1];
  expect(hintOf()).toBe('hint: there are no accepted sessions here');
  agtOk(repository, 'new', 'other', '-q');
  write(join(sandbox, 'a'), '2\n');
  agtOk(repository, 'accept', 's1');
  expect(hintOf()).toBe('hint: accepted sessions: s1');
  expect(agt(repository, 'unaccept', 'other').stderr).toMatch(/^error: session "other" was not accepted, /);
  agtOk(repository, 'unaccept', 's1');
  expect(agt(repository, 'unaccept', 's1').stderr).toMatch(/^error: "s1" was taken back already\n/);
});

test('where there is no session or no repository: the command for all of them', () => {
  const { repository } = makeSession();
  for (const words of [
    ['log', '--turns'],
    ['session', 'log'],
  ])
    expect(agt(repository, ...words).stderr).toContain('\nhint: of all sessions: agt activity\n');
  expect(agtOk(repository, 'activity')).toBe('no turns');
  expect(agt('/', 'list')).toMatchObject({
    exitCode: 0,
    stderr: 'hint: in all repositories: agt list --everywhere\n',
  });
  expect(agt('/', 'list', '--json')).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
  expect(agt('/', 'activity')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/\nhint: in all repositories: agt activity --everywhere\n$/),
  });
});

test('a setting for all repositories: agt says that the own one of this repository counts, and how to change it', () => {
  const { repository } = makeSession();
  agtOk(repository, 'config', 'set', 'agt.maxFileSize', '1m');
  const { stderr } = agt(repository, 'config', 'set', '--global', 'agt.maxFileSize', '10m');
  expect(stderr).toMatch(
    /^note: here counts 1m, from .*\nnote: to change that: agt config set agt.maxFileSize 10m\n$/,
  );
  agtOk(repository, 'config', 'set', 'agt.maxFileSize', '10m');
  expect(agt(repository, 'config', 'set', '--global', 'agt.maxFileSize', '10m').stderr).toBe('');
  agtOk(repository, 'config', 'unset', '--global', 'agt.maxFileSize');
});

test('agt list with a name: which session, or which remote, it may be', () => {
  const { repository } = makeSession();
  git(repository, 'remote', 'add', 'backup', '.');
  expect(agt(repository, 'list', 's1').stderr).toBe(
    'error: a list has every session, not "s1" alone\nhint: see: agt session show s1\n',
  );
  expect(agt(repository, 'list', 's2').stderr).toMatch(
    /^error: no session "s2" in .*\nhint: did you mean: s1\?\n/,
  );
  expect(agt(repository, 'list', 'backup').stderr).toMatch(/^note: no sessions on backup; /);
  expect(agt(repository, 'list', 'backup/').stderr).toMatch(
    /^error: this repository has no remote "backup\/"\nhint: did you mean: backup\?\n/,
  );
  expect(agt(repository, 'status', 's1').stderr).toMatch(
    /^error: unknown argument "s1"\nhint: one session: agt session show s1\n/,
  );
  expect(agtOk(repository, 'list', '--help')).toContain('agt session list [remote-name] [options]\n');
});

test('the id of a session that has ended: agt new says how to go on with it', () => {
  const { repository } = makeSession();
  agtOk(repository, 'remove', 's1');
  const { stderr } = agt(repository, 'new', 's1');
  expect(stderr).toContain('hint: bring it back: agt undo s1\n');
  agtOk(repository, 'undo', 's1');
  expect(agtOk(repository, 'list')).toMatch(/^s1 +active/m);
});

test('among the session folders, agt means the repository that they are of', () => {
  const { repository } = makeSession();
  for (const folder of [`${repository}.agt`, `${repository}.agt/sessions`])
    expect(agtOk(folder, 'list')).toMatch(/^s1 +active/m);
  const other = join(repository, '../other.agt');
  write(join(other, 'sessions/file'), 'x');
  expect(agt(other, 'new').stderr).toContain('hint: change to one, or make one: git init');
});

test('accept in a checkout without sessions: what agents did there is in its files', () => {
  const plain = makeRepository();
  agtOk(plain, 'snapshot');
  expect(agt(plain, 'accept').stderr).toMatch(
    /^error: no session given, .*\nhint: begin one: agt new ID; .* in your own files/,
  );
});

test('blame and why of a session: the command in its sandbox; an option of git: its own command', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  write(join(sandbox, 'a b'), 'of the agent\n');
  const there = `agt -C ${sandbox}`;
  const hintOf = (...words: string[]) => agt(repository, ...words).stderr;
  const isSession = 'error: "s1" is a session\n';
  expect(hintOf('blame', 's1', 'a b')).toBe(`${isSession}hint: in its sandbox: ${there} blame 'a b'\n`);
  expect(hintOf('why', 's1', 'a b:1')).toBe(`${isSession}hint: in its sandbox: ${there} why 'a b:1'\n`);
  expect(agtOk(repository, '-C', sandbox, 'blame', 'a b')).toContain('of the agent');
  expect(hintOf('blame', '-s', 'a')).toContain("hint: git's own command may have it: agt git blame\n");
  expect(hintOf('blame', '--jsn', 'a')).toContain('hint: did you mean: --json?\n');
  git(repository, 'branch', 's1');
  for (const words of [
    ['blame', 's1', 'a'],
    ['why', 's1', 'a:1'],
  ])
    expect(agtOk(repository, ...words)).toContain('1');
  git(repository, 'branch', '-D', 's1');
  agtOk(repository, 'reject', 's1');
  expect(hintOf('why', 's1', 'a:1')).toBe(
    `${isSession}hint: bring it back: agt undo s1\nhint: in its sandbox: ${there} why a:1\n`,
  );
});

test('the first step of a session, which has deleted all, is taken back', () => {
  const { sandbox } = makeSession({ f: 'f\n' });
  rmSync(join(sandbox, 'f'));
  agtOk(sandbox, 'undo');
  expect(readFileSync(join(sandbox, 'f'), 'utf8')).toBe('f\n');
});

test('a name that is both a session and a branch starts nothing, and agt path leads to no folder that is gone', () => {
  const { repository } = makeSession();
  git(repository, 'branch', 's1');
  const hint = /--from (heads\/s1)\n/.exec(agt(repository, 'new', 's2', '--from', 's1').stderr)?.[1] ?? '';
  expect(agtOk(repository, 'new', 's2', '--from', hint)).toMatch(/ from s1$/);
  agtOk(repository, 'remove', 's2');
  expect(agt(repository, 'path', 's2')).toMatchObject({ exitCode: 1, stdout: '' });
});

test.each([
  [['run'], 'run --new -- COMMAND'],
  [['run', 's1'], 'run s1 -- COMMAND'],
  [['run', 's1', 's2', 'test', 'a b'], "run s1 s2 -- test 'a b'"],
  [['run', 'true'], 'run --new -- true'],
  [['session', 'diff', 's1', 's2'], 'session diff s1 --with s2'],
  [['session', 'diff', 's1', 'made'], 'session diff s1 -- made'],
  [['session', 'diff', 's1', 'first', 'made'], 'session diff s1 first -- made'],
])('agt %j: the hint has the words that were given', (words, command) => {
  const { repository, sandbox } = makeSession();
  agtOk(repository, 'new', 's2', '-q');
  write(join(sandbox, 'made'), '1');
  agtOk(repository, 'autocommit', 's1', '--label', 'first');
  const { exitCode, stderr } = agt(repository, ...words);
  expect([exitCode !== 0, stderr]).toEqual([true, expect.stringContaining(`: agt ${command}\n`)]);
  if (!command.includes('COMMAND')) expect(agt(repository, ...parse(command)).exitCode).toBe(0);
});

/** As a shell. */
const parse = (command: string) =>
  [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);

test.each([
  ['run s1 "echo x"', "put it after --: agt run s1 -- sh -c 'echo x'"],
  ['run s1 ls -la', 'put the command to run, with its options, after --'],
  ['run --new s11 ls', 'if s11 is the id: agt run --new s11 -- ls'],
  ['run nope -- true', 'to begin it: agt run --new nope -- COMMAND'],
  ['blame --session s1 a', 'use: agt -C "$(agt path SESSION)" blame FILE'],
  ['st', 'did you mean: agt status?'],
  ['rename s1 s2', 'did you mean: agt fork?'],
  ['page', 'did you mean: agt ui?'],
  ['blame a:1', 'a line is an option: agt blame -L 1,1 a'],
  ['close s1', 'did you mean: agt accept, agt reject?'],
  ['rebase s1', '"s1" is a session: agt accept s1'],
  ['cherry-pick s1', '"s1" is a session: agt accept s1'],
  ['push s1', '"s1" is a session: agt session push s1'],
  ['pull S1', 'did you mean the session "s1": agt session pull s1'],
  ['push s1 --release', '"s1" is a session: agt session push s1 --release'],
  ['push backup s1', '"s1" is a session: agt session push s1 backup'],
  ['pull s1 --as "a b"', `"s1" is a session: agt session pull s1 --as 'a b'`],
  ['bundle s1 s1.html --html', '"s1" is a session: agt session bundle s1 s1.html --html'],
  ['log --all-session -n 3', 'did you mean: agt log --all-sessions -n 3?'],
  ['show s1:a', '"s1" is a session: agt cat s1 @:a'],
  ['why -L 4 a', 'use: agt why FILE:LINE'],
  ['accept s1 src/x', 'in place of it: --include=src/x'],
])('agt %s: the command that was meant', (words, hint) => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  const { stderr, exitCode } = run('sh', ['-c', `"$0" ${words}`, AGT], { cwd: repository });
  expect(stderr).toContain(`hint: ${hint}\n`);
  expect(stderr).not.toMatch(/usage: git (push|pull)/);
  expect(exitCode).toBeGreaterThan(0);
  expect(git(repository, 'show', 'HEAD:a')).toBe('a');
});

test('a sandbox without its .git file is there, and agt list says so', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  rmSync(join(sandbox, '.git'));
  expect(agtOk(repository, 'list').replaceAll(/ +/g, ' ')).toMatch(/^s1 sandbox broken \+0 \? \? - \? /m);
  expect(agtOk(repository, 'undo', 's1')).toContain(
    'only its .git file was missing, and is back; one step back:',
  );
});

test.each(['mv', 'git mv'])('the hint of a conflict commits both names of a file: %s', (move) => {
  const repository = makeRepository();
  write(join(repository, 'old name'), '1\n2\n3\n4\n5\n6\n7\n8\n');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', 'old name');
  agtOk(repository, 'new', 'moves');
  const { stdout: moved } = run(AGT, ['path', 'moves'], { cwd: repository });
  run('sh', ['-c', `${move} 'old name' new-name`], { cwd: moved.trim() });
  write(join(moved.trim(), 'id_rsa'), 'key\n');
  write(join(repository, 'old name'), '1\n2\n3\n4\n5\n6\n7\n8\nnine\n');
  git(repository, 'commit', '-qam', 'nine');
  const { stderr } = agt(repository, 'sync', 'moves');
  const [, hint = ''] = /in the sandbox first: (.*)/.exec(stderr) ?? [];
  expect(run('sh', ['-c', hint], { cwd: repository })).toMatchObject({ exitCode: 0, stderr: '' });
  agtOk(repository, 'sync', 'moves');
  expect(git(moved.trim(), 'show', 'HEAD:new-name')).toContain('nine');
  expect(git(moved.trim(), 'ls-files', 'old name', 'id_rsa')).toBe('');
});

test('the hint to commit first repeats no title of a commit of the sandbox', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(repository, 'a'), 'mine\n');
  git(repository, 'commit', '-qam', 'mine');
  const labels = ['login form', 'dark mode', undefined, undefined];
  const titles = labels.map((label, i) => {
    write(join(sandbox, 'a'), `${i}\n`);
    agtOk(repository, 'autocommit', 's1', ...(label === undefined ? [] : ['--label', label]));
    const [, commit = ''] = /in the sandbox first: (.*)/.exec(agt(repository, 'accept', 's1').stderr) ?? [];
    expect(run('sh', ['-c', commit], { cwd: repository }).exitCode).toBe(0);
    return git(sandbox, 'log', '-1', '--format=%s');
  });
  expect(titles).toEqual(['login form', 'dark mode', 'Work of session s1', 'More work of session s1']);
});
