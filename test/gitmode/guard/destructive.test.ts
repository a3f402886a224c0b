/** Which git command lines can destroy work. */
import { describe, expect, test } from 'vitest';
import { SHELL_ALIAS } from '../../../src/gitmode/command-line/parse.ts';
import { COMMANDS } from '../../../src/gitmode/commands.ts';
import { isDestructive } from '../../../src/gitmode/guard/destructive.ts';
import { words } from '../../twin/compare.ts';

const DESTROYING = `
  reset --hard | reset --h HEAD~1 | reset --merge | reset --keep HEAD~1 | clean -fd | clean -fdx | clean -fe n
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
  reset | reset a | reset --soft HEAD~1 | clean -n | clean -nfd | clean -fdn | clean --dry-run | checkout -b x
  checkout -q -b x | switch -c x | switch --create x | restore --staged a | restore -S a | stash list | stash show
  branch | branch x | branch -d x | branch -m x | branch -u origin/main
  rebase --quit | cherry-pick --quit | revert --quit | am --quit | am --show-current-patch | prune -n | merge --continue | rm --cached a | rm -n a | worktree list | worktree add ../y
  gc | gc --auto | reflog | update-ref refs/heads/x HEAD | status | add . | commit -m x | fetch | push | reset -h
  mv a b | mv -nf a b | checkout-index a | read-tree x | read-tree -m x | read-tree -mun x | sparse-checkout list
  submodule status | submodule add x | bisect log | tag x | tag -l | tag -m f x | tag`;
const table = (text: string) =>
  text
    .split(/\||\n/)
    .map((line) => line.trim())
    .filter(Boolean);

describe('isDestructive', () => {
  const isDestructiveLine = (line: string) => {
    const [command = '', ...args] = words(line);
    return isDestructive({ globals: [], command, args, disabled: false });
  };
  test.each(table(DESTROYING))(
    'git %s can destroy work',
    (line) => void expect(isDestructiveLine(line)).toBe(true),
  );
  test.each(table(HARMLESS))(
    'git %s destroys nothing',
    (line) => void expect(isDestructiveLine(line)).toBe(false),
  );

  test('the tables hold a line for every guarded command', () => {
    const guarded = [...COMMANDS].filter(([, { destroys }]) => destroys !== undefined).map(([name]) => name);
    const commandsOf = (text: string) => new Set(table(text).map((line) => line.split(' ')[0]));
    expect(guarded.filter((name) => !commandsOf(DESTROYING).has(name))).toEqual([]);
    const alwaysDestructive = ['pull', 'filter-branch'];
    const untested = guarded.filter((name) => !commandsOf(HARMLESS).has(name));
    expect(untested.filter((name) => !alwaysDestructive.includes(name))).toEqual([]);
  });

  test.each([
    ['git reset --hard && git clean -fd', true],
    ['f() { git log --oneline; git "branch" -D "$1"; }; f', true],
    ['git log --oneline | head', false],
    ['echo preset cleaner my-merge merge-base', false],
  ])('the shell alias "%s": %s', (text, expected) => {
    expect(isDestructive({ globals: [], command: SHELL_ALIAS, args: [text, 'x'], disabled: false })).toBe(
      expected,
    );
  });
});
