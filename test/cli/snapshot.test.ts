/** `agt snapshot`: folders that are in no session, with git and without it. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';

const STATE = join(process.env['HOME'] ?? '', '.local/state/agt/folders');

/** Every file of a directory with its content, mode and times; of links their targets. */
function fingerprint(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true }) as string[]) {
    const path = join(directory, name);
    const stat = lstatSync(path);
    const content = stat.isFile() ? readFileSync(path, 'latin1') : '';
    found[name] = `${stat.mode} ${stat.mtimeMs} ${content}`;
  }
  return found;
}

const files = (folder: string) =>
  (readdirSync(folder, { recursive: true }) as string[]).filter((name) => !name.startsWith('.git/')).sort();

function storeOf(folder: string): string {
  const name = readdirSync(STATE).find((store) => {
    if (!store.endsWith('.git') || store.startsWith('.')) return false;
    const records = join(STATE, store, 'agt/sessions');
    return readdirSync(records).some((file) =>
      readFileSync(join(records, file), 'utf8').includes(`"${folder}"`),
    );
  });
  if (name === undefined) throw new Error(`no store of ${folder}`);
  return join(STATE, name);
}

describe('agt snapshot in a git checkout', () => {
  const project = makeRepository({
    '.gitignore': '*.log\ndeps/\n.env\n',
    a: 'one\n',
    'src/b': 'b\n',
    'run.sh': '#!/bin/sh\n',
  });
  const store = () => storeOf(project);

  it("records files, brings them back, and changes nothing that is git's", () => {
    write(join(project, 'deps/big'), 'dependency\n');
    write(join(project, 'debug.log'), 'log\n');
    write(join(project, 'new'), 'untracked\n');
    git(project, 'add', 'new');
    write(join(project, 'a'), 'changed but not staged\n');
    chmodSync(join(project, 'run.sh'), 0o700);
    mkdirSync(join(project, 'empty'));
    const before = fingerprint(join(project, '.git'));
    expect(agtOk(project, 'snapshot')).toMatch(/^project: first snapshot, [0-9a-f]{10}$/);

    rmSync(join(project, 'src'), { recursive: true });
    rmSync(join(project, 'empty'), { recursive: true });
    write(join(project, 'a'), 'by the agent\n');
    write(join(project, 'later/c'), 'c\n');
    write(join(project, 'later/c.log'), 'log\n');
    chmodSync(join(project, 'run.sh'), 0o755);
    expect(agtOk(join(project, 'later'), 'snapshot', '--label', 'agent done')).toContain('captured');
    expect(agtOk(project, 'snapshot')).toBe('project: nothing changed');

    expect(agtOk(project, 'undo')).toContain('verified');
    expect(readFileSync(join(project, 'a'), 'utf8')).toBe('changed but not staged\n');
    expect(readFileSync(join(project, 'src/b'), 'utf8')).toBe('b\n');
    expect(lstatSync(join(project, 'run.sh')).mode & 0o777).toBe(0o700);
    expect(existsSync(join(project, 'empty'))).toBe(true);
    // A file that git ignores stays as it is, also in a directory that came later.
    expect(existsSync(join(project, 'later/c'))).toBe(false);
    expect(readFileSync(join(project, 'later/c.log'), 'utf8')).toBe('log\n');
    expect(readFileSync(join(project, 'deps/big'), 'utf8')).toBe('dependency\n');

    expect(agtOk(project, 'redo')).toContain('verified');
    expect(readFileSync(join(project, 'a'), 'utf8')).toBe('by the agent\n');
    expect(existsSync(join(project, 'src'))).toBe(false);
    expect(agtOk(project, 'session', 'log')).toContain('agent done');
    expect(fingerprint(join(project, '.git'))).toEqual(before);
    expect(git(store(), 'fsck', '--strict', '--no-dangling')).not.toContain('error');
    expect(lstatSync(STATE).mode & 0o077).toBe(0);
    expect(lstatSync(store()).mode & 0o077).toBe(0);
  });

  it('names the agent, its conversation and the tool in the snapshot, one parent each', () => {
    write(join(project, 'd'), 'd\n');
    agtOk(project, 'snapshot', '--agent', 'pi', '--conversation', 'c-1', '--tool', 'edit');
    const message = git(store(), 'log', '-1', '--format=%P%n%B', 'refs/agt/tip/project');
    expect(message.split('\n')[0]).toMatch(/^[0-9a-f]{40}$/);
    for (const trailer of [
      'Agt-Agent: pi',
      'Agt-Conversation: c-1',
      'Agt-Tool: edit',
      `Agt-Head: ${git(project, 'rev-parse', 'HEAD')}`,
    ])
      expect(message).toContain(trailer);
  });

  it('goes back to a tree, prints files, compares, and restores one path from a subdirectory', () => {
    const { tree } = JSON.parse(agtOk(project, 'snapshot', '--json')) as { tree: string };
    write(join(project, 'sub/x'), 'x\n');
    write(join(project, 'd'), 'other\n');
    expect(agtOk(project, 'session', 'diff', '--name-status').split('\n')).toEqual(['M\td', 'A\tsub/x']);
    expect(agtOk(join(project, 'sub'), 'session', 'cat', '@:../d')).toBe('d');
    const preview = JSON.parse(agtOk(project, 'session', 'restore', '--to', tree, '-n', '--json')) as {
      changes: unknown;
    };
    expect(preview.changes).toEqual([
      { path: 'd', status: 'modified' },
      { path: 'sub/x', status: 'deleted' },
    ]);
    agtOk(join(project, 'sub'), 'session', 'restore', '--to', tree, '--path', '../d');
    expect(readFileSync(join(project, 'd'), 'utf8')).toBe('d\n');
    expect(existsSync(join(project, 'sub/x'))).toBe(true);
    agtOk(project, 'session', 'restore', '--to', tree);
    expect(existsSync(join(project, 'sub'))).toBe(false);
  });

  it('takes ignored files that .worktreeinclude names, and all of them with --ignored', () => {
    write(join(project, '.env'), 'SECRET=1\n');
    write(join(project, 'deps/wanted'), 'w\n');
    write(join(project, '.worktreeinclude'), '.env\ndeps/wanted\n');
    agtOk(project, 'snapshot');
    const listed = () =>
      git(store(), 'ls-tree', '-r', '--name-only', 'refs/agt/tip/project:sandbox').split('\n');
    expect(listed()).toContain('.env');
    expect(listed()).toContain('deps/wanted');
    expect(listed()).not.toContain('deps/big');
    rmSync(join(project, '.env'));
    agtOk(project, 'undo');
    expect(readFileSync(join(project, '.env'), 'utf8')).toBe('SECRET=1\n');
    agtOk(project, 'snapshot', '--ignored');
    expect(listed()).toContain('deps/big');
    const { commit } = JSON.parse(agtOk(project, 'snapshot', '--ignored', '--json')) as { commit: string };
    agtOk(project, 'snapshot');
    expect(listed()).not.toContain('deps/big');
    write(join(project, 'deps/big'), 'newer\n');
    expect(agtOk(project, 'session', 'restore', '--to', commit)).toContain('verified');
    expect(readFileSync(join(project, 'deps/big'), 'utf8')).toBe('dependency\n');
    // The newer content was captured before agt replaced it.
    const all = git(store(), 'log', '--format=%H', 'refs/agt/tip/project').split('\n');
    const contents = all.map(
      (one) => run('git', ['show', `${one}:sandbox/deps/big`], { cwd: store() }).stdout,
    );
    expect(contents).toContain('newer\n');
  });

  it('brings a folder back that was deleted', () => {
    const kept = files(project);
    const before = git(project, 'status', '--porcelain');
    rmSync(project, { recursive: true });
    mkdirSync(project);
    expect(agtOk(project, 'session', 'restore', '--to', '@')).toContain('verified');
    const lost = kept.filter((path) => !files(project).includes(path));
    expect(lost).toEqual([]);
    expect(git(project, 'status', '--porcelain')).toBe(before);
  });
});

