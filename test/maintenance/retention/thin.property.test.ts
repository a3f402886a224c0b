/** Thins random histories: kept snapshots do not change, and only deleted ones become unreachable. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keptWhenThinned } from '../../../src/maintenance/retention/keep-policy.ts';
import { readChain } from '../../../src/maintenance/retention/plan.ts';
import { rewriteChain } from '../../../src/maintenance/retention/rewrite.ts';
import { withSessionLock } from '../../../src/session/lock.ts';
import { Session } from '../../../src/session/session.ts';
import { openSession } from '../../harness/opened.ts';
import { makeSession } from '../../harness/session.ts';
import { runsOfToday } from '../../harness/today.ts';
import { git, REAL_GIT, run } from '../../harness/world.ts';

const NOW = 20_000 * 86_400;

interface Step {
  /** Seconds since the snapshot before. */
  readonly after: number;
  /** The acts of the user and the agent before it: nothing, a new commit, or an amended one. */
  readonly user: 'none' | 'commit' | 'amend';
  readonly agent: 'none' | 'commit' | 'amend';
  readonly label: boolean;
  /** It restores the snapshot that is so many steps older; undefined if it restores none. */
  readonly restores: number | undefined;
}

const steps = fc.array(
  fc.record<Step>({
    after: fc.constantFrom(60, 1200, 5000, 40_000, 90_000),
    user: fc.constantFrom('none', 'none', 'none', 'commit', 'amend'),
    agent: fc.constantFrom('none', 'none', 'commit', 'amend'),
    label: fc.constantFrom(false, false, false, true),
    restores: fc.option(fc.nat(5), { nil: undefined, freq: 6 }),
  }),
  { minLength: 3, maxLength: 40 },
);

test('thinning a random history deletes nothing but the dropped snapshots', async () => {
  const session = makeSession();
  const { repository: dir } = session;
  const { repository, record } = openSession(session);
  const start = git(dir, 'rev-parse', 'main');
  const blob = (text: string) =>
    run(REAL_GIT, ['hash-object', '-w', '--stdin'], { cwd: dir, input: text }).stdout;
  const commit = (tree: string, parents: readonly string[], message: string, time: number) => {
    const env = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'agt'],
        [`GIT_${who}_EMAIL`, 'agt@local'],
        [`GIT_${who}_DATE`, `${time} +0000`],
      ]),
    );
    const args = ['commit-tree', tree, ...[...new Set(parents)].flatMap((oid) => ['-p', oid])];
    return run(REAL_GIT, args, { cwd: dir, env, input: message }).stdout.trim();
  };
  const tree = (text: string) =>
    run(REAL_GIT, ['mktree'], { cwd: dir, input: `100644 blob ${blob(text).trim()}\ta\n` }).stdout.trim();
  const list = (...args: string[]) => git(dir, 'rev-list', ...args).split('\n');
  let runs = 0;

  const build = (history: readonly Step[]): string => {
    const length = history.reduce((sum, { after }) => sum + after, 0);
    let time = NOW - length;
    let [user, agent, tip] = [start, start, start];
    const snapshots: string[] = [];
    for (const [i, step] of history.entries()) {
      time += step.after;
      const move = (from: string, how: Step['user'], who: string) => {
        if (how === 'none') return from;
        const [parent = start] = how === 'commit' || from === start ? [from] : list('--no-walk', `${from}^`);
        return commit(tree(`${who} ${runs} ${i}`), [parent], `${who} ${i}`, time);
      };
      user = move(user, step.user, 'user');
      const before = agent;
      agent = move(agent, step.agent, 'agent');
      const restored =
        step.restores === undefined ? undefined : snapshots[snapshots.length - 1 - step.restores];
      const trailers = [
        'Agt-Session: s1',
        ...(step.label ? ['Agt-Label: named'] : []),
        ...(restored === undefined ? [] : [`Agt-Restored: ${restored}`]),
      ];
      const parents = [tip, user, ...(agent === before ? [] : [agent])];
      tip = commit(
        tree(`snapshot ${runs} ${i}`),
        parents,
        `agt autocommit\n\n${trailers.join('\n')}\n`,
        time,
      );
      snapshots.push(tip);
    }
    return tip;
  };

  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      runs++;
      const tip = build(history);
      for (const ref of ['refs/agt/tip/s1', 'refs/heads/agtsessions/s1']) git(dir, 'update-ref', ref, tip);
      const chain = await readChain(new Session(repository, record));
      expect(chain.snapshots).toHaveLength(history.length);
      const kept = keptWhenThinned(chain.snapshots, NOW);
      const own = new Set(chain.snapshots.map(({ commit }) => commit));
      const others = list(tip).filter((oid) => !own.has(oid));

      await withSessionLock({ repository, id: record.session_id }, (session) =>
        rewriteChain(session.with(record), chain, kept),
      );
      const after = await readChain(new Session(repository, record));
      const stayed = chain.snapshots.filter(({ commit }) => kept.has(commit));
      expect(after.branch).toBe(after.tip);
      expect(after.snapshots.map((snapshot) => snapshot.tree)).toEqual(
        stayed.map((snapshot) => snapshot.tree),
      );
      expect(after.snapshots.map((snapshot) => snapshot.time)).toEqual(
        stayed.map((snapshot) => snapshot.time),
      );
      const reachable = new Set(list(after.tip as string));
      for (const oid of others) expect(reachable.has(oid)).toBe(true);
      expect(reachable.size).toBe(others.length + stayed.length);
      // A restore has the new name of the snapshot that it brought back.
      const treeOf = new Map(
        [...chain.snapshots, ...after.snapshots].map((snapshot) => [snapshot.commit, snapshot.tree]),
      );
      for (const [i, { restored }] of after.snapshots.entries()) {
        const was = stayed[i]?.restored;
        expect(restored === undefined).toBe(was === undefined);
        if (restored === undefined || was === undefined) continue;
        expect(reachable.has(restored)).toBe(true);
        expect(treeOf.get(restored)).toBe(treeOf.get(was));
      }
      // Thinning again deletes nothing.
      expect([...keptWhenThinned(after.snapshots, NOW)].sort()).toEqual(
        after.snapshots.map(({ commit }) => commit).sort(),
      );
    }),
    { ...runsOfToday(20), seed: 20260107 },
  );
  expect(git(dir, 'fsck', '--strict', '--no-dangling')).toBe('');
}, 240_000);
