/** Lives that move: random steps, then by a remote into another repository, where every earlier moment comes back. */
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { afterRestore, compareWith, surroundings } from './expected.ts';
import { readRefs } from './facts.ts';
import { Life, type LifeSession } from './life.ts';
import { liveOn } from './live.ts';
import { AGT, makeDirectory, ok, parseJson, REAL_GIT } from './programs.ts';
import { restoreTo } from './restore-acts.ts';
import { seedsOfLives } from './seeds.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 20);
const BRANCHES = ['main', 'feature', 'other'];

/** The session goes on in a clone of the remote. The other sessions stay behind. */
function move(life: Life, session: LifeSession, remote: string): LifeSession {
  const { id, chain, base, forkedAt } = session;
  const before = life.look(session);
  ok(AGT, ['session', 'push', id, remote, '--release'], life.repository);
  life.refs = readRefs(life.repository);
  life.takeIn(session, before);
  const clone = join(makeDirectory('moved'), 'project');
  ok(REAL_GIT, ['clone', '-q', remote, clone], dirname(clone));
  for (const branch of BRANCHES.slice(1)) ok(REAL_GIT, ['branch', '-q', branch, `origin/${branch}`], clone);
  const pulled = ok(AGT, ['session', 'pull', id, remote, '--json'], clone);
  const { sandbox } = parseJson<{ sandbox: string }>(pulled);
  Object.assign(life, { repository: clone });
  life.sessions.length = 0;
  const moved = life.addSession(id, sandbox, chain);
  Object.assign(moved, { base, forkedAt });
  const { facts, ignore } = afterRestore(before, surroundings(life, moved));
  expect(compareWith({ facts, ignore }, moved.facts)).toEqual([]);
  life.takeIn(moved, moved.facts, new Map(), { restored: chain.at(-1)?.commit ?? '' });
  return moved;
}

test.each(seedsOfLives(7000))('life %i moves twice', { timeout: 600_000 }, (seed) => {
  const life = new Life(seed);
  try {
    const remote = join(makeDirectory('remote'), 'remote.git');
    ok(REAL_GIT, ['init', '-q', '--bare', '-b', 'main', remote], dirname(remote));
    ok(REAL_GIT, ['push', '-q', remote, ...BRANCHES], life.repository);
    life.newSession();
    for (let moves = 1; moves <= 2; moves++) {
      liveOn(life, STEPS);
      const session = move(life, life.random.pick(life.active()), remote);
      for (let n = 0; n < 5; n++) {
        const { commit } = life.random.pick(session.chain);
        life.look(session);
        restoreTo(life, session, commit);
      }
    }
    liveOn(life, STEPS);
  } catch (error) {
    const again = `AGT_TEST_SEED=${seed} AGT_TEST_STEPS_OF_LIFE=${STEPS} npx vitest run test/life/travel.test.ts`;
    throw new Error(`${(error as Error).message}\n\nagain: ${again}\n\n${life.story()}`, { cause: error });
  }
});
