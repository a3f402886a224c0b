/** A listing takes for the content of a sandbox what `git add --all` would commit. */
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withScratchObjects } from '../../src/git/objects/scratch-objects.ts';
import { parseStatus, STATUS, shownFiles, statusOfEach } from '../../src/git/objects/status.ts';
import { openGit } from '../../src/git/run/git.ts';
import type { SessionRecord } from '../../src/session/record.ts';
import { readWorkingFiles } from '../../src/survey/sandbox-facts.ts';
import { ScratchHistory } from '../../src/survey/scratch-history.ts';
import { git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

async function filesOf(repository: string) {
  const record = { sandbox: repository } as SessionRecord;
  const open = openGit(REAL_GIT, repository, process.env);
  const found = await readWorkingFiles(open, [{ record, gitDir: join(repository, '.git') }]);
  return found.get(repository);
}

/** Compares the trees. Returns the paths that differ from HEAD. */
async function expectAsGit(repository: string): Promise<string[]> {
  const env = { GIT_INDEX_FILE: join(makeTempDir(), 'index') };
  run('cp', ['-p', join(repository, '.git/index'), env.GIT_INDEX_FILE], { cwd: repository });
  run(REAL_GIT, ['-c', 'core.splitIndex=false', 'add', '--all', '--sparse', '.', ':!inner'], {
    cwd: repository,
    env,
  });
  const expected = run(REAL_GIT, ['write-tree'], { cwd: repository, env }).stdout.trim();
  const entries = (await filesOf(repository)) ?? [];
  const head = git(repository, 'rev-parse', 'HEAD');
  const open = openGit(REAL_GIT, repository, process.env);
  const place = { git: open, commonDir: join(repository, '.git'), agtDir: makeTempDir() };
  const tree = await withScratchObjects(place, async (scratch) => {
    const history = new ScratchHistory();
    const files = entries.filter(({ path }) => path !== 'inner/');
    const name = history.addSandbox(head, { path: repository, files, converted: new Map() });
    expect(history.write(scratch, head)).toBe(true);
    const objects = { GIT_OBJECT_DIRECTORY: join(scratch.dir, 'objects') };
    const args = ['rev-parse', `${history.oidOf(name)}^{tree}`];
    return run(REAL_GIT, args, { cwd: repository, env: objects }).stdout.trim();
  });
  expect(tree).toBe(expected);
  return entries.map(({ path }) => path).sort();
}

test('changed, deleted, staged, untracked and not ignored files', async () => {
  const repository = makeRepository({
    'a.txt': 'a\n',
    'dir/b.txt': 'b\n',
    'staged.txt': 'x\n',
    'staged-away': 'x\n',
    'untracked-again': 'x\n',
    'turns/into.txt': 'a file\n',
    'becomes-directory': 'x\n',
    'run.sh': '#!/bin/sh\n',
    'tracked.log': 'ignored by name, but tracked\n',
    '.gitignore': '*.log\n',
  });
  expect(await expectAsGit(repository)).toEqual([]);
  for (const path of ['new.txt', 'x.log', 'a b\n"c\\.txt', 'deep/er/file'])
    write(join(repository, path), 'new\n');
  run('sh', ['-c', 'printf x >"$(printf \'byte-\\377\')"'], { cwd: repository });
  symlinkSync('nowhere', join(repository, 'link'));
  mkdirSync(join(repository, 'empty'));
  git(repository, 'init', '-q', 'inner');
  write(join(repository, 'inner/file'), 'of another repository\n');
  writeFileSync(join(repository, 'a.txt'), 'changed\n');
  writeFileSync(join(repository, 'tracked.log'), 'changed\n');
  writeFileSync(join(repository, 'staged.txt'), 'staged\n');
  git(repository, 'add', 'staged.txt');
  git(repository, 'rm', '-q', 'staged-away');
  git(repository, 'rm', '-q', '--cached', 'untracked-again');
  rmSync(join(repository, 'dir/b.txt'));
  chmodSync(join(repository, 'run.sh'), 0o755);
  rmSync(join(repository, 'turns'), { recursive: true });
  writeFileSync(join(repository, 'turns'), 'no directory\n');
  rmSync(join(repository, 'becomes-directory'));
  write(join(repository, 'becomes-directory/file'), 'x\n');
  git(repository, 'add', '--intent-to-add', 'new.txt');
  const paths = await expectAsGit(repository);
  expect(paths).toEqual(
    expect.arrayContaining(['byte-\u00ff', 'becomes-directory/file', 'staged-away', 'new.txt']),
  );
  expect(paths).toContain('inner/');
  git(repository, 'update-index', '--split-index');
  expect(await expectAsGit(repository)).toEqual(paths);
});

test('renamed files are one each, as git status counts them', async () => {
  const text = 'a line\n'.repeat(20);
  const names = ['moved', '? changed too', 'by hand', 'not staged'];
  const repository = makeRepository(Object.fromEntries(names.map((name, i) => [name, `${i} ${text}`])));
  for (const name of names.slice(0, 2)) git(repository, 'mv', name, `1 new ${name}`);
  write(join(repository, '1 new ? changed too'), `1 ${text}more\n`);
  for (const name of names.slice(2)) renameSync(join(repository, name), join(repository, `new ${name}`));
  git(repository, 'add', '--intent-to-add', 'new by hand');
  expect(await expectAsGit(repository)).toHaveLength(2 * names.length);
  const lines = git(repository, 'status', '--short').split('\n');
  expect(lines).toHaveLength(5);
  expect(shownFiles((await filesOf(repository)) ?? [])).toHaveLength(lines.length);
});

test('staged files outside of a sparse checkout', async () => {
  const repository = makeRepository({ 'in/a': 'a\n', 'out/b': 'b\n' });
  git(repository, 'sparse-checkout', 'set', 'in');
  const oid = git(repository, 'rev-parse', 'HEAD:in/a');
  git(repository, 'update-index', '--add', '--cacheinfo', `100644,${oid},out/b`);
  git(repository, 'update-index', '--skip-worktree', 'out/b');
  expect(await expectAsGit(repository)).toEqual(['out/b']);
  git(repository, 'reset', '-q', '--hard');
  git(repository, 'sparse-checkout', 'reapply', '--sparse-index');
  write(join(repository, 'in/a'), 'changed\n');
  expect(await expectAsGit(repository)).toEqual(['in/a']);
});

test('conflicts', async () => {
  const repository = makeRepository({ a: 'a\n', gone: 'x\n' });
  git(repository, 'switch', '-q', '-c', 'other');
  write(join(repository, 'a'), 'theirs\n');
  write(join(repository, 'gone'), 'theirs\n');
  git(repository, 'commit', '-q', '-am', 'theirs');
  git(repository, 'switch', '-q', '-');
  write(join(repository, 'a'), 'ours\n');
  git(repository, 'rm', '-q', 'gone');
  git(repository, 'commit', '-q', '-am', 'ours');
  expect(run(REAL_GIT, ['merge', 'other'], { cwd: repository }).exitCode).toBe(1);
  expect(await expectAsGit(repository)).toEqual(['a', 'gone']);
  rmSync(join(repository, 'gone'));
  expect(await expectAsGit(repository)).toEqual(['a', 'gone']);
  const { entries } = parseStatus(Buffer.from(run(REAL_GIT, STATUS, { cwd: repository }).stdout));
  expect(entries.map(({ kind, path }) => [kind, path])).toEqual([
    ['unmerged', 'a'],
    ['unmerged', 'gone'],
  ]);
});

test('a submodule that has checked out another commit, on a branch too', async () => {
  const repository = makeRepository();
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', makeRepository(), 'l');
  git(repository, 'commit', '-q', '-m', 'with a submodule');
  const inside = join(repository, 'l');
  write(join(inside, 'file'), 'not committed\n');
  expect(await expectAsGit(repository)).toEqual([]);
  git(inside, 'commit', '-q', '--allow-empty', '-m', 'inside');
  expect(await expectAsGit(repository)).toEqual(['l']);
  git(inside, 'checkout', '-q', '--detach');
  expect(await expectAsGit(repository)).toEqual(['l']);
  git(repository, 'add', 'l');
  expect(await expectAsGit(repository)).toEqual(['l']);
  git(repository, 'commit', '-q', '-m', 'moved');
  git(repository, 'submodule', 'deinit', '-q', '--force', 'l');
  expect(await expectAsGit(repository)).toEqual([]);
});

test('a worktree in which git would wait for a pipe hides no other', async () => {
  const repository = makeRepository({ a: 'a\n' });
  write(join(repository, 'new'), 'new\n');
  rmSync(join(repository, '.git/HEAD'));
  run('mkfifo', [join(repository, '.git/HEAD')], { cwd: '/' });
  const other = makeRepository({ a: 'a\n' });
  write(join(other, 'new'), 'new\n');
  const open = openGit(REAL_GIT, other, process.env);
  const facts = [repository, other].map((at) => ({
    record: { sandbox: at } as SessionRecord,
    gitDir: join(at, '.git'),
  }));
  const found = await readWorkingFiles(open, facts);
  expect([...found.keys()]).toEqual([other]);
});

test('a worktree in which git hangs takes a time, and hides no other', async () => {
  const [hangs, ...others] = ['a', 'b', 'c', 'd', 'e'].map((name) => makeRepository({ [name]: 'x\n' }));
  for (const repository of [hangs ?? '', ...others]) write(join(repository, 'new'), 'new\n');
  run('mkfifo', [join(hangs ?? '', '.gitignore')], { cwd: '/' });
  const open = openGit(REAL_GIT, others[0] ?? '', process.env);
  const found = await statusOfEach(open, [hangs ?? '', ...others, '/nonexistent'], [], 3000);
  expect(new Set(found.keys())).toEqual(new Set(others));
  for (const { entries } of found.values()) expect(entries.map(({ path }) => path)).toEqual(['new']);
});
