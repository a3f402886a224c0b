/** The shim changes usual lines by itself: it prints what real git prints in the twin, and starts no executable. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ofToday } from '../../harness/today.ts';
import { git } from '../../harness/world.ts';
import { buildTwin, SIDES, type Twin } from '../../twin/shapes.ts';
import { LISTS, SETS, TRANSFERS } from './lines.ts';
import { leaveFacts, notingShim, SHELLS, startedFor } from './noting-shim.ts';

const withRemote = (twin: Twin): Twin => {
  for (const side of SIDES) {
    const project = join(twin.root, side, 'project');
    git(project, 'remote', 'add', 'origin', '../server.git');
    git(project, 'update-ref', 'refs/remotes/origin/main', 'main~1');
    git(project, 'update-ref', 'refs/remotes/origin/agx', 'main');
    git(project, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  }
  const project = join(twin.root, 'with/project');
  git(project, 'update-ref', 'refs/remotes/origin/agt/s1', 'refs/heads/agt/s1');
  git(project, 'update-ref', 'refs/remotes/origin/agtsessions/s1', 'refs/heads/agt/s1');
  return twin;
};
const twoRemotes = (): Twin => {
  const twin = buildTwin('remote');
  for (const side of SIDES)
    git(join(twin.root, side, 'project'), 'remote', 'rename', 'up/stream', 'upstream');
  git(join(twin.root, 'with/project'), 'update-ref', '-d', 'refs/remotes/gone/agt/x');
  return twin;
};
const inLinkedWorktree = (twin: Twin): Twin => ({ ...twin, cwd: 'mine' });

test.each(
  ofToday([
    ['linear', 'no remote', (twin: Twin) => twin],
    ['many branches', 'packed', (twin: Twin) => twin],
    ['detached', 'no branch', (twin: Twin) => twin],
    ['worktrees', 'a detached sandbox', (twin: Twin) => twin],
    ['worktrees', "the user's linked worktree", inLinkedWorktree],
    ['merges', 'a remote', withRemote],
    ['inside a sandbox', 'no remote', (twin: Twin) => twin],
  ] as const),
)(
  'lists and sets of refs: %s, %s',
  async (name, _difference, change) => {
    const twin = change(buildTwin(name));
    await leaveFacts(twin);
    expect(await startedFor(twin, [...LISTS, ...SETS])).toEqual([]);
  },
  600_000,
);

test('fetch, pull and push', async () => {
  const twin = twoRemotes();
  await leaveFacts(twin);
  expect(await startedFor(twin, TRANSFERS)).toEqual([]);
}, 600_000);

describe.each(ofToday(SHELLS.map(({ name }) => name)))('%s', (shell) => {
  test('lists and sets of refs inside a sandbox, with a remote', async () => {
    const twin = withRemote(buildTwin('inside a sandbox'));
    await leaveFacts(twin);
    expect(await startedFor(twin, [...LISTS, ...SETS], notingShim(shell))).toEqual([]);
  }, 600_000);

  test('two remotes', async () => {
    const twin = twoRemotes();
    await leaveFacts(twin);
    const lines = [...LISTS, ...SETS].filter((line) => /^branch|^for-each-ref|--all|--remotes/.test(line));
    expect(await startedFor(twin, lines, notingShim(shell))).toEqual([]);
  }, 600_000);
});