describe('agt snapshot in a folder without git', () => {
  const folder = join(makeTempDir(), 'my notes: ü');
  mkdirSync(folder);

  it('works as in a checkout, with odd names, links and .gitignore', () => {
    write(join(folder, '.gitignore'), 'cache/\n');
    write(join(folder, 'cache/x'), 'x\n');
    write(join(folder, 'new\nline'), 'odd\n');
    symlinkSync('/etc/passwd', join(folder, 'link'));
    expect(agtOk(folder, 'snapshot')).toMatch(/^my-notes-u: first snapshot/);
    rmSync(join(folder, 'new\nline'));
    rmSync(join(folder, 'link'));
    write(join(folder, 'sub/deep'), 'd\n');
    expect(agtOk(join(folder, 'sub'), 'undo')).toContain('verified');
    expect(readFileSync(join(folder, 'new\nline'), 'utf8')).toBe('odd\n');
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
    expect(existsSync(join(folder, 'sub'))).toBe(false);
    expect(existsSync(join(folder, 'cache/x'))).toBe(true);
    expect(files(folder).some((name) => name.startsWith('.agt') || name === '.git')).toBe(false);
  });

  it('compares snapshots and the files on disk', () => {
    const plain = makeTempDir();
    write(join(plain, '.gitignore'), '*.log\n');
    write(join(plain, '.gitattributes'), 'b -diff\n');
    for (const name of ['a', 'b']) write(join(plain, name), 'one\n');
    agtOk(plain, 'snapshot');
    for (const name of ['a', 'b', 'x.log']) write(join(plain, name), 'two\n');
    const before = files(plain);
    const diff = agtOk(plain, 'snapshot', 'diff');
    expect(diff).toContain('-one\n+two');
    expect(diff).toContain('Binary files a/b and b/b differ');
    expect(agtOk(plain, 'session', 'diff', '--base', '--name-only').split('\n')).toEqual([
      '.gitattributes',
      '.gitignore',
      'a',
      'b',
    ]);
    agtOk(plain, 'snapshot');
    expect(agtOk(plain, 'session', 'diff', '@{1}', '@{0}', '--', 'a')).toContain('-one\n+two');
    expect(JSON.parse(agtOk(plain, 'snapshot', 'diff', '@{1}', '--json'))).toHaveLength(3);
    expect(agtOk(plain, 'snapshot', 'diff')).toBe('');
    expect(files(plain)).toEqual(before);
  });

  it('knows the rules of repositories in the folder', () => {
    const inner = join(folder, 'inner/project');
    mkdirSync(inner, { recursive: true });
    git(inner, 'init', '-q');
    write(join(inner, '.gitignore'), 'deps/\n');
    for (const path of ['deps/a', 'code']) write(join(inner, path), `${path}\n`);
    const listed = () =>
      git(storeOf(folder), 'ls-tree', '-r', '--name-only', 'refs/agt/tip/my-notes-u:sandbox').split('\n');
    for (const round of ['first', 'second']) {
      write(join(folder, 'round'), `${round}\n`);
      write(join(inner, `deps/${round}`), 'x\n');
      agtOk(folder, 'snapshot');
      expect(listed().filter((path) => path.startsWith('inner'))).toEqual([
        'inner/project/.gitignore',
        'inner/project/code',
      ]);
    }
    rmSync(join(inner, '.gitignore'));
    agtOk(folder, 'snapshot');
    expect(listed()).toContain('inner/project/deps/second');
    expect(git(inner, 'status', '--short')).toBe('?? code\n?? deps/');
    rmSync(join(folder, 'inner'), { recursive: true });
    agtOk(folder, 'snapshot');
  });

  it('finds a change that keeps size and time', () => {
    write(join(folder, 'same'), 'aaaa\n');
    utimesSync(join(folder, 'same'), 1000, 1000);
    agtOk(folder, 'snapshot');
    write(join(folder, 'same'), 'bbbb\n');
    utimesSync(join(folder, 'same'), 1000, 1000);
    expect(agtOk(folder, 'snapshot')).toContain('captured 1 path');
  });

  it('says what is wrong with a folder, and makes no store', () => {
    const stores = readdirSync(STATE).filter((name) => name.endsWith('.git'));
    const home = realpathSync(process.env['HOME'] ?? '');
    expect(agt(home, 'snapshot')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('your home directory'),
    });
    expect(agt('/', 'snapshot').stderr).toContain('the root directory');
    expect(agt(join(home, '.local'), 'snapshot').stderr).toContain('the snapshots themselves are kept in it');
    expect(agt(folder, 'snapshot', 'nowhere')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there is no such folder'),
    });
    expect(agt(folder, 'snapshot', '--label', ' ').exitCode).toBe(2);
    expect(agtOk(makeTempDir(), 'snapshot', '-n')).toContain('would take the first snapshot');
    const nothing = 'this folder has no snapshots yet\nhint: ';
    expect(agt(makeTempDir(), 'undo').stderr).toContain(`no session given, and ${nothing}for sessions`);
    expect(agt(makeTempDir(), 'snapshot', 'list').stderr).toBe(
      `error: ${nothing}to take a snapshot: agt snapshot\n`,
    );
    expect(run(AGT, ['snapshot'], { cwd: makeTempDir(), env: { HOME: undefined } }).stderr).toContain('HOME');
    expect(readdirSync(STATE).filter((name) => name.endsWith('.git'))).toEqual(stores);
  });

  it('knows a folder without git again after a move, however quickly it was filled', async () => {
    const folder = join(makeTempDir(), 'here');
    mkdirSync(folder);
    write(join(folder, 'a'), 'a\n');
    agtOk(folder, 'snapshot');
    const { birthtimeMs } = lstatSync(folder);
    while (Date.now() < birthtimeMs + 2_100) await new Promise((resolve) => setTimeout(resolve, 100));
    agtOk(folder, 'snapshot');
    renameSync(folder, `${folder}-no-more`);
    expect(JSON.parse(agtOk(`${folder}-no-more`, 'snapshot', 'list', '--json'))).toHaveLength(1);
  });

  it('captures the session where there is one', () => {
    const repository = makeRepository();
    agtOk(repository, 'session', 'new', 's1');
    const sandbox = agtOk(repository, 'session', 'path', 's1');
    write(join(sandbox, 'x'), 'x\n');
    expect(agtOk(sandbox, 'snapshot', '--label', 'mine')).toContain('s1: captured');
    expect(agtOk(repository, 'session', 'log', 's1')).toContain('mine');
  });
});
