/** Sessions and spellings of the agt of simbo1905 (0.2.2). */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, GIT_MODE, git, makeRepository, run, write } from '../harness/world.ts';

interface Upstream {
  readonly repository: string;
  readonly sandbox: string;
  /** The end of its one branch. */
  readonly tip: string;
}

/** A commit as its autocommit makes it: the tree of the session folder, with two parents. */
function upstreamSnapshot(sandbox: string): void {
  const tree = git(sandbox, 'rev-parse', 'HEAD^{tree}');
  const folder = run('git', ['mktree'], {
    cwd: sandbox,
    input: `040000 tree ${tree}\tsandbox\n`,
  }).stdout.trim();
  const env = { GIT_AUTHOR_NAME: 'agt', GIT_AUTHOR_EMAIL: 'agt@local' };
  const args = ['commit-tree', '-m', 'agt autocommit', '-p', 'HEAD', '-p', 'main', folder];
  const commit = run('git', args, { cwd: sandbox, env }).stdout.trim();
  git(sandbox, 'update-ref', 'refs/heads/agtsessions/old', commit);
}

/** As `agt session new --id old` of that agt leaves it: HEAD is the shadow branch. */
function upstreamSession(): Upstream {
  const repository = makeRepository({ 'a.txt': 'a\n' });
  const start = git(repository, 'rev-parse', 'HEAD');
  const sandbox = join(dirname(repository), 'sessions/old/sandbox');
  for (const name of ['xdg', 'config']) mkdirSync(join(sandbox, '..', name), { recursive: true });
  git(repository, 'branch', 'agtsessions/old');
  git(repository, 'worktree', 'add', '-q', sandbox, 'agtsessions/old');
  const record = {
    ...{ session_id: 'old', branch: 'agtsessions/old', sandbox, from: start, from_commit: start },
    ...{ user_branch: 'refs/heads/main', created_at: 1_736_000_000, profile: 'default' },
  };
  write(join(repository, '.git/agt/sessions/old.json'), JSON.stringify(record));
  write(join(repository, '.git/agt/timestamps/old'), '1736000000');
  write(join(sandbox, 'a.txt'), 'one\n');
  git(sandbox, 'commit', '-q', '-a', '-m', 'first of the agent');
  upstreamSnapshot(sandbox);
  write(join(sandbox, 'a.txt'), 'two\n');
  git(sandbox, 'commit', '-q', '-a', '-m', 'second of the agent');
  upstreamSnapshot(sandbox);
  write(join(sandbox, 'uncommitted.txt'), 'uncommitted\n');
  return { repository, sandbox, tip: git(sandbox, 'rev-parse', 'HEAD') };
}

describe('agt session adopt', () => {
  test('gives the session two branches, keeps its commits and files, and never advises to delete them', () => {
    const { repository, sandbox, tip } = upstreamSession();
    const refused = agt(repository, 'autocommit', '--session-id', 'old');
    expect(refused.stderr).toBe(
      'error: session "old" was made by another agt, which keeps one branch for everything\n' +
        'hint: give it a work branch and a shadow branch: agt session adopt old\n',
    );
    const doctor = agt(repository, 'doctor').stdout;
    expect(doctor).toContain('fix: agt session adopt old');
    expect(doctor).not.toMatch(/delete|move it away|update-ref -d/);

    const adopted = JSON.parse(agtOk(sandbox, 'session', 'adopt', '--json'));
    expect(adopted).toMatchObject({ session_id: 'old', state: 'active', user_branch: 'refs/heads/main' });
    expect(git(sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/old');
    expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('second of the agent\nfirst of the agent');
    expect(git(sandbox, 'show', 'agt/old:a.txt')).toBe('two');
    expect(git(sandbox, 'status', '--porcelain')).toMatch(/\?\? uncommitted\.txt$/);
    expect(git(repository, 'show', 'agtsessions/old:sandbox/uncommitted.txt')).toBe('uncommitted');
    expect(git(repository, 'merge-base', '--is-ancestor', tip, 'agtsessions/old')).toBe('');
    expect(git(repository, 'for-each-ref', 'refs/agt/adopted')).toBe('');
    expect(readFileSync(join(sandbox, 'uncommitted.txt'), 'utf8')).toBe('uncommitted\n');
    expect(agtOk(repository, 'list')).toMatch(/^old +active .* \+2 /m);
    expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
    expect(agt(repository, 'session', 'adopt', 'old').stderr).toContain('has its two branches already');
    write(join(sandbox, 'a.txt'), 'three\n');
    agtOk(repository, 'undo', 'old');
    expect(readFileSync(join(sandbox, 'a.txt'), 'utf8')).toBe('two\n');
  });

  test('the same command finishes after a kill between any two steps', () => {
    const { repository, sandbox, tip } = upstreamSession();
    const metadata = readFileSync(join(repository, '.git/agt/sessions/old.json'));
    const index = readFileSync(join(sandbox, 'a.txt'));
    const adopt = () => agtOk(repository, 'session', 'adopt', 'old', '--json');
    const work = () => git(repository, 'rev-parse', 'agt/old');
    adopt();
    const first = work();
    const tries: (() => void)[] = [
      () => git(sandbox, 'symbolic-ref', 'HEAD', 'refs/heads/agtsessions/old'),
      () => undefined,
    ];
    for (const killedBefore of tries) {
      // As it was after the refs had moved: no metadata of ours yet, no snapshot.
      writeFileSync(join(repository, '.git/agt/sessions/old.json'), metadata);
      git(repository, 'update-ref', 'refs/agt/adopted/old', tip);
      for (const ref of ['refs/heads/agtsessions/old', 'refs/agt/tip/old'])
        git(repository, 'update-ref', ref, 'main');
      killedBefore();
      adopt();
      expect(work()).toBe(first);
      expect(git(sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/old');
      expect(git(repository, 'merge-base', '--is-ancestor', tip, 'agtsessions/old')).toBe('');
    }
    expect(readFileSync(join(sandbox, 'a.txt')).equals(index)).toBe(true);
    git(repository, 'update-ref', 'refs/agt/adopted/old', tip);
    adopt(); // killed before the snapshot
    expect(git(repository, 'for-each-ref', 'refs/agt/adopted')).toBe('');
  });
});

test('spellings of that agt work', () => {
  const session = makeSession({ 'a.txt': 'a\n' });
  const { repository, sandbox } = session;
  const { commit } = JSON.parse(agtOk(repository, 'autocommit', '--session-id', 's1', '--json'));
  write(join(sandbox, 'a.txt'), 'b\n');
  agtOk('/', 'session', 'restore', '--session-id', 's1', '--commit', commit, '-C', repository);
  expect(readFileSync(join(sandbox, 'a.txt'), 'utf8')).toBe('a\n');
  expect(agtOk('/', 'list', '-C', repository)).toContain('s1');
  expect(agtOk(repository, 'session', 'remove', '--id', 's1')).toContain('removed');
  const env = { AGT_SHOW_OWN_VERSION: '1' };
  for (const program of [AGT, GIT_MODE])
    expect(run(program, ['--version'], { cwd: repository, env }).stdout).toMatch(/^agt \d+\.\d+\.\d+\n$/);
});
