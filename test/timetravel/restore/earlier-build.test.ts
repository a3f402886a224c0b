/** A snapshot as earlier builds of agt wrote it, without `_/git-dir` and `_/stages`, can be restored and forked. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession, snapshotFolder, type TestSession } from '../../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../../harness/world.ts';

/** Writes the last snapshot again as an earlier build had it, and moves both refs to it. */
function rewriteAsEarlier({ repository }: TestSession): void {
  const tip = git(repository, 'rev-parse', 'agtsessions/s1');
  const manifest = JSON.parse(git(repository, 'cat-file', 'blob', `${tip}:_/manifest.json`));
  const { git_dir_digest: digest, ...rest } = manifest;
  const earlier = manifest.operation === null ? rest : { ...rest, operation_digest: digest };
  const hash = (input: string) =>
    run(REAL_GIT, ['hash-object', '-w', '--stdin'], { cwd: repository, input }).stdout.trim();
  const listed = git(repository, 'ls-tree', '-r', `${tip}:_`).split('\n');
  const files = listed
    .map((line) => line.replace('\tgit-dir/', '\toperation/'))
    .filter((line) => !/\t(manifest\.json|stages\/|auto-merge\/|operation\/ORIG_HEAD)/.test(line))
    .filter((line) => manifest.operation !== null || !line.includes('\toperation/'));
  const index = join(repository, '.git/earlier-index');
  const env = { GIT_INDEX_FILE: index };
  const lines = [...files, `100644 blob ${hash(`${JSON.stringify(earlier, null, 1)}\n`)}\tmanifest.json`];
  run(REAL_GIT, ['update-index', '--index-info'], {
    cwd: repository,
    env,
    input: lines.map((line) => `${line.replace('\t', '\t_/')}\n`).join(''),
  });
  for (const top of ['sandbox', 'xdg', 'config']) {
    if (run(REAL_GIT, ['rev-parse', '-q', '--verify', `${tip}:${top}`], { cwd: repository }).exitCode === 0)
      run(REAL_GIT, ['read-tree', `--prefix=${top}/`, `${tip}:${top}`], { cwd: repository, env });
  }
  const tree = run(REAL_GIT, ['write-tree'], { cwd: repository, env }).stdout.trim();
  const content = git(repository, 'cat-file', 'commit', tip).replace(/^tree .*/, `tree ${tree}`);
  const commit = run(REAL_GIT, ['hash-object', '-t', 'commit', '-w', '--stdin'], {
    cwd: repository,
    input: `${content}\n`,
  }).stdout.trim();
  for (const ref of ['refs/heads/agtsessions/s1', 'refs/agt/tip/s1'])
    git(repository, 'update-ref', ref, commit);
}

function inMerge(): TestSession {
  const session = makeSession({ a: 'a\n' });
  git(session.sandbox, 'switch', '-q', '-c', 'other');
  write(join(session.sandbox, 'a'), 'theirs\n');
  git(session.sandbox, 'commit', '-q', '-am', 'theirs');
  git(session.sandbox, 'switch', '-q', 'agt/s1');
  write(join(session.sandbox, 'a'), 'ours\n');
  git(session.sandbox, 'commit', '-q', '-am', 'ours');
  expect(run(REAL_GIT, ['merge', 'other'], { cwd: session.sandbox }).exitCode).toBe(1);
  return session;
}

test('in the middle of a merge', () => {
  const session = inMerge();
  const status = git(session.sandbox, 'status');
  autocommit(session, '--label', 'then');
  const then = snapshotFolder(session.folder);
  rewriteAsEarlier(session);
  git(session.sandbox, 'merge', '--abort');
  expect(agt(session.repository, 'session', 'restore', 's1', '--to', 'then')).toMatchObject({
    exitCode: 0,
    stderr: '',
    stdout: expect.stringContaining('verified'),
  });
  expect(git(session.sandbox, 'status')).toBe(status);
  expect(snapshotFolder(session.folder)).toEqual(then);
  agtOk(session.repository, 'session', 'fork', '--from', 's1', '--at', 'then', '--id', 's2');
  const fork = join(session.folder, '../s2/sandbox');
  expect(git(fork, 'status')).toContain('You have unmerged paths');
});

test('and one without an operation takes away nothing that it could not know of', () => {
  const session = makeSession({ a: 'a\n' });
  autocommit(session, '--label', 'then');
  rewriteAsEarlier(session);
  const gitDir = git(session.sandbox, 'rev-parse', '--absolute-git-dir');
  write(join(session.sandbox, 'a'), 'changed\n');
  git(session.sandbox, 'update-ref', 'refs/worktree/mine', 'HEAD');
  write(join(gitDir, 'SQUASH_MSG'), 'message\n');
  const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
  expect(done).toMatchObject({ exitCode: 0, stderr: '' });
  expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('a\n');
  expect(existsSync(join(gitDir, 'SQUASH_MSG'))).toBe(true);
  expect(git(session.sandbox, 'rev-parse', 'refs/worktree/mine')).toBe(
    git(session.sandbox, 'rev-parse', 'HEAD'),
  );
});
