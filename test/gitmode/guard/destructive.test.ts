/** Which command lines can destroy work, and which commits they can leave without a ref. */
import { describe, expect, test } from 'vitest';
import { SHELL_ALIAS } from '../../../src/gitmode/command-line/parse.ts';
import { COMMANDS, isDestructive } from '../../../src/gitmode/commands.ts';
import { words } from '../../twin/compare.ts';

const commandLine = (text: string) => {
  const [command = '', ...args] = words(text);
  return { globals: [], command, args };
};

const DESTROYING = `
  reset --soft HEAD~1 | reset a | commit --amend | commit -m x --am | apply x | apply -R | apply --3way x | apply --reject x
  merge-file a b c | push . :b | push -f ../x a:b | push --delete . b | push /x +a:b | fetch . +a:b | fetch -f . a:b
  update-ref refs/heads/x HEAD | reset --hard | reset --h HEAD~1 | reset --merge | reset --keep HEAD~1 | clean -fd | clean -fdx | clean -fe n
  checkout . | checkout main | checkout -f | checkout -- a | checkout -b x main | checkout -B x | switch main
  switch -c x main | switch -C x | switch --discard-changes main | restore a | restore -SW a | restore --staged --worktree a
  stash | stash -u | stash push | stash drop | stash drop stash@{1} | stash clear | stash pop
  branch -D x | branch -f x HEAD~1 | branch --delete --force x | branch -M x | branch -qD x
  rebase main | rebase -i main | rebase --abort | rebase --skip | rebase --continue | cherry-pick --continue | am --continue | merge x | merge --abort | pull | pull --rebase
  cherry-pick x | cherry-pick --abort | revert HEAD | am --abort | rm a | rm -r d | rm -f a | worktree remove ../x
  filter-branch --tree-filter true | gc --prune=now | gc --pr=all | prune | reflog expire --all | reflog delete HEAD@{0}
  update-ref -d refs/heads/x | update-ref --stdin | stash branch x | stash apply | mv -f a b | mv -vf a b | mv --for a b
  checkout-index -f a | checkout-index -af | read-tree -u --reset x | read-tree -mu x | sparse-checkout set d
  worktree add -B x ../y | worktree add -fB x ../y | submodule update | submodule --quiet deinit -f x | bisect start | bisect good | bisect reset | tag -d x | tag -f x`;
const HARMLESS = `
  reset | reset -q | reset -- a | apply --check x | apply --stat x | merge-file -p a b c | merge-file --stdout a b c
  push . a | push origin :b | push -f origin | fetch . a:b | fetch origin | clean -n | clean -nfd | clean -fdn | clean --dry-run | checkout -b x
  checkout -q -b x | switch -c x | switch --create x | restore --staged a | restore -S a | stash list | stash show
  branch | branch x | branch -d x | branch -m x | branch -u origin/main
  rebase --quit | cherry-pick --quit | revert --quit | am --quit | am --show-current-patch | prune -n | merge --continue | rm --cached a | rm -n a | worktree list | worktree add ../y
  gc | gc --auto | reflog | status | add . | commit -m x | fetch | push | reset -h
  mv a b | mv -nf a b | checkout-index a | read-tree x | read-tree -m x | read-tree -mun x | sparse-checkout list
  submodule status | submodule add x | bisect log | tag x | tag -l | tag -m f x | tag`;
const table = (text: string) =>
  text
    .split(/\||\n/)
    .map((line) => line.trim())
    .filter(Boolean);

describe('isDestructive', () => {
  test.each(table(DESTROYING))(
    'git %s can destroy work',
    (line) => void expect(isDestructive(commandLine(line))).toBe(true),
  );
  test.each(table(HARMLESS))(
    'git %s destroys nothing',
    (line) => void expect(isDestructive(commandLine(line))).toBe(false),
  );

  test('the tables hold a line for every guarded command', () => {
    const guarded = [...COMMANDS].filter(([, { destroys }]) => destroys !== undefined).map(([name]) => name);
    const commandsOf = (text: string) => new Set(table(text).map((line) => line.split(' ')[0]));
    expect(guarded.filter((name) => !commandsOf(DESTROYING).has(name))).toEqual([]);
    const alwaysDestructive = ['pull', 'filter-branch', 'update-ref'];
    const untested = guarded.filter((name) => !commandsOf(HARMLESS).has(name));
    expect(untested.filter((name) => !alwaysDestructive.includes(name))).toEqual([]);
  });

  test.each([
    ['git reset --hard && git clean -fd', true],
    ['f() { git log --oneline; git "branch" -D "$1"; }; f', true],
    ['git log --oneline | head', false],
    ['echo preset cleaner my-merge merge-base', false],
  ])('the shell alias "%s": %s', (text, expected) => {
    expect(isDestructive({ ...commandLine(''), command: SHELL_ALIAS, args: [text, 'x'] })).toBe(expected);
  });
});

test.each<[string, string[]]>([
  ['reset --hard', []],
  ['branch -D a b', ['--no-walk refs/heads/a --', '--no-walk refs/heads/b --']],
  ['tag -d v1', ['--no-walk refs/tags/v1 --']],
  ['update-ref -d refs/heads/x 1234', ['--no-walk refs/heads/x --']],
  ['update-ref -m reason refs/heads/x 1234', ['--no-walk refs/heads/x --']],
  ['push . :x', ['--no-walk refs/heads/x --']],
  ['push --delete . x', ['--no-walk refs/heads/x --']],
  ['fetch . +a:x', ['--no-walk refs/heads/x --']],
  ['rebase main', []],
  ['rebase --onto new main x', ['--no-walk refs/heads/x --']],
  ['checkout -B x main', ['--no-walk refs/heads/x --']],
  ['checkout -qBx', ['--no-walk refs/heads/x --']],
  ['checkout -b x main', []],
  ['switch --force-create=x', ['--no-walk refs/heads/x --']],
  ['switch -C', []],
  ['worktree add -fB x ../y', ['--no-walk refs/heads/x --']],
  ['stash drop', ['--no-walk stash@{0} --']],
  ['stash pop -q 2', ['--no-walk stash@{2} --']],
  ['stash branch x stash@{1}', ['--no-walk stash@{1} --']],
  ['stash clear', ['--walk-reflogs refs/stash --']],
  ['stash push', []],
  ['gc --prune=now', ['--reflog --not --all --']],
  ['constructor', []],
])('git %s puts at risk %j', (line, questions) => {
  const { command, args } = commandLine(line);
  const atRisk = COMMANDS.get(command)?.commitsAtRisk?.(args) ?? [];
  expect(atRisk.map((question) => question.join(' '))).toEqual(questions);
});
