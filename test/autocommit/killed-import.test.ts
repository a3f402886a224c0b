/** Files of a killed capture are in nobody's way, and do not stay: a hook with a time limit would fill the disk. */
import { spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommitAt } from '../harness/opened.ts';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, git, write } from '../harness/world.ts';

function temporaryPacks({ repository }: TestSession): string[] {
  return readdirSync(join(repository, '.git/objects/pack')).filter((name) => name.startsWith('tmp_'));
}

/** Kills an autocommit, and its git with it, when git has begun to write a pack. */
async function killCapture(session: TestSession): Promise<void> {
  const before = temporaryPacks(session);
  const options = { cwd: session.repository, detached: true, stdio: 'ignore' } as const;
  const child = spawn(AGT, ['autocommit', '--session-id', 's1'], options);
  const ended = new Promise((done) => child.once('close', done));
  while (child.exitCode === null && temporaryPacks(session).every((name) => before.includes(name)))
    await new Promise((done) => setTimeout(done, 1));
  process.kill(-(child.pid as number), 'SIGKILL');
  await ended;
}

test('the next capture removes what a killed one left, and what it left after that', async () => {
  const session = makeSession();
  write(join(session.sandbox, 'large'), Buffer.alloc(64 << 20, 7));
  for (let kills = 0; kills < 3; kills++) {
    await killCapture(session);
    expect(temporaryPacks(session).length).toBeLessThanOrEqual(1);
  }
  autocommit(session);
  expect(temporaryPacks(session)).toEqual([]);
  expect(JSON.parse(agt(session.repository, 'doctor', '--json').stdout).findings).toEqual([]);
});

test('a .keep file that a killed git left does not stop the capture that makes the same pack', async () => {
  const session = makeSession();
  const packs = join(session.repository, '.git/objects/pack');
  const tip = () => git(session.repository, 'rev-parse', 'refs/heads/agtsessions/s1').trim();
  const now = new Date();
  const before = tip();
  write(join(session.sandbox, 'work'), 'work\n');
  const earlier = readdirSync(packs);
  const commit = await autocommitAt(session, now);
  // As if git had been killed before it moved the ref.
  for (const name of readdirSync(packs).filter((name) => !earlier.includes(name))) {
    if (name.endsWith('.pack')) write(join(packs, name.replace(/pack$/, 'keep')), 'fast-import\n');
    rmSync(join(packs, name));
  }
  for (const ref of ['refs/heads/agtsessions/s1', 'refs/agt/tip/s1'])
    git(session.repository, 'update-ref', ref, before);
  expect(await autocommitAt(session, now)).toBe(commit);
  expect(tip()).toBe(commit);
});
