/** docs/guide/troubleshooting.md, "Remove agt", as typed: the repository is as it was before, and so is the home. */
import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/guide/troubleshooting.md'), 'utf8');
const part = page.split('\n## Remove agt\n')[1]?.split('\n## ')[0] ?? '';
const blocks = [...part.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) => block.replace(/^ {4}/gm, ''));

test('leaves nothing in a repository and in the home', () => {
  const repository = makeRepository();
  const home = makeTempDir('home');
  for (const directory of ['.local/bin', '.claude', '.codex'])
    mkdirSync(join(home, directory), { recursive: true });
  symlinkSync(AGT, join(home, '.local/bin/agt'));
  const path = `${join(home, '.local/bin')}:${process.env['PATH']}`;
  const own = {
    HOME: home,
    PATH: path,
    XDG_STATE_HOME: undefined,
    XDG_CONFIG_HOME: undefined,
    XDG_DATA_HOME: undefined,
  };
  const type = (script: string, cwd = repository) => {
    writeFileSync(join(home, 'typed'), script);
    const { exitCode, stderr } = run('sh', ['-e', join(home, 'typed')], { cwd, env: own });
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('error')]);
    return stderr;
  };
  const files = (top: string) =>
    globSync('**/*', { cwd: top, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(top.length))
      .filter((name) => !/^\/(\.git\/)?(objects|logs)\//.test(name))
      .sort();
  git(repository, 'config', 'uploadpack.hideRefs', 'refs/mine');
  git(repository, 'branch', 'agtile');
  git(repository, 'remote', 'add', 'origin', makeTempDir());
  const facts = () => [
    files(join(repository, '.git')),
    run(REAL_GIT, ['for-each-ref'], { cwd: repository }).stdout.replaceAll(/^\w+/gm, ''),
    git(repository, 'config', '--local', '--list'),
  ];
  const before = facts();
  const atHome = files(home);
  const sandbox = (id: string) => join(`${repository}.agt/sessions`, id, 'sandbox');
  type('agt new accepted\nagt new rejected\nagt new active\n');
  for (const id of ['accepted', 'rejected', 'active']) write(join(sandbox(id), 'a.txt'), `${id}\n`);
  type('agt accept accepted --untracked=all\nagt reject rejected\nagt autocommit active\nagt key new\n');
  git(repository, 'config', 'branch.agt/active.remote', 'origin');
  type(
    'agt hooks install --all\nagt shim install\nagt config set --global agt.retention "30 days"\nagt snapshot\n',
  );
  expect(blocks).toHaveLength(2);
  // agt's own git, which the README puts first on PATH, hides every ref of a session.
  type('PATH=~/.local/share/agt/bin:$PATH\ncd "$(agt path active)"\necho x >>a.txt\ngit stash -qu\n');
  const unasked = run(AGT, ['uninstall'], { cwd: repository, env: own });
  expect(unasked).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^hint: active has .* stashed/m),
  });
  expect(existsSync(sandbox('active'))).toBe(true);
  type(blocks[0] ?? '');
  expect(existsSync(`${repository}.agt`)).toBe(false);
  expect(git(repository, 'show', 'HEAD:a.txt')).toBe('accepted');
  expect(git(repository, 'status', '--porcelain')).toBe('');
  const [now, then] = [facts(), before];
  expect(now).toEqual(then);
  expect(existsSync(join(repository, '.git/agt'))).toBe(false);
  expect(type('agt list --everywhere\n')).toMatch(/^note: no sessions yet; [^\n]+\n$/);
  type(blocks[0] ?? '', makeRepository());
  type(blocks[1] ?? '');
  expect(files(home).filter((name) => name !== '/typed')).toEqual(atHome);
});
