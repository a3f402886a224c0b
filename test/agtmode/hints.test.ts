/** A command that cannot run here passes on the reason, and its hint helps. */
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

test("another user's repository: git's reason and advice, also in doctor", () => {
  const repository = makeRepository();
  const asOther = (...args: string[]) =>
    run(AGT, args, { cwd: repository, env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } });
  for (const words of [['session', 'list'], ['status'], ['session', 'new']]) {
    expect(asOther(...words)).toEqual({
      exitCode: 128,
      stdout: '',
      stderr:
        `error: git cannot use this repository: detected dubious ownership in repository at '${repository}'\n` +
        `hint: git config --global --add safe.directory ${repository}\n`,
    });
  }
  const doctor = asOther('doctor');
  expect(doctor.stdout).toContain('detected dubious ownership');
  expect(doctor.stdout).toContain(`git config --global --add safe.directory ${repository}`);
  expect(doctor.stdout).not.toContain('nothing is wrong');
  expect(doctor.exitCode).toBe(1);
});

test('no git on PATH: the way that is named works', () => {
  const repository = makeRepository();
  const withoutGit = { PATH: '/nonexistent', AGT_GIT_PATH: undefined };
  const refused = run(AGT, ['session', 'list'], { cwd: repository, env: withoutGit });
  expect(refused.stderr).toBe(
    'error: no git found on PATH\nhint: install git, or put its directory on PATH: PATH=/path/to/bin:"$PATH"\n',
  );
  const env = { ...withoutGit, PATH: dirname(REAL_GIT) };
  expect(run(AGT, ['session', 'list'], { cwd: repository, env }).exitCode).toBe(0);
});

test('export: several remotes, and a remote that is gone', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'x'), 'x');
  git(sandbox, 'add', 'x');
  git(sandbox, 'commit', '-q', '-m', 'x');
  git(repository, 'remote', 'add', 'one', join(makeTempDir(), 'gone'));
  const gone = agt(repository, 'session', 'export', 's1');
  expect(gone.exitCode).toBe(128);
  expect(gone.stderr).toMatch(
    /nothing was exported\nhint: see where it is: git remote get-url --push one\n$/,
  );
  git(repository, 'remote', 'add', 'two', '.');
  expect(agt(repository, 'session', 'export', 's1')).toMatchObject({
    exitCode: 2,
    stderr:
      'error: this repository has several remotes, and no setting chooses one\nhint: choose one with --remote: one, two\n',
  });
});

test('export: a remote that refuses the branch', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'x'), 'x');
  git(sandbox, 'add', 'x');
  git(sandbox, 'commit', '-q', '-m', 'x');
  const remote = join(makeTempDir(), 'remote.git');
  git(repository, 'clone', '-q', '--bare', '.', remote);
  mkdirSync(join(remote, 'hooks'), { recursive: true });
  write(join(remote, 'hooks/update'), '#!/bin/sh\nexit 1\n', 0o755);
  git(repository, 'remote', 'add', 'origin', remote);
  const refused = agt(repository, 'session', 'export', 's1');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('hint: export under another name: agt session export s1 --as NAME\n');
});

/** A folder with two snapshots, and the directory above it; neither is in a repository. */
function makeFolder(): { folder: string; above: string } {
  const above = makeTempDir();
  const folder = join(above, 'notes');
  for (const content of ['1', '2']) {
    write(join(folder, 'd/a'), content);
    agtOk(folder, 'snapshot');
  }
  return { folder, above };
}

