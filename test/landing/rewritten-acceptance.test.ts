/** The user rewrites an acceptance that a sync has brought into the session: what it had is no work of the session. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

const LINES = Array.from({ length: 30 }, (_, i) => `${i + 1}`);
const textWith = (at: number, text: string, lines = LINES) => `${lines.with(at - 1, text).join('\n')}\n`;

/** The agent has committed line 10. */
function begun() {
  const { repository, sandbox } = makeSession({ f: `${LINES.join('\n')}\n` });
  const put = (where: string, name: string, text: string) => write(join(where, name), text);
  const commit = (where: string, name: string, text: string) => {
    put(where, name, text);
    git(where, 'add', name);
    git(where, 'commit', '-qm', `write ${name}, ${text.length} bytes`);
  };
  commit(sandbox, 'f', textWith(10, 'ten'));
  const seen = () => {
    const [{ merge, diff }] = JSON.parse(agtOk(repository, 'list', '--json'));
    const { files } = JSON.parse(agtOk(repository, 'accept', 's1', '-n', '--json'));
    const base = agtOk(repository, 'diff', 's1', '--base', '--shortstat');
    return { merge, diff, base, files: files.map(({ path }: { path: string }) => path) };
  };
  return { repository, sandbox, put, commit, seen };
}

const ONE_LINE = {
  merge: 'clean',
  diff: { files: 1, insertions: 1, deletions: 1, in_part: false },
  base: ' 1 file changed, 1 insertion(+), 1 deletion(-)',
  files: ['f'],
};

test.each(['message', 'content'])(
  'after an amend of its %s, review and list leave out commits of the user',
  (what) => {
    const { repository, sandbox, put, commit, seen } = begun();
    commit(repository, 'other', `${LINES.join('\n')}\n`);
    agtOk(repository, 'accept', 's1', '--keep');
    agtOk(repository, 'sync', 's1');
    put(sandbox, 'f', textWith(20, 'twenty', LINES.with(9, 'ten')));
    if (what === 'content') put(repository, 'f', textWith(30, 'thirty', LINES.with(9, 'ten')));
    git(repository, 'commit', '-qa', '--amend', '-m', 'better');
    expect(seen()).toEqual(ONE_LINE);
    expect(agtOk(repository, 'review', 's1')).not.toContain('other');
    expect(agt(repository, 'review', 's1', '--reject', 'other', '--now').exitCode).toBe(2);
    agtOk(repository, 'sync', 's1');
    agtOk(repository, 'accept', 's1');
    expect(git(repository, 'show', '--format=', '--numstat', 'main')).toBe('1\t1\tf');
  },
);

test.each(['open', 'committed'])('after a rebase and a sync, work beside it that is %s lands', (state) => {
  const { repository, sandbox, put, commit, seen } = begun();
  git(repository, 'branch', 'base');
  commit(repository, 'f', textWith(10, 'mine'));
  expect(agt(repository, 'sync', 's1').exitCode).toBe(1);
  commit(sandbox, 'f', textWith(10, 'ten mine'));
  agtOk(repository, 'accept', 's1', '--keep');
  agtOk(repository, 'sync', 's1');
  const work = textWith(9, 'nine', LINES.with(9, 'ten mine'));
  if (state === 'committed') commit(sandbox, 'f', work);
  else put(sandbox, 'f', work);
  git(repository, 'switch', '-qc', 'colleague', 'base');
  commit(repository, 'other', 'other\n');
  git(repository, 'switch', '-q', 'main');
  git(repository, 'rebase', '-q', 'colleague');
  expect(seen()).toEqual(ONE_LINE);
  agtOk(repository, 'sync', 's1');
  expect(seen()).toEqual(ONE_LINE);
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'show', 'main:f')).toBe(work.trimEnd());
});

test('the message after an acceptance of one commit and a sync names the others alone', () => {
  const { repository, sandbox, commit } = begun();
  commit(sandbox, 'f', textWith(20, 'twenty', LINES.with(9, 'ten')));
  const subjects = git(sandbox, 'log', '-2', '--format=%s').split('\n');
  agtOk(repository, 'accept', 's1', '--commits', 'agt/s1~1', '--keep');
  agtOk(repository, 'sync', 's1');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'log', '-2', '--format=%s', 'main').split('\n')).toEqual(subjects);
});

