/** A branch that was renamed or deleted: what says so, and how its sessions go on. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, run, write } from '../harness/world.ts';

test('after git branch -m, status and sync name the way on, and sync --from takes it', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  git(repository, 'branch', '-m', 'main', 'trunk');
  const gone = 'main: this branch is not here, and the work of s1 is to land there';
  for (const command of ['status', 'doctor']) expect(agt(repository, command).stdout).toContain(gone);
  expect(agt(repository, 'doctor').stdout).toMatch(/^1 problem\n/);
  expect(agt(repository, 'sync', 's1').stderr).toBe(
    'error: there is no branch "main"\nhint: if it has another name now: agt sync s1 --from BRANCH\n',
  );
  agtOk(repository, 'new', 's2', '--from', 'trunk');
  expect(agt(repository, 'sync', 's1', '--from', 's2').stderr).toBe(
    'error: there is no branch "s2"\nhint: "s2" is a session; its branch: --from agt/s2\n',
  );
  agtOk(repository, 'remove', 's2');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'later');
  expect(agtOk(repository, 'sync', 's1', '--from', 'trunk', '-n')).toMatch(
    /^would merge 1 commit of trunk into s1\nthe work of s1 would go to trunk from now on$/,
  );
  expect(agt(repository, 'status').stdout).toContain(gone);
  expect(agtOk(repository, 'sync', 's1', '--from', 'trunk')).toMatch(
    /^merged 1 commit of trunk into s1, which is at \w+\nthe work of s1 goes to trunk from now on$/,
  );
  expect(agt(repository, 'status').stdout).not.toContain(gone);
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  git(repository, 'branch', 'other');
  expect(agtOk(repository, 'sync', 's1', '--from', 'other')).toBe('s1 has all commits of other');
  expect(JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json')).user_branch).toBe(
    'refs/heads/trunk',
  );
});

test('a user branch that is gone: agt list counts no commits, and no lines', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'of the user');
  agtOk(repository, 'sync', 's1');
  write(join(sandbox, 'a'), 'b\n');
  git(repository, 'branch', '-m', 'main', 'trunk');
  expect(agtOk(repository, 'list')).toMatch(/COMMITS +DIRTY +DIFF +BEHIND.*\n.* \? +1 +\? +\? /);
  const [listed] = JSON.parse(agtOk(repository, 'list', '--json'));
  expect(listed).toMatchObject({ ahead: null, behind: null, diff: null, dirty: 1 });
});

test('unaccept takes the work off the branch by its new name; of one that is gone, it names a way that it has', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'accept', 's1');
  git(repository, 'branch', '-m', 'main', 'trunk');
  expect(agtOk(repository, 'unaccept', 's1')).toContain('\nbranch   trunk is back at ');
  expect(JSON.parse(agtOk(repository, 'activity', '--json'))[0]).toMatchObject({ onto: 'trunk' });
  expect(git(repository, 'show', 'trunk:a')).toBe('a');
  agtOk(repository, 'accept', 's1', '--onto', 'trunk');
  git(repository, 'switch', '-q', '--orphan', 'other');
  git(repository, 'branch', '-qD', 'trunk');
  const { stderr } = agt(repository, 'unaccept', 's1');
  expect(stderr).toContain('if it has another name now, give it this one again: git branch -m NAME trunk');
  expect(stderr).not.toContain('--onto');
});

test('a commit that a renamed branch has is not lost', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'accept', 's1');
  git(repository, 'branch', '-m', 'main', 'trunk');
  const outcome = () => JSON.parse(agtOk(repository, 'activity', '--json'))[0];
  expect(outcome()).toMatchObject({ outcome: 'accepted', lost: false });
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  expect(outcome()).toMatchObject({ outcome: 'accepted', lost: true, onto: 'trunk' });
});

test('a branch that was renamed and then rebased has the work in its new form', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'accept', 's1');
  git(repository, 'branch', '-m', 'main', 'trunk');
  git(repository, 'switch', '-qc', 'side', 'HEAD~1');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'of the user');
  git(repository, 'rebase', '-q', '--allow-empty', 'side', 'trunk');
  git(repository, 'branch', '-m', 'trunk', 'stable');
  const now = git(repository, 'rev-parse', '--short=10', 'stable');
  for (const listed of [['list', '-a'], ['activity']])
    expect(agtOk(repository, ...listed)).toMatch(new RegExp(`as \\w+, now ${now} on stable$`, 'm'));
});

test.each(['before', 'after'])(
  'a commit that somebody has amended %s the branch got its name is not lost',
  (when) => {
    const { repository, sandbox } = makeSession({ a: 'a\n' });
    write(join(sandbox, 'a'), 'b\n');
    agtOk(repository, 'accept', 's1');
    const amend = () =>
      git(repository, 'commit', '-q', '--amend', '--no-edit', '--date=2026-11-01T00:00:00Z');
    if (when === 'before') amend();
    git(repository, 'branch', '-m', 'main', 'trunk');
    if (when === 'after') amend();
    const now = git(repository, 'rev-parse', 'trunk');
    const [outcome] = JSON.parse(agtOk(repository, 'activity', '--json'));
    expect(outcome).toMatchObject({ lost: false, now_as: now, onto: 'trunk' });
    agtOk(repository, 'undo', 's1');
    expect(agtOk(repository, 'list')).toContain('accepted before on trunk');
  },
);

test('accepted, and then asked for another branch: a refusal, not a word of success', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  git(repository, 'branch', 'maint');
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'accept', 's1');
  const { exitCode, stderr } = agt(repository, 'accept', 's1', '--onto', 'maint');
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('agt undo s1')]);
  expect(agt(repository, 'accept', 's1', '--onto', 'main').exitCode).toBe(0);
});

test('the hint to commit first runs where an old path is behind a link', () => {
  const { repository, sandbox } = makeSession({ 'lib/a': 'a\n' });
  git(sandbox, 'mv', 'lib', 'new');
  symlinkSync('new', join(sandbox, 'lib'));
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'of the user');
  const { stderr } = agt(repository, 'sync', 's1', '--rebase');
  const command = /first: (git .*)/.exec(stderr)?.[1] ?? 'false';
  expect(run('sh', ['-c', command], { cwd: repository }).exitCode).toBe(0);
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
});

test('unaccept says so if the branch of the sandbox is gone', () => {
  const { repository, sandbox } = makeSession({ a: '1\n2\n3\n', b: 'b\n' });
  write(join(sandbox, 'new'), 'new\n');
  git(sandbox, 'switch', '-qc', 'side');
  agtOk(repository, 'accept', 's1', '--untracked=all');
  const at = git(repository, 'rev-parse', 'side').slice(0, 10);
  git(repository, 'branch', '-D', 'side');
  expect(agt(repository, 'unaccept', 's1').stderr).toBe(
    `warning: HEAD is detached at ${at}: branch "side" was deleted, and agt creates only its own branches\n`,
  );
});

test('work on a branch that is deleted since, or that is only at the remote', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  const ended = (words: string) => {
    for (const listed of [['list', '-a'], ['activity']])
      expect(agtOk(repository, ...listed)).toMatch(new RegExp(`in part as \\w+${words}$`, 'm'));
  };
  git(repository, 'branch', 'release');
  write(join(sandbox, 'a'), '2\n');
  write(join(sandbox, 'new'), 'new\n');
  agtOk(repository, 'accept', 's1', '--onto', 'release', '--untracked=none');
  ended(' on release');
  const tip = git(repository, 'rev-parse', 'release');
  git(repository, 'branch', '-D', 'release');
  ended('; that commit is no longer on release');
  expect(JSON.parse(agtOk(repository, 'activity', '--json'))[0]).toMatchObject({ lost: true });
  git(repository, 'update-ref', 'refs/remotes/origin/release', tip);
  ended(' on release');
});

test('a branch that is renamed between the acceptances of a fork and its parent has the work of both', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const commit = (folder: string, text: string) => {
    write(join(folder, 'new'), text);
    git(folder, 'add', 'new');
    git(folder, 'commit', '-qm', text.trim());
  };
  commit(sandbox, 'one\n');
  agtOk(repository, 'fork', 's1', '--id', 's2');
  commit(agtOk(repository, 'path', 's2'), 'one\ntwo\n');
  agtOk(repository, 'accept', 's2');
  git(repository, 'branch', '-m', 'main', 'trunk');
  const { stderr } = agt(repository, 'accept', 's1', '--onto', 'trunk', '-n');
  expect(stderr).toMatch(/^error: nothing to accept: /);
});

test('JSON has the name that the branch of an acceptance has now, as the table has it', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  git(repository, 'branch', 'other');
  for (const [text, ...words] of [['b'], ['c', '--onto', 'other'], ['d']] as const) {
    write(join(sandbox, 'a'), `${text}\n`);
    agtOk(repository, 'accept', 's1', '--keep', ...words);
  }
  git(repository, 'branch', '-m', 'main', 'trunk');
  const before = { onto: 'other', before: { onto: 'trunk' } };
  for (const words of [['session', 'show', 's1'], ['list']])
    expect([JSON.parse(agtOk(repository, ...words, '--json'))].flat()[0].landed).toMatchObject({
      onto: 'trunk',
      before,
    });
});