test('a folder that has snapshots stands for a session; of any other one agt says what it is', () => {
  const { folder, above } = makeFolder();
  const refused = (cwd: string, given: string) => {
    for (const words of [['undo'], ['session', 'log']])
      expect(agt(cwd, ...words, given)).toMatchObject({ exitCode: 2, stdout: '' });
    return agt(cwd, 'undo', given).stderr;
  };
  const text = () => readFileSync(join(folder, 'd/a'), 'utf8');
  for (const [cwd, given] of [
    [above, 'notes'],
    [above, './notes'],
    [makeSession().sandbox, folder],
  ] as const) {
    expect(agtOk(cwd, 'session', 'log', given)).toMatch(/^SNAPSHOT /);
    expect([agtOk(cwd, 'undo', given), text()]).toEqual([expect.stringMatching(/^notes: restored 1/), '1']);
    expect([agtOk(cwd, 'redo', given), text()]).toEqual([expect.stringMatching(/^notes: restored 1/), '2']);
  }
  expect(refused(folder, 'd')).toBe(
    `error: there is no session "d" here; it is a directory of ${folder}, which has snapshots\n` +
      'hint: to bring a path back: agt restore @{1} -- d\nhint: see: agt snapshot list\n',
  );
  expect(refused(folder, above)).toBe(
    `error: there is no session "${above}" here; the folder ${above} has no snapshots\n` +
      `hint: to take a snapshot: agt -C ${above} snapshot\n`,
  );
  expect(agt(above, 'undo', 'other').stderr).toMatch(
    `error: there is no session "other" here: ${above} is in no git repository, and has no snapshots\n`,
  );
  expect(agt(folder, 'undo', 'other').stderr).toMatch(
    /^error: there is no session "other" here: .* is in no git repository\nhint: .*: agt snapshot list\n$/,
  );
});

test('agt advises no snapshot where it takes none', () => {
  const above = realpathSync(makeTempDir());
  const home = realpathSync(process.env['HOME'] ?? '');
  const bare = join(above, 'b.git');
  git(above, 'init', '-q', '--bare', bare);
  const reasons = [
    ['/', 'the root directory: change to the folder that the agent works on'],
    [home, `your home directory ("${home}"): change to the folder that the agent works on`],
    [bare, `"${bare}", because it belongs to a repository and is no worktree: change to a worktree`],
  ] as const;
  for (const [folder, reason] of reasons) {
    const ways = [agt(folder, 'undo'), agt(above, '-C', folder, 'undo'), agt(above, 'undo', folder)];
    expect(agt(folder, 'list').stdout).not.toMatch(/: agt .*snapshot\n/);
    const status = agt(folder, 'status').stdout;
    if (folder !== bare) expect(status).toContain(`: agt does not snapshot ${reason.split(': ')[0]}\n`);
    for (const { stderr } of ways) {
      expect(stderr).toContain(`hint: agt does not snapshot ${reason}\n`);
      expect(stderr).not.toMatch(/: agt .*snapshot\n/);
    }
  }
});

test('advice to take the first snapshot has -C as the user has it', () => {
  const above = realpathSync(makeTempDir());
  const plain = join(above, 'plain');
  mkdirSync(plain);
  for (const folder of [plain, makeRepository({ 'src/a': 'a' })]) {
    const advice = (cwd: string, ...words: string[]) => agt(cwd, ...words, 'undo').stderr;
    expect(advice(folder)).toContain(': agt snapshot\n');
    const listed = agt(above, '-C', folder, 'list').stdout;
    expect(listed).toMatch(folder === plain ? `: agt -C ${folder} snapshot\n` : /^$/);
    expect(advice(above, '-C', folder)).toContain(`: agt -C ${folder} snapshot\n`);
  }
});

test('a word that is no session, in a checkout with snapshots', () => {
  const folder = makeRepository({ a: 'a' });
  agtOk(folder, 'snapshot');
  const refused = () => agt(folder, 'undo', 'nosuch').stderr;
  const own = "hint: the folder's own snapshots need no id: agt snapshot list\n";
  expect(refused()).toBe(`error: no session "nosuch" in ${join(folder, '.git')}\n${own}`);
  agtOk(folder, 'session', 'new', 's1');
  expect(refused()).toMatch(`${own}hint: sessions here: s1\n`);
});

