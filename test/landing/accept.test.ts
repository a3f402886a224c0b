/** An acceptance: the commit, the worktree that follows, the user's own files, and the end of the session. */
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const LINES = '1\n2\n3\n4\n5\n6\n';

let session: TestSession;
let repository: string;
let sandbox: string;
beforeEach(() => {
  const files = { a: LINES, gone: 'gone\n', 'dir/b': 'b\n', '.gitignore': '*.log\n' };
  session = makeSession(files);
  ({ repository, sandbox } = session);
});

/** One commit, and uncommitted, untracked and ignored files. */
function workOfTheAgent(): void {
  write(join(sandbox, 'a'), LINES.replace('6', 'six'));
  git(sandbox, 'commit', '-q', '-a', '-m', 'Write six', '-m', 'Because it is nicer.');
  write(join(sandbox, 'dir/b'), 'changed\n');
  write(join(sandbox, 'new file'), 'new\n', 0o755);
  symlinkSync('a', join(sandbox, 'link'));
  rmSync(join(sandbox, 'gone'));
  write(join(sandbox, 'debug.log'), 'ignored\n');
}

const tip = () => git(repository, 'rev-parse', 'main');
const state = () => JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json'));

describe('agt accept', () => {
  test('a renamed file is one change, as in git', () => {
    git(sandbox, 'mv', 'a', 'moved');
    write(join(sandbox, 'moved'), `${LINES}7\n`);
    rmSync(join(sandbox, 'gone'));
    const summary = ['s1: 2 files changed, +1 -1', '  D gone', '  R a -> moved'];
    expect(agtOk(repository, 'accept', 's1', '-n')).toContain(summary.join('\n'));
    expect(agtOk(repository, 'accept', 's1')).toContain(summary.join('\n'));
    expect(agtOk(repository, 'unaccept', 's1', '-n')).toContain(summary[0]);
  });

  test('makes one commit by the user of everything in the sandbox, and ends the session', () => {
    workOfTheAgent();
    write(join(repository, 'a'), LINES.replace('1', 'one'));
    git(repository, 'commit', '-q', '-a', '-m', 'by the user');
    const before = tip();
    // The user's own uncommitted files: unstaged, staged, untracked, ignored.
    write(join(repository, '.gitignore'), '*.log\n*.tmp\n');
    write(join(repository, 'staged'), 'staged\n');
    git(repository, 'add', 'staged');
    write(join(repository, 'untracked'), 'untracked\n');
    write(join(repository, 'debug.log'), "the user's\n");
    const status = git(repository, 'status', '--porcelain', '--ignored');

    const preview = JSON.parse(agtOk(repository, 'accept', 's1', '--dry-run', '--json'));
    expect(preview).toMatchObject({
      session_id: 's1',
      onto: 'main',
      onto_before: before,
      commit: null,
      dry_run: true,
    });
    expect(tip()).toBe(before);

    const report = JSON.parse(agtOk(repository, 'accept', 's1', '--json'));
    expect(report).toMatchObject({ session_id: 's1', state: 'accepted', onto: 'main', worktree: repository });
    expect(report.files).toEqual(preview.files);
    expect(report.files.map(({ path, status: how }: Record<string, string>) => `${how} ${path}`)).toEqual([
      'modified a',
      'modified dir/b',
      'deleted gone',
      'added link',
      'added new file',
    ]);
    expect(tip()).toBe(report.commit);
    expect(git(repository, 'log', '--format=%P %an %ae %cn', '-1')).toBe(
      `${before} Ann Author ann@example.com Carl Committer`,
    );
    expect(git(repository, 'log', '--format=%B', '-1').trim()).toBe(
      'Write six\n\nBecause it is nicer.\n\nAgt-Session: s1',
    );
    expect(readFileSync(join(repository, 'a'), 'utf8')).toBe(LINES.replace('1', 'one').replace('6', 'six'));
    expect(git(repository, 'ls-tree', '-r', '--name-only', 'main')).not.toContain('debug.log');
    expect(git(repository, 'ls-tree', 'main', 'new file')).toMatch(/^100755/);
    expect(git(repository, 'status', '--porcelain', '--ignored')).toBe(status);
    expect(readFileSync(join(repository, 'debug.log'), 'utf8')).toBe("the user's\n");
    expect(git(repository, 'reflog', '-1', '--format=%gs', 'main')).toBe('agt accept: s1');

    expect(existsSync(session.folder)).toBe(false);
    expect(git(repository, 'branch', '--list', '--format=%(refname:short)')).toBe('agtsessions/s1\nmain');
    expect(state()).toMatchObject({
      state: 'accepted',
      landed: { commit: report.commit, onto_before: before },
    });
    expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
    expect(agt(repository, 'accept', 's1').stderr).toBe(
      'warning: "s1" is accepted already, and nothing has changed now\n',
    );

    agtOk(repository, 'session', 'unaccept', 's1');
    expect(tip()).toBe(before);
    expect(git(repository, 'status', '--porcelain', '--ignored')).toBe(status);
    expect(readFileSync(join(sandbox, 'debug.log'), 'utf8')).toBe('ignored\n');
    expect(git(sandbox, 'status', '--porcelain', '--branch')).toBe(
      '## agt/s1\n M dir/b\n D gone\n?? link\n?? "new file"',
    );
    expect(state().landed).toBeNull();
    agtOk(sandbox, 'accept');
    expect(git(repository, 'diff', '--stat', report.commit, 'main')).toBe('');
  });

  test('takes the message from -m, -F, --summary, the template, subjects, prompts and labels, in this order', () => {
    const message = (...options: string[]) => {
      const { message: text } = JSON.parse(agtOk(repository, 'accept', 's1', '-n', '--json', ...options));
      return text.replace(/\n+Agt-Session: s1$/, '');
    };
    write(join(sandbox, 'x'), 'x\n');
    expect(message()).toBe('Work of session s1');
    agtOk(repository, 'autocommit', 's1');
    agtOk(repository, 'restore', 's1', '@', '--', 'x');
    expect(message()).toBe('Work of session s1');
    agtOk(repository, 'autocommit', 's1', '--label', 'x works');
    expect(message()).toBe('x works');
    agtOk(repository, 'autocommit', 's1', '--label', 'prompt: make x work');
    expect(message()).toBe('make x work');
    write(join(sandbox, 'y'), 'y\n');
    expect(message('--include', '[xy]')).toBe('make x work');
    expect(message('--exclude', 'y')).toBe('Part of session s1: x');
    expect(message('--exclude', 'y', '--summary', 'mine')).toBe('mine');
    agtOk(repository, 'autocommit', 's1', '--label', 'prompt: make y work');
    agtOk(repository, 'accept', 's1', '--exclude', 'y', '--keep', '--summary', 'make x work');
    expect(message()).toBe('make y work');
    agtOk(repository, 'autocommit', 's1', '--label', 'prompt: make z work');
    expect(message()).toBe('make y work; make z work');
    agtOk(repository, 'unaccept', 's1');
    rmSync(join(sandbox, 'y'));
    for (const subject of ['Add x', 'Use x']) {
      write(join(sandbox, 'x'), `${subject}\n`);
      git(sandbox, 'add', '-A');
      git(sandbox, 'commit', '-q', '-m', subject);
    }
    expect(message()).toBe('Add x; Use x');
    expect(message('--summary', 'mine')).toBe('mine');
    agtOk(repository, 'config', 'set', 'agt.commitTemplate', 'feat({session}): {summary}');
    expect(message()).toBe('feat(s1): Add x; Use x');
    expect(message('-m', 'one', '-m', 'two')).toBe('one\n\ntwo');
    write(join(repository, 'text'), 'from a file\n\nbody\n');
    expect(message('-F', 'text')).toBe('from a file\n\nbody');
    expect(agt(repository, 'accept', 's1', '-m', 'one', '-F', 'text').exitCode).toBe(2);
    expect(agt(repository, 'config', 'set', 'agt.commitTemplate', '{sumary}').stderr).toContain('{sumary}');
    const editor = join(repository, '.git', 'editor');
    write(editor, '#!/bin/sh\nsed -i "1s/.*/# comment/;2s/^/edited\\n/" "$1"\n', 0o755);
    git(repository, 'config', 'core.editor', editor);
    expect(agtOk(repository, 'accept', 's1', '-q', '--edit', '-m', 'raw')).toBe('');
    expect(git(repository, 'log', '-1', '--format=%B').trim()).toBe('edited\n\nAgt-Session: s1');
  });

  test('the message does not tell of a turn that was undone', () => {
    const agent = agentIn(sandbox, 'claude-code', 'c-1');
    for (const name of ['x', 'y']) {
      agent.says(`Add ${name}`);
      agent.begins(name);
      write(join(sandbox, name), name);
      agent.ends(name);
    }
    const message = () => JSON.parse(agtOk(repository, 'accept', 's1', '-n', '--json')).message;
    expect(message()).toMatch(/^Add x; Add y\n/);
    agtOk(sandbox, 'undo', '--turn');
    expect(message()).toMatch(/^Add x\n/);
    agtOk(sandbox, 'redo');
    expect(message()).toMatch(/^Add x; Add y\n/);
  });

  test('takes only some paths, only commits, or single commits', () => {
    const tree = (...options: string[]) => {
      const report = JSON.parse(agtOk(repository, 'accept', 's1', '--keep', '--json', ...options));
      const listed = git(repository, 'diff', '--name-only', report.onto_before, 'main').split('\n');
      agtOk(repository, 'session', 'unaccept', 's1');
      return { listed, leftOut: report.left_out };
    };
    workOfTheAgent();
    write(join(sandbox, 'dir/deep/c.ts'), 'c\n');
    expect(tree('--include', 'dir')).toEqual({
      listed: ['dir/b', 'dir/deep/c.ts'],
      leftOut: ['a', 'gone', 'link', 'new file'],
    });
    expect(tree('--include', '**/*.ts', '--include', 'go*').listed).toEqual(['dir/deep/c.ts', 'gone']);
    expect(tree('--exclude', '*.ts', '--exclude', 'b').leftOut).toEqual(['dir/b', 'dir/deep/c.ts']);
    expect(tree('--exclude', '{a,dir/**,link}').listed).toEqual(['gone', 'new file']);
    expect(tree('--committed-only')).toMatchObject({ listed: ['a'] });
    const none = agt(repository, 'accept', 's1', '--include', '*.rs');
    expect(none.stderr).toMatch(/the patterns leave no changed file/);
    const typo = agt(repository, 'accept', 's1', '--exclude', '*.rs');
    expect(typo.stderr).toMatch(
      /^error: --exclude "\*\.rs" matches no changed file, and nothing has changed\n/,
    );
    expect(agt(repository, 'accept', 's1', '-m', ' ').exitCode).toBe(2);
    git(sandbox, 'add', '-A');
    git(sandbox, 'commit', '-q', '-m', 'the rest', '--author=Agent <agent@example.com>');
    write(join(sandbox, 'later'), 'later\n');
    const before = tip();
    const picked = agtOk(repository, 'accept', 's1', '--keep', '--commits', 'HEAD');
    expect(picked).toContain('\nleft out later\n');
    expect(git(repository, 'log', '--format=%an %s', 'main', '-1')).toBe('Agent the rest');
    expect(git(repository, 'log', '--format=%(trailers)', 'main', '-1')).toContain('Agt-Session: s1');
    expect(readFileSync(join(repository, 'a'), 'utf8')).toBe(LINES);
    agtOk(repository, 'session', 'unaccept', 's1');
    agtOk(repository, 'accept', 's1', '--keep', '--commits', 'agt/s1~1, agt/s1');
    expect(git(repository, 'log', '--format=%s', `${before}..main`)).toBe('the rest\nWrite six');
    agtOk(repository, 'session', 'unaccept', 's1');
    expect(tip()).toBe(before);
    agtOk(repository, 'autocommit', 's1', '--label', 'prompt: tidy README');
    write(join(sandbox, 'tidy'), 'tidy\n');
    agtOk(repository, 'autocommit', 's1', '--label', 'the README is tidy');
    const words = ['accept', 's1', '--keep', '-n', '--commits'];
    expect(agtOk(repository, ...words, 'agt/s1~1 agt/s1')).toMatch(
      /\n {4}Write six\n[\s\S]*\n {4}the rest\n/,
    );
    expect(agtOk(repository, ...words, 'the README is')).toContain('\n    the README is tidy\n');
    expect(agt(repository, ...words, 'tidy it').stderr).toContain('no commit "tidy it" in the sandbox');
  });

  test('merges the commits of the agent with --keep-commits', () => {
    workOfTheAgent();
    write(join(repository, 'mine'), 'mine\n');
    git(repository, 'add', 'mine');
    git(repository, 'commit', '-q', '-m', 'by the user');
    const planned = agtOk(repository, 'accept', 's1', '--keep-commits', '-n');
    expect(planned).toMatch(/\ncommits\n.* {2}\w+ Write six\n.*\n {4}Merge session s1\n\n {4}Write six\n/s);
    agtOk(repository, 'accept', 's1', '--keep-commits', '-m', 'Merge the work');
    const graph = git(repository, 'log', '--topo-order', '--format=%s', 'main').split('\n');
    const rest = 'Uncommitted work of session s1';
    expect(graph).toEqual(['Merge the work', rest, 'Write six', 'by the user', 'first']);
    expect(git(repository, 'rev-list', '--parents', '-1', 'main').split(' ')).toHaveLength(3);
    expect(git(repository, 'status', '--porcelain')).toBe('');
    // A new session on top does not take the merge for one of its snapshots.
    agtOk(repository, 'new', 's2');
    agtOk(repository, 'fork', 's2', '--id', 's3');
    write(join(sandbox, '../../s3/sandbox/z'), 'z\n');
    agtOk(repository, 'autocommit', 's3');
    const log = JSON.parse(agtOk(repository, 'session', 'log', 's3', '--json'));
    expect(log.snapshots ?? log).toHaveLength(2);
  });

  test('a dry run of several sessions merges each with the result of those before', () => {
    const [second, third] = ['s2', 's3'].map((id) => sessionIn(repository, id).sandbox) as [string, string];
    write(join(sandbox, 'a'), LINES.replace('6', 'six'));
    write(join(second, 'a'), LINES.replace('6', 'SIX'));
    write(join(third, 'a'), LINES.replace('1', 'one'));
    const before = git(repository, 'for-each-ref', 'refs/heads/main', 'refs/heads/agt');
    const planned = agt(repository, 'accept', 's1', 's2', 's3', '--dry-run', '--json');
    expect(planned.exitCode).toBe(1);
    const reason =
      'once the work of s1 has landed: session "s2" conflicts with "main" in 1 file, and nothing has changed';
    expect(JSON.parse(planned.stdout)).toMatchObject([
      { session_id: 's1', after: [], files: [{ path: 'a', insertions: 1 }] },
      { session_id: 's2', error: reason },
      { session_id: 's3', after: ['s1'], onto_before: tip(), files: [{ path: 'a', insertions: 1 }] },
    ]);
    expect(agt(repository, 'accept', 's1', 's2', '-n').stderr).toContain(
      'hint: accept what lands before it: agt accept s1\nhint: a: ',
    );
    expect(agt(repository, 'accept', 's1', '-n').stdout).toContain('\nbranch   main\n');
    expect(agt(repository, 'accept', 's2', 's3', '-n').stdout).toContain('branch   main as it is after s2\n');
    expect(git(repository, 'for-each-ref', 'refs/heads/main', 'refs/heads/agt')).toBe(before);
    const accepted = agt(repository, 'accept', 's1', 's2', 's3', '--json');
    expect(JSON.parse(accepted.stdout).map((one: { outcome?: string }) => one.outcome)).toEqual([
      undefined,
      'failed',
      undefined,
    ]);
    // By now s2 conflicts whether or not another one lands before.
    write(join(sessionIn(repository, 's4').sandbox, 'b'), 'new\n');
    const { stderr } = agt(repository, 'accept', 's4', 's2', '-n');
    expect(stderr).toContain('error: session "s2" conflicts with "main" in 1 file');
    expect(stderr).not.toContain('accept what lands before it');
  });
});