test('after an acceptance of a part and an amend, a sync copies the commits that apply', () => {
  const { repository, sandbox, put, commit } = begun();
  commit(sandbox, 'f', textWith(20, 'twenty', LINES.with(9, 'ten')));
  commit(sandbox, 'g', 'g\n');
  const [last, before] = git(sandbox, 'log', '-2', '--format=%s').split('\n');
  agtOk(repository, 'autocommit', 's1');
  agtOk(repository, 'review', 's1', '--seen', 'f:10');
  agtOk(repository, 'accept', 's1', '--seen', '--keep');
  put(repository, 'f', textWith(10, 'TEN'));
  git(repository, 'commit', '-qa', '--amend', '-m', 'mine');
  agtOk(repository, 'sync', 's1');
  expect(git(sandbox, 'log', '-3', '--format=%s').split('\n')).toEqual([last, before, 'mine']);
  expect(git(sandbox, 'show', 'HEAD:f')).toBe(textWith(20, 'twenty', LINES.with(9, 'TEN')).trimEnd());
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
});

test('a squash with a commit of the user has landed; so has no session that has gone back behind what landed', () => {
  const { repository, sandbox, commit } = begun();
  agtOk(repository, 'autocommit', 's1');
  commit(sandbox, 'g', 'g\n');
  agtOk(repository, 'accept', 's1', '--keep');
  agtOk(repository, 'undo', 's1');
  expect(agtOk(repository, 'list')).toMatch(/ \+0 -1 .* clean, accepted before /);
  expect(agt(repository, 'remove', '--merged', '-n').stderr).toContain(
    'no session has all of its work merged',
  );
  agtOk(repository, 'redo', 's1');
  commit(repository, 'mine', 'mine\n');
  git(repository, 'reset', '-q', '--soft', 'HEAD~2');
  git(repository, 'commit', '-qm', 'both');
  expect(JSON.parse(agtOk(repository, 'list', '--json'))[0]).toMatchObject({ diff: { files: 0 } });
  expect(agtOk(repository, 'diff', 's1', '--base')).toBe('');
});

test('a session that has the acceptance of another one, which is taken back: list says of a conflict what accept says', () => {
  const { repository, sandbox, put, commit } = begun();
  agtOk(repository, 'new', 's2');
  put(agtOk(repository, 'path', 's2'), 'f', textWith(11, 'other'));
  agtOk(repository, 'accept', 's2');
  expect(agt(repository, 'sync', 's1').exitCode).toBe(1);
  commit(sandbox, 'f', textWith(11, 'other', LINES.with(9, 'ten')));
  agtOk(repository, 'unaccept', 's2');
  expect(agt(repository, 'accept', 's1', '-n').stderr).toContain('error: session "s1" conflicts with "main"');
  const rows = JSON.parse(agtOk(repository, 'list', '--json')) as { session_id: string; merge: string }[];
  expect(rows.find((row) => row.session_id === 's1')?.merge).toBe('conflict');
});

test('while a sync waits for conflicts, list and diff --base count no file that it brings', () => {
  const { repository, sandbox, commit } = begun();
  commit(repository, 'f', textWith(10, 'mine'));
  commit(repository, 'long', textWith(1, 'one'));
  expect(agt(repository, 'sync', 's1').exitCode).toBe(1);
  expect(JSON.parse(agtOk(repository, 'list', '--json'))[0].diff.files).toBe(1);
  expect(agtOk(repository, 'diff', 's1', '--base', '--name-only')).toBe('f');
  expect(git(sandbox, 'status', '--short')).toContain('A  long');
});

test.each([
  ['words', () => '--output=x\n'],
  ['no commit of this repository', () => `${'1'.repeat(40)}\n`],
  ['a file', (sandbox: string) => `${git(sandbox, 'rev-parse', 'HEAD:f')}\n`],
])('a MERGE_HEAD that names %s hides the numbers of no session', (_, content) => {
  const { repository, sandbox, put, seen } = begun();
  const numbers = seen();
  agtOk(repository, 'new', 's2');
  const gitDir = git(agtOk(repository, 'path', 's2'), 'rev-parse', '--absolute-git-dir');
  put(gitDir, 'MERGE_HEAD', content(sandbox));
  const rows = JSON.parse(agtOk(repository, 'list', '--json')) as { session_id: string; diff: unknown }[];
  expect(rows.find((row) => row.session_id === 's1')?.diff).toEqual(numbers.diff);
  expect(agt(repository, 'diff', 's2', '--base').exitCode).toBe(0);
});

test('accept of an accepted session fails where the branch has lost the commit, and names the one that took its place', () => {
  const { repository } = begun();
  agtOk(repository, 'accept', 's1');
  const commit = git(repository, 'rev-parse', '--short=10', 'HEAD');
  git(repository, 'commit', '-q', '--amend', '-m', 'better');
  const now = git(repository, 'rev-parse', '--short=10', 'HEAD');
  expect(agtOk(repository, 'accept', 's1')).toContain(`s1 was accepted as ${commit}, now ${now} on main\n`);
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  const lost = agt(repository, 'accept', 's1');
  expect(lost.exitCode).toBe(1);
  expect(lost.stdout).toContain(`s1 was accepted as ${commit}; that commit is no longer on main\n`);
});