test('hints about a folder work where they are read', () => {
  const { folder, above } = makeFolder();
  const hintOf = (cwd: string, ...words: string[]) => {
    const { stderr } = agt(cwd, ...words);
    return /^hint: .*: agt (.*)$/m.exec(stderr)?.[1]?.split(' ') ?? [stderr];
  };
  for (const [cwd, way] of [
    [folder, []],
    [above, ['-C', 'notes']],
    [join(folder, 'd'), []],
  ] as const) {
    const list = hintOf(cwd, ...way, 'snapshot', 'restore', '@{9}');
    expect(agtOk(cwd, ...list)).toContain('@{1}');
    expect(list).toEqual([...(cwd === folder ? [] : ['-C', folder]), 'snapshot', 'list']);
    const preview = agt(cwd, ...way, 'snapshot', 'restore', '@', '--path', 'nosuch').stderr;
    const [, command = ''] = /^hint: to see the snapshot: agt (.*)$/m.exec(preview) ?? [];
    expect(agtOk(cwd, ...command.split(' '))).toContain('nothing to restore: as in ');
    expect(agt(cwd, ...way, 'redo').stderr).toContain(
      cwd === folder ? ': agt snapshot restore SNAPSHOT\n' : `: agt -C ${folder} snapshot restore SNAPSHOT\n`,
    );
  }
  const gone = run('sh', ['-c', `mkdir gone && cd gone && rmdir ../gone && '${AGT}' -C '${folder}' redo`], {
    cwd: above,
  });
  expect(gone.stderr).toContain(`: agt -C ${folder} snapshot restore SNAPSHOT\n`);
  const [, back = ''] = /^to take this back: agt (.*)$/m.exec(agtOk(above, '-C', 'notes', 'undo')) ?? [];
  expect(agtOk(above, ...back.split(' '))).toContain('verified');
});

test('a folder that is gone: the command that agt names brings it back', () => {
  const { folder, above } = makeFolder();
  rmSync(folder, { recursive: true });
  const command = `mkdir -p ${folder} && agt -C ${folder} snapshot restore @`;
  for (const gone of ['notes', 'notes/d']) {
    const { exitCode, stderr } = agt(above, '-C', gone, 'undo');
    expect([exitCode, stderr]).toEqual([128, expect.stringContaining(`to bring it back: ${command}\n`)]);
  }
  expect(agt(above, '-C', 'other', 'undo').stderr).not.toContain('hint');
  expect(agt(above, 'du', '--folders').stderr).toMatch(/^hint: to bring a folder back: mkdir -p /m);
  expect(run('sh', ['-c', command.replace('&& agt', `&& '${AGT}'`)], { cwd: above }).exitCode).toBe(0);
  expect(readFileSync(join(folder, 'd/a'), 'utf8')).toBe('2');
});

test('a deleted checkout inside of another one comes back, and the outer one stays as it is', () => {
  const outer = makeRepository({ a: 'first' });
  const inner = join(outer, 'inner');
  git(outer, 'init', '-q', 'inner');
  write(join(inner, 'b'), 'b');
  for (const folder of [outer, inner]) agtOk(folder, 'snapshot');
  write(join(outer, 'a'), 'second');
  rmSync(inner, { recursive: true });
  const [, command = ''] = /to bring it back: (.*)/.exec(agt(outer, '-C', 'inner', 'undo').stderr) ?? [];
  expect(run('sh', ['-c', command.replace('&& agt', `&& '${AGT}'`)], { cwd: outer }).exitCode).toBe(0);
  expect(readFileSync(join(inner, 'b'), 'utf8')).toBe('b');
  expect(readFileSync(join(outer, 'a'), 'utf8')).toBe('second');
});

