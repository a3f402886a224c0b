/** Lives of agt review: each changed line is shown once, only seen lines land, and rejected ones alone go. */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { agt, agtOk, git } from '../../harness/world.ts';
import { seedsOfLives } from '../seeds.ts';
import { asSets, factsOf, ReviewLife, withChanges } from './review-life.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 4);

const total = { steps: 0, marked: 0, rejected: 0, landed: 0, synced: 0, kills: 0, again: 0 };

test.each(seedsOfLives(7000))('life %i of a review', { timeout: 600_000 }, async (seed) => {
  const life = new ReviewLife(seed);
  const { random, session, counts } = life;
  for (let step = 0; step < STEPS; step++) {
    counts.steps += 1;
    for (let edits = random.below(4); edits > 0; edits--) life.edit(session.sandbox, 'agent');
    if (random.chance(0.2)) commit(life);
    await random.pick([mark, mark, reject, acceptSeen, sync])(life);
  }
  await life.check();
  for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name];
  expect(git(session.repository, 'fsck', '--strict', '--no-dangling')).toBe('');
});

function commit({ session: { sandbox } }: ReviewLife): void {
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'of the agent');
}

async function mark(life: ReviewLife): Promise<void> {
  const open = (await life.check()).filter(({ state }) => state === 'new');
  if (open.length === 0) return;
  const paths = [...new Set(open.map(({ path }) => path))];
  const chosen = life.random.chance(0.3) ? paths : [life.random.pick(paths)];
  const words = ['review', 's1', '--seen', ...chosen];
  const { exitCode } = life.act(...words);
  if (exitCode === null) {
    // The kill came before or after: then the same again.
    const left = (await life.list()).filter(({ state, path }) => state === 'new' && chosen.includes(path));
    if (left.length > 0) agtOk(life.session.repository, ...words);
  } else expect(exitCode).toBe(0);
  life.see(open.filter(({ path }) => chosen.includes(path)));
  life.counts.marked += 1;
}

async function reject(life: ReviewLife): Promise<void> {
  const { repository, sandbox } = life.session;
  const open = (await life.check()).filter(({ state }) => state === 'new');
  if (open.length === 0) return;
  const { path } = life.random.pick(open);
  for (const fact of open.filter((hunk) => hunk.path === path).flatMap(factsOf)) life.rejected.add(fact);
  const before = life.read(sandbox);
  const isNow = life.random.chance(0.3);
  const words = ['review', 's1', '--reject', path, '-m', 'no', ...(isNow ? ['--now'] : [])];
  const { exitCode, stderr } = life.act(...words);
  if (exitCode === null) agt(repository, ...words);
  else expect([exitCode, stderr], life.story()).toEqual([0, '']);
  life.counts.rejected += 1;
  if (!isNow) {
    expect(asSets(life.read(sandbox))).toEqual(asSets(before));
    if (life.random.chance(0.4)) life.edit(sandbox, 'agent');
  }
  await takeBack(life);
}

/** The lines that are rejected go, what they replaced comes back, and every other line stays where it is. */
async function takeBack(life: ReviewLife): Promise<void> {
  const { repository, sandbox } = life.session;
  const rejected = (await life.check()).filter(({ state }) => state === 'rejected');
  const before = life.read(sandbox);
  const { exitCode } = life.act('review', 's1', '--settle', 'turn');
  if (exitCode === null) agtOk(repository, 'review', 's1', '--settle', 'turn');
  const after = life.read(sandbox);
  const facts = new Set(rejected.flatMap(factsOf));
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const others = (before.get(name) ?? []).filter((line) => !facts.has(`+${name} ${line}`));
    const now = after.get(name) ?? [];
    expect(
      now.filter((line) => !facts.has(`-${name} ${line}`)),
      life.story(),
    ).toEqual(others);
  }
  await life.check();
  expect(life.rejected.size, life.story()).toBe(0);
}

async function acceptSeen(life: ReviewLife): Promise<void> {
  await life.check();
  const { repository } = life.session;
  const before = life.main();
  const expected = withChanges(before, life.base, life.seen);
  const words = ['accept', 's1', '--seen', '--untracked=all', '-m', 'seen'];
  const { exitCode, stderr } = life.act(...words);
  if (exitCode === null) agt(repository, ...words);
  const after = life.main();
  const isDone = exitCode === 0 || (exitCode === null && !isDeepStrictEqual(asSets(after), asSets(before)));
  expect(asSets(after), life.story()).toEqual(asSets(isDone ? expected : before));
  if (exitCode !== 0 && exitCode !== null)
    expect(stderr, life.story()).toMatch(
      /conflict|was seen that could land|nothing to accept|since it was seen/,
    );
  const { base } = life;
  if (!isDone) return;
  life.counts.landed += 1;
  life.base = new Map(life.seen);
  if (exitCode === null || life.random.chance(0.7)) return;
  await life.check();
  agtOk(repository, 'session', 'unaccept', 's1');
  expect(asSets(life.main())).toEqual(asSets(before));
  life.base = base;
}

/** The branch goes on, and comes into the sandbox by a merge or a rebase. */
async function sync(life: ReviewLife): Promise<void> {
  const { repository, sandbox } = life.session;
  await life.check();
  life.edit(repository, 'user');
  if (life.random.chance(0.5)) life.edit(repository, 'user');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'of the user');
  if (life.random.chance(0.7)) commit(life);
  const before = life.read(sandbox);
  const { exitCode } = life.act('sync', 's1', ...(life.random.chance(0.4) ? ['--rebase'] : []));
  if (exitCode !== 0) {
    if (/rebase in progress|unmerged/.test(git(sandbox, 'status'))) agtOk(repository, 'undo', 's1');
    expect(asSets(life.read(sandbox)), life.story()).toEqual(asSets(before));
    return;
  }
  life.counts.synced += 1;
  const main = life.main();
  life.seen = withChanges(life.seen, life.base, main);
  life.base = main;
  const expected = life.open();
  const shown = new Set((await life.list()).filter(({ state }) => state !== 'seen').flatMap(factsOf));
  for (const fact of expected) expect(shown, life.story()).toContain(fact);
  // Where both have changed the same place, what was seen there is new again.
  life.counts.again += [...shown].filter((fact) => !expected.has(fact)).length;
  life.takeAsShown(shown);
}

afterAll(() => console.log(`lives of review: ${JSON.stringify(total)}`));