test('list, show and the log of all sessions say that the branch has lost the commit of an acceptance, but not after an amend', () => {
  write(join(sandbox, 'a'), 'by the agent\n');
  const env = { GIT_AUTHOR_DATE: '2026-01-06T12:00:00+0100' };
  expect(run(AGT, ['accept', 's1', '-m', 'Mine'], { cwd: repository, env }).exitCode).toBe(0);
  const landed = git(repository, 'log', '-1', '--abbrev=10', '--format=%h');
  const said = (words: string) => {
    expect(agtOk(repository, 'list', '--all')).toContain(`as ${landed}${words} on main`);
    expect(agtOk(repository, 'session', 'show', 's1')).toContain(`${landed}${words} on main`);
    expect(agtOk(repository, 'log', '--all-sessions')).toContain(`as ${landed}${words} on main`);
    const rows = JSON.parse(agtOk(repository, 'log', '--all-sessions', '--json')) as { lost: boolean }[];
    expect(rows.some(({ lost }) => lost)).toBe(words.endsWith('no longer'));
  };
  said('');
  git(repository, 'commit', '-q', '--amend', '-m', 'My words');
  said(`, now ${git(repository, 'log', '-1', '--abbrev=10', '--format=%h')}`);
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  said('; that commit is no longer');
});
