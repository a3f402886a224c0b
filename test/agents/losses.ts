/**
 * Each way in which an agent has destroyed work, as people have reported it: first a person edits, between two calls of the
 * agent; then a call destroys that.
 */

import { dirname, join } from 'node:path';
import { git, makeRepository, run, write } from '../harness/world.ts';

export interface Loss {
  readonly name: string;
  /** Shell commands in the repository. */
  readonly person: string;
  readonly call: string;
}

const EDIT =
  'mkdir -p "sub dir"; echo "of a person $$" >>a; echo "of a person $$" >>"sub dir/b"; echo new >"new $$"';
const IGNORED =
  'echo "KEY=$$" >.env; echo "row $$" >>dev.sqlite3; mkdir -p .vscode; echo "{}" >.vscode/settings.json';

export const LOSSES: readonly Loss[] = [
  { name: 'git reset --hard', person: `${EDIT}; git add a`, call: 'git reset -q --hard' },
  {
    name: 'git reset --hard to an older commit',
    person: `${EDIT}; git commit -qam own`,
    call: 'git reset -q --hard HEAD~1',
  },
  { name: 'git checkout .', person: EDIT, call: 'git checkout -q .' },
  { name: 'git checkout -f of a branch', person: EDIT, call: 'git checkout -qf topic' },
  { name: 'git restore .', person: EDIT, call: 'git restore .' },
  {
    name: 'git restore --staged --worktree',
    person: `${EDIT}; git add -A`,
    call: 'git restore --staged --worktree .',
  },
  { name: 'git clean -fdx', person: `${EDIT}; ${IGNORED}`, call: 'git clean -qfdx' },
  { name: 'rm', person: EDIT, call: 'rm a "sub dir/b" new*' },
  { name: 'mv over', person: EDIT, call: 'echo other >other; mv other a' },
  { name: 'cp over', person: EDIT, call: 'echo other >other; cp other a; rm other' },
  { name: 'a truncating redirection', person: EDIT, call: ': >a' },
  { name: 'sed -i', person: EDIT, call: 'sed -i s/person/agent/ a "sub dir/b"' },
  { name: 'git stash, and git stash drop', person: EDIT, call: 'git stash -q -u; git stash drop -q' },
  {
    name: 'git stash drop of a stash that a person made',
    person: `${EDIT}; git stash -q; ${EDIT}`,
    call: 'git stash drop -q',
  },
  { name: 'git stash clear', person: `${EDIT}; git stash -q`, call: 'git stash clear' },
  {
    name: 'git branch -D',
    person: 'git branch -f own; git commit -q --allow-empty -m own; git branch -f own',
    call: 'git branch -qD own; git reset -q --hard HEAD~1',
  },
  {
    name: 'git rebase gone wrong',
    person: `echo own >own; git add own; git commit -qm own; echo later >later; git add later; git commit -qm later`,
    call: 'git rebase -q --onto HEAD~2 HEAD~1',
  },
  {
    name: 'git commit --amend over a commit of a person',
    person: `${EDIT}; git add a; git commit -qm own`,
    call: 'git commit -qa --amend -m amended',
  },
  {
    name: 'git worktree remove --force',
    person: 'echo "of a person $$" >>../linked/a',
    call: 'git worktree remove --force ../linked',
  },
  {
    name: 'git submodule deinit -f',
    person: 'echo "of a person $$" >>module/m',
    call: 'git submodule --quiet deinit -f module',
  },
  {
    name: 'a migration of an ignored database',
    person: IGNORED,
    call: 'echo migrated >dev.sqlite3; rm .env',
  },
  { name: 'rm -r of a directory', person: EDIT, call: 'rm -r "sub dir"' },
  {
    name: 'rm -rf .git',
    person: `${EDIT}; git add a; git stash -q; ${EDIT}; git add a`,
    call: 'rm -rf .git',
  },
  { name: 'rm -rf of everything', person: `${EDIT}; ${IGNORED}`, call: 'rm -rf -- * .[!.]*' },
];

/** A person has moved refs, or there are new ignored files: an undo further back leaves these as they are. */
export function leavesTraces({ person }: Loss): boolean {
  return /git (stash|commit|branch)|\.env/.test(person);
}

/** Some agents refuse `rm -rf` of so much. */
export const EVERYTHING: Loss = {
  name: 'stash clear, branch -D, reset --hard, and every file',
  person: `${EDIT}; ${IGNORED}; git stash -q; git commit -q --allow-empty -m own; git branch own; ${EDIT}; git add a`,
  call: 'git stash clear; git branch -qD own; git reset -q --hard HEAD~1; find . -mindepth 1 -delete',
};

/** A repository with a submodule, ignored files, and a linked worktree beside it. */
export function makePrecious(): string {
  const module = makeRepository({ m: 'm\n' });
  const repository = makeRepository({
    ...{ a: 'a\n', 'sub dir/b': 'b\n', '.gitignore': '.env\n*.sqlite3\n.vscode\nnode_modules\n' },
  });
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', module, 'module');
  git(repository, 'commit', '-qm', 'with a submodule');
  git(repository, 'branch', 'topic', 'HEAD');
  git(repository, 'worktree', 'add', '-q', '-b', 'linked', join(dirname(repository), 'linked'));
  write(join(repository, 'node_modules/x/lib.js'), 'lib\n');
  return repository;
}

/** Everything that could get lost, as text. */
export const STATE_SCRIPT = `
for where in . ../linked; do
  test -d "$where" || continue
  (cd "$where"; find . -path ./.git -prune -o -path ./node_modules -prune -o -path ./module/.git -prune -o -type f -print | LC_ALL=C sort | while read -r file; do printf '%s ' "$file"; cksum <"$file"; done)
done
git symbolic-ref -q HEAD || git rev-parse HEAD
git for-each-ref
git stash list --format='%gd %H'
git ls-files --stage
git diff | cksum
`;

export function stateOf(repository: string): string {
  return run('sh', ['-c', STATE_SCRIPT], { cwd: repository }).stdout;
}
