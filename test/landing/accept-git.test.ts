/** An acceptance with hooks, signatures, sparse checkouts and filters, and with a branch that moves meanwhile. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, REAL_GIT, run, runsAsGit, write } from '../harness/world.ts';

let repository: string;
let sandbox: string;
beforeEach(() => {
  ({ repository, sandbox } = makeSession({ a: '1\n2\n3\n', 'in/b': 'b\n', 'out/c': 'c\n' }));
  write(join(sandbox, 'new'), 'new\n');
  write(join(sandbox, 'out/c'), 'changed\n');
});

const hook = (name: string, script: string) =>
  write(join(repository, '.git/hooks', name), `#!/bin/sh\n${script}\n`, 0o755);
const log = () => readFileSync(join(repository, '.git/log'), 'utf8').trim().split(/ *\n/);
const tip = () => git(repository, 'rev-parse', 'main');

test('hooks run in the worktree as git runs them, and one that refuses changes nothing', () => {
  const say = 'echo "$(basename "$0") $(basename "$1") $2" >>"$(git rev-parse --git-common-dir)/log"';
  hook('pre-merge-commit', `${say}\ntest -e new && test "$(git rev-parse --abbrev-ref HEAD)" = main`);
  hook('prepare-commit-msg', `${say}\necho "Prepared: $2" >>"$1"`);
  hook('commit-msg', `${say}\ngit diff --cached --name-only HEAD >>"$1"`);
  hook('post-merge', say);
  write(join(repository, 'untracked'), 'mine\n');
  agtOk(repository, 'accept', 's1', '--keep');
  expect(log()).toEqual([
    'pre-merge-commit',
    'prepare-commit-msg COMMIT_EDITMSG squash',
    'commit-msg COMMIT_EDITMSG',
    'post-merge 0',
  ]);
  const message = git(repository, 'log', '-1', '--format=%B');
  expect(message).toContain('Prepared: squash');
  expect(message).toContain('new\nout/c');
  agtOk(repository, 'session', 'unaccept', 's1');
  const before = { tip: tip(), status: git(repository, 'status', '--porcelain') };
  for (const name of ['pre-merge-commit', 'commit-msg']) {
    hook(name, 'exit 1');
    const outcome = agt(repository, 'accept', 's1');
    expect(outcome.stderr).toContain(
      'hook refused, and nothing was accepted\nhint: accept without that hook: --no-verify',
    );
    expect({ tip: tip(), status: git(repository, 'status', '--porcelain') }).toEqual(before);
    expect(existsSync(join(repository, 'new'))).toBe(false);
    if (name === 'pre-merge-commit') hook(name, 'exit 0');
  }
  agtOk(repository, 'accept', 's1', '--no-verify', '-m', 'mine');
  expect(git(repository, 'log', '-1', '--format=%B')).toContain('Prepared: message');
});

test('a session that is kept lands again, with only the changes since', () => {
  agtOk(repository, 'accept', 's1', '--keep');
  write(join(repository, 'a'), 'one\n2\n3\n');
  git(repository, 'commit', '-q', '-a', '-m', 'by the user');
  expect(agt(repository, 'accept', 's1').stderr).toContain('nothing to accept');
  write(join(sandbox, 'new'), 'newer\n');
  write(join(sandbox, 'a'), '1\n2\nthree\n');
  const report = JSON.parse(agtOk(repository, 'accept', 's1', '--json'));
  expect(report.files.map(({ path }: { path: string }) => path)).toEqual(['a', 'new']);
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('one\n2\nthree\n');
  expect(readFileSync(join(repository, 'new'), 'utf8')).toBe('newer\n');
  expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
});

test('the commit of a submodule that only the sandbox may have is named, and how it gets to a new branch', () => {
  const remote = join(makeTempDir(), 'remote.git');
  git(repository, 'clone', '-q', '--bare', '.', remote);
  git(sandbox, 'clone', '-q', remote, 'sub');
  git(join(sandbox, 'sub'), 'commit', '-q', '--allow-empty', '-m', 'Only here');
  const commit = git(join(sandbox, 'sub'), 'rev-parse', 'HEAD');
  write(join(sandbox, '.gitmodules'), '[submodule "sub"]\n\tpath = sub\n\turl = ../sub\n');
  git(sandbox, 'update-index', '--add', '--cacheinfo', `160000,${commit},sub`);
  const at = commit.slice(0, 10);
  const push = `git -C ${sandbox}/sub push origin ${at}:refs/heads/BRANCH`;
  expect(agt(repository, 'accept', 's1', '--keep').stderr).toBe(
    `warning: submodule sub is now at ${at}; if its remote lacks that: ${push} (once the sandbox is gone, first: agt undo s1)\n`,
  );
  expect(git(repository, 'ls-tree', 'main', 'sub')).toBe(`160000 commit ${commit}\tsub`);
  run('sh', ['-c', push], { cwd: repository });
  expect(git(remote, 'rev-parse', 'BRANCH')).toBe(commit);
});

test('files go through the filters of git, and a sparse worktree stays sparse', () => {
  git(repository, 'config', 'filter.upper.clean', 'tr a-z A-Z');
  git(repository, 'config', 'filter.upper.smudge', 'tr A-Z a-z');
  write(join(sandbox, '.gitattributes'), '*.up filter=upper\n*.txt eol=crlf\n');
  write(join(sandbox, 'x.up'), 'loud\n');
  write(join(sandbox, 'y.txt'), 'line\r\n');
  git(repository, 'sparse-checkout', 'set', '--cone', 'in');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'show', 'main:x.up')).toBe('LOUD');
  expect(git(repository, 'cat-file', 'blob', 'main:y.txt')).toBe('line');
  expect(readFileSync(join(repository, 'x.up'), 'utf8')).toBe('loud\n');
  expect(readFileSync(join(repository, 'y.txt'), 'utf8')).toBe('line\r\n');
  expect(git(repository, 'show', 'main:out/c')).toBe('changed');
  expect(existsSync(join(repository, 'out'))).toBe(false);
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('the commit is signed if the settings ask for it', () => {
  const key = join(makeTempDir(), 'key');
  run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key], { cwd: repository });
  for (const [name, value] of [
    ['gpg.format', 'ssh'],
    ['user.signingKey', key],
    ['commit.gpgSign', 'true'],
  ] as const)
    git(repository, 'config', name, value);
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'cat-file', 'commit', 'main')).toContain('gpgsig -----BEGIN SSH SIGNATURE-----');
});

test('a branch that moves meanwhile is merged once more, up to ten times', () => {
  // A git that commits to the branch right before agt locks it.
  const moving = (times: number) => {
    const dir = makeTempDir();
    const script = `#!/bin/sh
case "$*" in *update-ref*--stdin*"") case "$*" in *"agt accept"*)
  n=$(cat ${dir}/n 2>/dev/null || echo 0)
  if [ "$n" -lt ${times} ]; then
    echo $((n + 1)) >${dir}/n
    commit=$(${REAL_GIT} commit-tree -p main -m "by another $n" main^{tree})
    ${REAL_GIT} update-ref refs/heads/main "$commit"
  fi;; esac;; esac
exec ${REAL_GIT} "$@"
`;
    write(join(dir, 'git'), script, 0o755);
    return runsAsGit(join(dir, 'git'));
  };
  const refused = run(AGT, ['accept', 's1'], { cwd: repository, env: moving(10) });
  expect(refused.stderr).toContain('"main" moves again and again');
  expect(refused.exitCode).toBe(75);
  expect(existsSync(join(repository, 'new'))).toBe(false);
  const done = run(AGT, ['accept', 's1'], { cwd: repository, env: moving(9) });
  expect(done.stderr).toBe('');
  const others = git(repository, 'log', '--format=%s', 'main').split('\n');
  expect(others).toHaveLength(1 + 9 + 10 + 1);
  expect(others.slice(0, 2)).toEqual(['Work of session s1', 'by another 8']);
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('files that are only newer than the index knows do not hinder it', () => {
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(repository, 'out/c'), later, later);
  agtOk(repository, 'accept', 's1');
  expect(readFileSync(join(repository, 'out/c'), 'utf8')).toBe('changed\n');
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('another git holds the branch for two seconds: accept waits', async () => {
  write(join(sandbox, 'new'), 'new\n');
  const holder = spawn(REAL_GIT, ['update-ref', '--stdin'], { cwd: repository });
  const tip = git(repository, 'rev-parse', 'main');
  const prepared = new Promise((done) => holder.stdout.once('data', done));
  holder.stdin.write(`start\nupdate refs/heads/main ${tip} ${tip}\nprepare\n`);
  await prepared;
  setTimeout(() => holder.stdin.end('abort\n'), 2_000);
  const child = spawn(AGT, ['accept', 's1', '--untracked=all'], { cwd: repository, stdio: 'ignore' });
  expect(await new Promise((done) => child.once('close', done))).toBe(0);
});

test('five sessions that are accepted at once all land', async () => {
  const ids = [1, 2, 3, 4, 5].map((n) => `p${n}`);
  for (const id of ids) {
    agtOk(repository, 'session', 'new', id);
    write(join(sandbox, `../../${id}/sandbox/of-${id}`), id);
  }
  const codes = await Promise.all(
    ids.map((id) => {
      const child = spawn(AGT, ['accept', id], { cwd: repository, stdio: 'ignore' });
      return new Promise((done) => child.once('close', done));
    }),
  );
  expect(codes).toEqual([0, 0, 0, 0, 0]);
  for (const id of ids) expect(readFileSync(join(repository, `of-${id}`), 'utf8')).toBe(id);
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('the branch that the agent has made stays, and each end of the session names it', () => {
  const stays = 'stays    branch feature, which the agent has made; delete it: git branch -D feature\n';
  const env = { GIT_COMMITTER_DATE: undefined }; // the reflog tells when the branch was made
  expect(run(REAL_GIT, ['switch', '-q', '-c', 'feature'], { cwd: sandbox, env }).exitCode).toBe(0);
  git(sandbox, 'commit', '-q', '-a', '-m', 'on a branch');
  for (const words of [['remove'], ['reject'], ['accept', '-n'], ['accept', '--untracked=all']]) {
    expect(agtOk(repository, ...words, 's1')).toContain(stays);
    if (words.length === 1) agtOk(repository, 'undo', 's1');
  }
  expect(git(repository, 'branch', '--list', 'feature', 'agt/s1').trim()).toBe('feature');
});

test('a subject that looks like a trailer stays one: Agt-Session is a paragraph of its own', () => {
  git(sandbox, 'add', '.');
  git(sandbox, 'commit', '-qm', 'blame: fix it');
  const { kept_commits: kept } = JSON.parse(
    agtOk(repository, 'accept', 's1', '-n', '--keep-commits', '--json'),
  );
  expect(kept).toEqual([expect.stringMatching(/^\w{7,} blame: fix it$/)]);
  agtOk(repository, 'accept', 's1', '--keep-commits');
  expect(git(repository, 'log', '-1', '--format=%B').trim()).toBe(
    'Merge session s1\n\nblame: fix it\n\nAgt-Session: s1',
  );
  expect(git(repository, 'log', '-1', '--format=%(trailers)').trim()).toBe('Agt-Session: s1');
});
