/** Untracked files of a sandbox: what lands without a question, what does not, and who is asked. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, run, write } from '../harness/world.ts';

let session: TestSession;
const put = (path: string, content: string | Buffer) => write(join(session.sandbox, path), content);
const accept = (...options: string[]) => agt(session.repository, 'accept', 's1', ...options);
const landed = () => git(session.repository, 'ls-tree', '-r', '--name-only', 'main').split('\n');

beforeEach(() => {
  session = makeSession({ a: 'a\n', '.gitignore': '*.log\n' });
  put('src/new.ts', 'new\n');
});

function addDoubtful(): void {
  put('.env', 'TOKEN=1\n');
  put('deploy/id_rsa', 'key\n');
  put('dump.sql', Buffer.alloc(3 * 2 ** 20));
  for (let i = 0; i < 3; i++) put(`web/node_modules/m${i}/index.js`, 'm\n');
  put('x.log', 'ignored\n');
}

test('without a terminal, sources land, and keys, large files and dependencies are refused with a way out', () => {
  for (const path of ['.env.example', 'example.env', 'id_rsa.pub', 'credentials.ts', 'vendor/one.go'])
    put(path, 'x\n');
  expect(accept('--keep', '-m', 'Sources').stdout).toContain('A src/new.ts  (untracked)\n');
  expect(landed()).toContain('credentials.ts');
  addDoubtful();
  for (let i = 0; i < 100; i++) put(`target/${i}`, `${i}\n`);
  const before = git(session.repository, 'rev-parse', 'main');
  for (const [option, again] of [
    ['--dry-run', ''],
    ['--keep', ' --keep'],
  ] as const) {
    const refused = accept(option);
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toBe(
      'error: 106 untracked files of session "s1" may not be meant to land, and nothing has changed\n' +
        'hint: .env: looks like a key or a login\n' +
        'hint: deploy/id_rsa: looks like a key or a login\n' +
        'hint: dump.sql: has 3.0 MiB\n' +
        'hint: target/: looks like dependencies\n' +
        'hint: web/node_modules/: looks like dependencies\n' +
        `hint: leave them out: agt accept s1${again} --exclude=/.env --exclude=deploy/id_rsa --exclude=/dump.sql --exclude=/target/ --exclude=web/node_modules/\n` +
        'hint: or take them all: --untracked=all; or name those to take: --include PATTERN\n',
    );
  }
  expect(git(session.repository, 'rev-parse', 'main')).toBe(before);
  put('src/more.ts', 'more\n');
  expect(accept('-n').stderr).not.toContain('--committed-only');
  const { ways } = JSON.parse(accept('-n', '--json').stdout);
  expect(ways.map(({ does }: { does: string }) => does)).toEqual([
    'Leave these files out',
    'Take these files, too',
  ]);
  expect(JSON.parse(accept('-n', '--json', ...ways[0].words).stdout).untracked).toEqual(['src/more.ts']);
  // The way out that the hint names, with a path that needs no quotes.
  const words = / (--exclude=.*)$/m.exec(accept('-n').stderr)?.[1]?.split(' ') ?? [];
  expect(JSON.parse(accept('-n', '--json', ...words).stdout).untracked).toEqual(['src/more.ts']);
  expect(accept('--commits=@{0}', '-n').stderr).toMatch(/--untracked=none\nhint: .*: --untracked=all\n$/);
  agtOk(session.repository, 'accept', 's1', '--keep', '-m', 'One key', '--include', '.env');
  expect(landed()).toEqual(expect.arrayContaining(['.env']));
  expect(landed()).not.toContain('dump.sql');
  // A landed file is no longer in question; a sync leaves the rest in the sandbox, untracked.
  agtOk(session.repository, 'sync', 's1');
  expect(git(session.sandbox, 'status', '--porcelain')).toContain('?? dump.sql');
  expect(accept('-n').stderr).not.toContain('.env');
  const none = accept('--untracked=none').stderr;
  expect(none).toMatch(/^error: nothing to accept: only untracked files are left/);
  const names = /--untracked=all \((.*)\)/.exec(none)?.[1]?.split(', ') ?? [];
  expect(names).toEqual([...new Set(names)]);
});

test('the hint leaves out these files alone, whatever their names: a shell reads it as it stands', () => {
  const names = ['-x.pem', 'a[1].pem', '*.pem', 'key ?.pem', "it's.pem", 'id_rsa'];
  for (const name of names) put(name, 'key\n');
  put('sub/id_rsa.txt/a', 'x\n');
  const [, words = ''] = / ('?--exclude=.*)$/m.exec(accept('-n').stderr) ?? [];
  for (const name of ['a1.pem', 'x.pem', 'sub/id_rsa']) put(name, 'other\n');
  const left = run('sh', ['-c', `"$0" accept s1 -n --json --untracked=all ${words}`, AGT], {
    cwd: session.repository,
  });
  expect(JSON.parse(left.stdout).left_out.toSorted()).toEqual(names.toSorted());
  const ways = JSON.parse(accept('-n', '--json').stdout).ways[0].words;
  expect(ways).toContain('--exclude=/-x.pem');
  git(session.sandbox, 'add', '--all');
  expect(accept('-n').stderr).toContain(` '--exclude=/a\\[1\\].pem'`);
});

test('what the agent has added or committed is no question, and the setting decides otherwise', () => {
  addDoubtful();
  git(session.sandbox, 'add', '.env');
  git(session.sandbox, 'add', 'dump.sql');
  git(session.sandbox, 'commit', '-q', '-m', 'by the agent', 'dump.sql');
  agtOk(session.repository, 'config', 'set', 'agt.untracked', 'none');
  agtOk(session.repository, 'accept', 's1', '--keep', '-m', 'Tracked');
  expect(landed()).toEqual(['.env', '.gitignore', 'a', 'dump.sql']);
  agtOk(session.repository, 'accept', 's1', '-m', 'All', '--untracked', 'all');
  expect(landed()).toContain('web/node_modules/m0/index.js');
  expect(landed()).not.toContain('x.log');
  expect(agt(session.repository, 'config', 'set', 'agt.untracked', 'some').exitCode).not.toBe(0);
});

test('a key among the commits of the agent lands with a warning, which names the way back', () => {
  put('deploy/id_rsa', 'key\n');
  git(session.sandbox, 'add', '--all');
  git(session.sandbox, 'commit', '-qm', 'All');
  const isKey =
    'warning: deploy/id_rsa: tracked in the sandbox, and looks like a key or a login; if it is one: ';
  const way = 'agt accept s1 --exclude=deploy/id_rsa\n';
  expect(accept('-n').stderr).toContain(isKey + way);
  expect(accept().stderr).toContain(`${isKey}agt unaccept s1, then ${way}`);
  agtOk(session.repository, 'unaccept', 's1');
  expect(accept('--exclude', 'deploy/id_rsa').stderr).toBe('');
  expect(landed()).toEqual(['.gitignore', 'a', 'src/new.ts']);
});

test('steps are asked about in the same way', () => {
  autocommit(session, '--label', 'sources');
  put('.env', 'TOKEN=1\n');
  put('a', 'changed\n');
  put('src/later.ts', 'later\n');
  put('x.log', 'ignored\n');
  autocommit(session, '--label', 'with a key');
  const refused = accept('--commits', 'with a key');
  expect(refused.stderr).toMatch(/^error: 1 untracked file .*\nhint: \.env: looks like a key or a login\n/);
  agtOk(session.repository, 'accept', 's1', '--keep', '--commits', 'with a key', '--untracked=none');
  expect(landed()).toEqual(['.gitignore', 'a']);
  expect(git(session.repository, 'show', 'main:a')).toBe('changed');
});

test('on a terminal agt lists the files and asks', () => {
  addDoubtful();
  const answer = (text: string, ...options: string[]) => {
    const line = [AGT, 'accept', 's1', '-m', 'Work', ...options].join(' ');
    return run('script', ['-qec', line, '/dev/null'], { cwd: session.repository, input: text });
  };
  const quit = answer('\n');
  expect(quit.stdout).toContain('untracked files of session s1:');
  expect(quit.stdout).toMatch(/ \.env +8 bytes +! looks like a key or a login\r?\n/);
  expect(quit.stdout).toMatch(/ src\/new\.ts +\d+ bytes *\r?\n/);
  expect(quit.stdout).toContain(
    'Accept these files, too? y: with them, n: without them, q: accept nothing [y/n/Q]',
  );
  expect(quit.exitCode).toBe(1);
  expect(landed()).toEqual(['.gitignore', 'a']);
  expect(answer('n\n', '--keep', '--onto', 'main').stdout).toContain('only untracked files are left');
  const { stdout } = answer('y\n');
  expect(stdout).toContain('accepted s1');
  expect(landed()).toContain('dump.sql');
  expect(existsSync(session.folder)).toBe(false);
});

test('agt asks nothing if the merge has conflicts whatever the answer', () => {
  put('a', 'by the agent\n');
  write(join(session.repository, 'a'), 'by the user\n');
  git(session.repository, 'commit', '-qam', 'By the user');
  const line = [AGT, 'accept', 's1'].join(' ');
  const { stdout, exitCode } = run('script', ['-qec', line, '/dev/null'], { cwd: session.repository });
  expect(stdout).toMatch(/error: .*conflict/);
  expect(stdout).not.toContain('Accept these files');
  expect(exitCode).toBe(1);
});

test('an odd answer is asked again; a signal ends the question, and nothing has changed', async () => {
  const line = `echo "pid $$"; exec ${AGT} accept s1`;
  const asking = spawn('script', ['-qec', `sh -c '${line}'`, '/dev/null'], { cwd: session.repository });
  let [said, asked] = ['', 0];
  for await (const chunk of asking.stdout) {
    said += chunk;
    const now = said.split('[Y/n/q] ').length - 1;
    if (now > asked && now === 1) asking.stdin.write('?\n');
    if (now > asked && now === 2) process.kill(Number(/pid (\d+)/.exec(said)?.[1]), 'SIGTERM');
    asked = now;
  }
  expect(said).toContain('interrupted; session "s1" has not changed');
  expect(landed()).toEqual(['.gitignore', 'a']);
  expect(accept('-n').stdout).toContain('A src/new.ts');
});

test('a step that empties the sandbox lands, and so does the next one', () => {
  git(session.sandbox, 'add', '-A');
  git(session.sandbox, 'commit', '-q', '-m', 'by the agent');
  autocommit(session);
  const exec = (script: string) =>
    agt(session.repository, 'session', 'exec', 's1', '--tool', 'sh', '--', 'sh', '-c', script);
  exec('rm -rf * .gitignore; false');
  exec('echo new >new');
  expect(agtOk(session.repository, 'accept', 's1', '--dry-run')).toContain('A new');
  const steps = agtOk(session.repository, 'session', 'log', 's1', '--json');
  const [newest, emptied] = (JSON.parse(steps) as { commit: string }[]).map(({ commit }) => commit);
  agtOk(session.repository, 'accept', 's1', '--keep', '--commits', `${emptied} ${newest}`);
  expect(landed()).toEqual(['new']);
});

test('--untracked=none: a file that the agent has only taken out of the index is deleted on the branch', () => {
  git(session.sandbox, 'rm', '-q', '--cached', 'a');
  git(session.sandbox, 'commit', '-qm', 'No longer tracked');
  const { stdout } = accept('--untracked=none', '--keep');
  expect(stdout).toContain('D a\n');
  expect(stdout).toContain('left out src/new.ts, a\n');
  expect(landed()).toEqual(['.gitignore']);
});

test('--untracked=none: a new file that has landed before stays', () => {
  expect(accept('--untracked=all', '--keep').exitCode).toBe(0);
  put('a', 'changed\n');
  expect(accept('--untracked=none', '--keep').stdout).toContain('M a\n');
  expect(landed()).toContain('src/new.ts');
});

test('a file that git cannot store is named, and stays out if the user says so', () => {
  for (const path of ['git~1', 'd/GIT~1']) put(path, 'x\n');
  const refused = accept();
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: git cannot store d\/GIT~1, git~1, and nothing has changed\n/),
  });
  expect(landed()).toEqual(['.gitignore', 'a']);
  const [, words = ''] = / ('?--exclude=.*)$/m.exec(refused.stderr) ?? [];
  expect(accept('--untracked=none', '-n').stderr).toContain('only untracked files are left');
  const done = accept(...words.replaceAll("'", '').split(' '));
  expect(done.stdout).toContain('left out d/GIT~1, git~1\n');
  expect(landed()).toEqual(['.gitignore', 'a', 'src/new.ts']);
  agtOk(session.repository, 'undo', 's1');
  expect(existsSync(join(session.sandbox, 'git~1'))).toBe(true);
});

test('with commits of the agent, the hint and the answer to a question name --committed-only', () => {
  put('work', 'work\n');
  git(session.sandbox, 'add', 'work');
  git(session.sandbox, 'commit', '-q', '-m', 'Work');
  addDoubtful();
  const hint = "hint: or take the agent's commits alone: --committed-only";
  expect(accept('-n').stderr).toContain(`${hint}\n`);
  const line = [AGT, 'accept', 's1', '-m', 'Work'].join(' ');
  const asked = run('script', ['-qec', line, '/dev/null'], { cwd: session.repository, input: 'q\n' });
  expect(asked.stdout).toContain(hint);
  expect(accept('--committed-only', '-m', 'Work').stdout).toContain('1 file changed');
  expect(landed()).toEqual(['.gitignore', 'a', 'work']);
});

test('what git ignores stays out and is counted, unless the user has the same', () => {
  const { repository, sandbox } = makeSession({ '.gitignore': 'build\ndata\n*.log\n.env*\n' });
  for (const place of [repository, sandbox]) write(join(place, 'data/raw'), 'raw\n');
  write(join(sandbox, 'data/out/result'), 'result\n');
  write(join(repository, '.env'), 'user\n');
  write(join(repository, '.env.same'), 'same\n');
  write(join(sandbox, '.env.same'), 'same\n');
  for (const path of ['.env', 'build/a', 'build/b', 'logs/x.log', 'new'])
    write(join(sandbox, path), `${path}\n`);
  const line = 'left out 4 paths that git ignores: .env, build/, data/out/, and 1 more\n'; // logs/ alone
  expect(agtOk(repository, 'accept', 's1', '-n', '--untracked=all')).toContain(line);
  expect(agtOk(repository, 'accept', 's1', '--untracked=all')).toContain(line);
});

test.each([
  'new\nid.pem',
  'local.env',
  'deploy/prod.env',
  'fix-login.env',
  '.npmrc',
  '.pypirc',
  '.netrc',
  '.dockercfg',
])('%s looks like a login', (path) => {
  put(path, 'x\n');
  expect(accept('-n').stderr).toMatch(/^hint: .*: looks like a key or a login"?$/m);
});
