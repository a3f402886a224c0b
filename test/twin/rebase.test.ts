/**
 * A rebase that moves branches (rebase.updateRefs, --update-refs) moves, lists and names the user's branches alone, and
 * is git's own rebase otherwise. Hidden branches point to commits that are rebased: a session's before its first
 * snapshot, a removed session's, and one in a sandbox.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { GIT_MODE, git, makeTempDir, REAL_GIT, run } from '../harness/world.ts';
import { compareLines, describeDifference } from './compare.ts';
import { commit, gitAt, initial } from './repositories.ts';
import { copyTwin, directoryOf, SIDES, type Side, type Twin } from './shapes.ts';

const HIDDEN = ['agtsessions/new', 'agt/new', "agt/it's.$1", 'agtsessions/at-top', 'agt/at-top'];

function buildStack(): Twin {
  const root = makeTempDir('stack');
  for (const side of SIDES) plainStack(join(root, side, 'project'));
  const project = join(root, 'with', 'project');
  mkdirSync(join(project, '.git/agt/sessions'), { recursive: true });
  for (const name of HIDDEN) git(project, 'branch', name, name.endsWith('top') ? 'main' : 'main~2');
  git(project, 'worktree', 'add', '-q', '-b', 'agt/sandbox', join(root, 'with', 'sandbox'), 'main~1');
  return { name: 'stack', root, cwd: 'project' };
}

function plainStack(project: string): void {
  initial(project);
  commit(project, 1, 'start', 'start.txt');
  gitAt(project, 1, ['branch', 'base']);
  for (const n of [2, 3, 4, 5]) commit(project, n, `step ${n}`, `${n}.txt`);
  gitAt(project, 6, ['branch', 'mid', 'main~2']);
  gitAt(project, 6, ['branch', 'low', 'main~3']);
  gitAt(project, 6, ['branch', 'with-merge', 'main']);
  gitAt(project, 6, ['checkout', '-q', 'base']);
  commit(project, 7, 'on base', 'base.txt');
  gitAt(project, 8, ['branch', 'clash']);
  gitAt(project, 8, ['checkout', '-q', 'clash']);
  commit(project, 9, 'clashes with step 4', '4.txt');
  gitAt(project, 8, ['checkout', '-q', 'with-merge']);
  gitAt(project, 8, ['merge', '-q', '--no-edit', 'base']);
  gitAt(project, 8, ['checkout', '-q', 'main']);
  gitAt(project, 8, ['branch', '-q', '-u', 'base']);
}

const ON = '-c rebase.updateRefs=true';
const LINES = [
  ...[
    '',
    'base',
    'base mid',
    '-q base',
    '-v base',
    '--onto base main~2',
    '--root',
    '--root --onto base',
    '--keep-base base',
    '-',
  ],
  ...[
    'low',
    'mid',
    'main',
    '-q --no-ff low',
    '--exec true base',
    '-x true low',
    '-q --signoff low',
    '--apply base',
  ],
  ...[
    '--whitespace=fix base',
    '--merge base',
    '-r base',
    '-r base with-merge',
    '--autosquash base',
    '--no-update-refs base',
  ],
  ...[
    '--empty=keep base',
    '--autostash base',
    '--stat base',
    '--fork-point base',
    'nonexistent',
    'base nonexistent',
  ],
  ...[
    '--bogus',
    'base main extra',
    '--onto nonexistent base',
    '--continue',
    '--abort',
    'clash',
    '-s ours base',
  ],
  ...[
    '-i base',
    '-i low',
    '-i --root',
    '-i base mid',
    '-ir base with-merge',
    '-i --exec true base',
    '--edit-todo',
  ],
].map((args) => `${ON} -c sequence.editor=cat rebase ${args}`.trim());
const OTHERS = [
  'rebase base',
  'rebase --update-refs base',
  'rebase --update-refs --apply base',
  'rebase --no-update-refs base',
  '-c sequence.editor=cat rebase -i --update-refs base',
  '-c sequence.editor=cat rebase -i base',
  `${ON} -c sequence.editor=cat -c rebase.abbreviateCommands=true rebase -i base`,
  `${ON} -c sequence.editor=cat -c core.commentChar=; rebase -i base`,
  `${ON} -c core.editor=cat rebase -i base`,
  `${ON} -c sequence.editor=: rebase -i base`,
  `${ON} -c 'sequence.editor=f() { sed -i 1d "$1"; }; f' rebase -i base`,
  `${ON} -c rebase.autosquash=true rebase base`,
  `${ON} -c rebase.autosquash=true rebase low`,
  `${ON} -c rebase.backend=apply rebase base`,
  `${ON} -c rebase.backend=apply rebase --merge base`,
  `${ON} -c rebase.missingCommitsCheck=error -c sequence.editor=cat rebase -i base`,
  `${ON} pull --rebase . base`,
  `${ON} pull --rebase`,
  `${ON} -c pull.rebase=true pull`,
  `${ON} -c branch.main.rebase=true pull . base`,
  `${ON} -c sequence.editor=cat pull --rebase=interactive . base`,
  `${ON} pull --no-rebase --no-edit . base`,
  `${ON} -c pull.rebase=true pull --ff-only . base`,
  `${ON} -c pull.rebase=true -c pull.ff=only pull . base`,
  `${ON} -c pull.ff=only pull -r . base`,
  `${ON} -c pull.rebase=interactive -c sequence.editor=cat pull --no-tags . base`,
  `${ON} pull --rebase=nonsense . base`,
];

describe('a rebase that moves branches', () => {
  let twin: Twin;
  beforeAll(() => {
    twin = buildStack();
  });

  test('prints and moves what git would without agents', async () => {
    const differences = await compareLines(
      twin,
      [...LINES, ...OTHERS].map((line) => `!${line}`),
    );
    expect(differences.map(describeDifference).join('\n')).toBe('');
  }, 300_000);

  test('leaves every hidden branch where it was, also when it goes on after a conflict', () => {
    const results = SIDES.map((side) => rebaseWithConflict(copyTwin(twin), side));
    expect(results[0]).toEqual(results[1]);
    expect(results[0]?.refs).toContain('refs/heads/mid');
  });

  test('in a sandbox, moves the user’s branches and the sandbox’s own, and no other session’s', () => {
    const copy = copyTwin(twin);
    const sandbox = join(copy.root, 'with', 'sandbox');
    const namesOf = () =>
      [...HIDDEN, 'main', 'mid', 'agt/sandbox'].map((name) => git(sandbox, 'rev-parse', name));
    const before = namesOf();
    expect(run(GIT_MODE, [...ON.split(' '), 'rebase', 'base'], { cwd: sandbox }).exitCode).toBe(0);
    const after = namesOf();
    expect(after.map((name, i) => name !== before[i])).toEqual([
      ...HIDDEN.map(() => false),
      false,
      true,
      true,
    ]);
  });

  test('an abort puts everything back', () => {
    const copy = copyTwin(twin);
    const project = directoryOf(copy, 'with');
    const before = git(project, 'for-each-ref');
    run(GIT_MODE, [...ON.split(' '), 'rebase', 'clash'], { cwd: project });
    expect(run(GIT_MODE, ['rebase', '--abort'], { cwd: project }).exitCode).toBe(0);
    expect(git(project, 'for-each-ref')).toBe(before);
  });

  test('an editor that fails ends the rebase, and leaves everything', () => {
    const copy = copyTwin(twin);
    const project = directoryOf(copy, 'with');
    const before = git(project, 'for-each-ref');
    const env = { GIT_SEQUENCE_EDITOR: 'exit 3;' };
    const outcome = run(GIT_MODE, [...ON.split(' '), 'rebase', '-i', 'base'], { cwd: project, env });
    expect(outcome.exitCode).not.toBe(0);
    expect(git(project, 'for-each-ref')).toBe(before);
    expect(existsSync(join(project, '.git/rebase-merge'))).toBe(false);
  });

  test('GIT_SEQUENCE_EDITOR sees no hidden branch, in an environment of any bytes', () => {
    const copy = copyTwin(twin);
    const shown = join(copy.root, 'shown');
    const line = `X=$(printf '\\377') GIT_SEQUENCE_EDITOR='cp "$1" ${shown}; :' exec "$0" ${ON} rebase -i base`;
    const outcome = run('/bin/sh', ['-c', line, GIT_MODE], { cwd: directoryOf(copy, 'with') });
    expect(outcome.exitCode).toBe(0);
    expect(readFileSync(shown, 'latin1')).toContain('refs/heads/mid');
    expect(readFileSync(shown, 'latin1')).not.toMatch(/agt/);
  });
});

function rebaseWithConflict(twin: Twin, side: Side) {
  const project = directoryOf(twin, side);
  const program = side === 'with' ? GIT_MODE : REAL_GIT;
  const show = (args: string) => {
    const outcome = run(program, args.split(' '), { cwd: project, env: { GIT_EDITOR: 'true' } });
    return { ...outcome, stderr: outcome.stderr.replaceAll(twin.root, '') };
  };
  const hiddenBefore = HIDDEN.map((name) => (side === 'with' ? git(project, 'rev-parse', name) : ''));
  const stopped = show(`${ON} rebase clash`);
  const status = show('status');
  const state = readFileSync(join(project, '.git/rebase-merge/update-refs'), 'latin1');
  git(project, 'checkout', '-q', '--theirs', '4.txt');
  git(project, 'add', '4.txt');
  const continued = run(REAL_GIT, ['rebase', '--continue'], { cwd: project, env: { GIT_EDITOR: 'true' } });
  const hiddenAfter = HIDDEN.map((name) => (side === 'with' ? git(project, 'rev-parse', name) : ''));
  expect(hiddenAfter).toEqual(hiddenBefore);
  const refs = git(project, 'for-each-ref')
    .split('\n')
    .filter((line) => !/refs\/heads\/agt/.test(line))
    .join('\n');
  return { stopped, status, state, continued, refs, reflog: git(project, 'reflog') };
}