test('a word that is nearly a session, a command or a number', () => {
  const repository = makeRepository();
  agtOk(repository, 'new', 's2');
  const said = (...words: string[]) => agt(repository, ...words).stderr;
  for (const command of ['show', 'diff', 'log'])
    expect(said(command, 's22')).toContain(
      `hint: did you mean the session "s2": agt session ${command} s2${command === 'diff' ? ' --base' : ''}\n`,
    );
  expect(said('help', 'acept')).toMatch(
    /"acept" is not a command of agt or git\nhint: did you mean: agt accept\?\n/,
  );
  expect(said('undo', 's2', '-3')).toBe(
    'error: "-3" is no number of steps\nhint: without the sign: agt undo s2 3\n',
  );
  expect(said('undo', 's2', 'two')).toBe(
    'error: "two" is no number of steps\nhint: for example: agt undo s2 2\n',
  );
  expect(said('undo', '1', 's2')).toMatch(/\nhint: the session comes first: agt undo s2 1\n$/);
  expect(said('restore', '@{1}', 's2')).toMatch(/\nhint: the session comes first: agt restore s2 @\{1\}\n$/);
  expect(said('new', 'x', '--in-place')).toContain('hint: use: --working-copy in-place\n');
  expect(said('list', 'my')).toContain('error: no session "my" in ');
  expect(said('autocommit')).toContain('hint: without a session: agt snapshot\n');
  expect(said('snapshot', 'ls')).toContain('hint: use: agt snapshot list\n');
  expect(said('snapshot', 'cat', '@:a')).toContain('hint: use: agt cat SNAPSHOT:PATH\n');
  for (const words of [['before it'], ['--label', 'before', 'it']])
    expect(said('snapshot', ...words)).toContain(": agt snapshot --label 'before it'\n");
  expect(said('help', 'nonsense')).toBe(
    'error: "nonsense" is not a command of agt or git\nhint: see: agt help, agt help -a\n',
  );
  writeFileSync(join(repository, 'file'), '');
  expect(said('plugin', 'file')).toMatch(/^error: ".*file" is no directory\nhint: /);
  agtOk(repository, 'new', 'gone');
  agtOk(repository, 'remove', 'gone');
  expect(said('session', 'show', 'other')).toContain(
    'hint: sessions here: s2\nhint: sessions that have ended: agt list --all\n',
  );
});

test('the list of known sessions says how many it leaves out', () => {
  const repository = makeRepository();
  agtOk(repository, 'session', 'new', '--id', 'first');
  const record = join(repository, '.git/agt/sessions/first.json');
  const later = (n: number) => new Date(Date.now() + n * 60_000).toISOString();
  for (let n = 1; n <= 11; n++) {
    const copy = { ...JSON.parse(readFileSync(record, 'utf8')), session_id: `s${n}`, created_at: later(n) };
    writeFileSync(record.replace('first', `s${n}`), JSON.stringify(copy));
  }
  expect(agt(repository, 'session', 'show', 'nope').stderr).toContain(
    '\nhint: sessions here: s11, s10, s9, s8, s7, s6, s5, s4, s3, s2, and 2 more\n',
  );
});

test('agt doctor names a command that works in a folder', () => {
  const { folder } = makeFolder();
  const { store, findings } = JSON.parse(agt(folder, 'doctor', '--json').stdout);
  expect(findings.filter(({ level }: { level: string }) => level !== 'note')).toEqual([]);
  const refs = git(store, 'for-each-ref', '--format=%(refname)', 'refs/heads/agtsessions', 'refs/agt/tip');
  for (const ref of refs.split('\n')) git(store, 'update-ref', '-d', ref);
  const found = JSON.parse(agt(folder, 'doctor', '--json').stdout).findings;
  const mends = found
    .filter(({ about, level }: { about: string; level: string }) => about === 'notes' && level === 'error')
    .map(({ mend }: { mend: string }) => mend);
  expect(new Set(mends)).toEqual(new Set(['agt snapshot']));
  agtOk(folder, 'snapshot');
  expect(agt(folder, 'doctor').stdout).not.toContain('is missing');
});

test('the first words that a newcomer types, before any agent and any snapshot', () => {
  const repository = makeRepository();
  for (const words of [['list'], ['diff'], ['restore', '@{1}']])
    expect(agt(repository, 'snapshot', ...words).stderr).toBe(
      'error: this folder has no snapshots yet\nhint: to take a snapshot: agt snapshot\n',
    );
  const env = { HOME: makeTempDir('home'), PATH: '/usr/bin:/bin' };
  const { stdout, stderr } = run(AGT, ['hooks', 'install', '--all'], { cwd: repository, env });
  expect(stdout).not.toContain('hooks installed');
  expect(stderr).toMatch(
    /^note: none of these agents is installed for you; .* agt hooks install --all again\n$/,
  );
});
