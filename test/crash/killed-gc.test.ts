/** `agt gc` killed at arbitrary times: every session is as before or as after it, and the next gc finishes. */
import { spawn } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommitAt, endedDaysAgo } from '../harness/opened.ts';
import { autocommit, makeSession } from '../harness/session.ts';
import { AGT, agtOk, git, REAL_GIT, write } from '../harness/world.ts';

const KILLS = Number(process.env['AGT_TEST_KILLS'] ?? 12);
/** From before the first read until a gc of this size has ended on a quiet machine. */
const [EARLIEST_MS, LATEST_MS] = [60, 700];

test(`${KILLS} kills of gc lose no snapshot that should stay, and the next gc finishes`, async () => {
  const session = makeSession();
  const { repository, sandbox } = session;
  const noon = new Date(Date.now() - 9 * 86_400_000).setUTCHours(12, 0, 0, 0);
  let snapshots = 0;
  let killed = 0;
  const at = async (text: string, label?: string) => {
    write(join(sandbox, 'a'), text.repeat(100));
    const time = new Date(noon + 1000 * snapshots++);
    return autocommitAt(session, time, label === undefined ? {} : { label });
  };
  for (let round = 0; round < KILLS; round++) {
    for (let n = 0; n < 3; n++) await at(`${round} ${n}\n`);
    await at(`named ${round}\n`, `named ${round}`);
    const ended = { ...session, id: `ended-${round}` };
    agtOk(repository, 'session', 'new', '--id', ended.id);
    agtOk(repository, 'session', 'remove', '--id', ended.id);
    endedDaysAgo(ended, 40);
    git(repository, 'repack', '-d', '-q', '--geometric=2');
    const tip = git(repository, 'rev-parse', 'refs/agt/tip/s1^{tree}');

    const env = { ...process.env, AGT_GIT_PATH: REAL_GIT };
    const child = spawn(AGT, ['gc', '--thin', '--prune=now'], {
      cwd: repository,
      env,
      stdio: 'ignore',
      detached: true, // a group of its own, so that git is killed with it
    });
    const end = new Promise<NodeJS.Signals | null>((resolve) =>
      child.on('exit', (_, signal) => resolve(signal)),
    );
    const delay = EARLIEST_MS + ((LATEST_MS - EARLIEST_MS) * round) / KILLS;
    const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), delay);
    if ((await end) === 'SIGKILL') killed++;
    clearTimeout(timer);

    expect(git(repository, 'rev-parse', 'refs/agt/tip/s1^{tree}')).toBe(tip);
    expect(git(repository, 'fsck', '--strict', '--full', '--no-dangling')).toBe('');
    // A git that was killed with agt leaves its locks; the user deletes them, as git says.
    const refs = join(repository, '.git');
    for (const lock of globSync('{packed-refs.lock,refs/**/*.lock}', { cwd: refs })) rmSync(join(refs, lock));
    // Between the two moves, only agt's own tip has moved.
    git(repository, 'update-ref', 'refs/heads/agtsessions/s1', 'refs/agt/tip/s1');
  }
  expect(killed).toBeGreaterThan(KILLS / 4);

  agtOk(repository, 'gc', '--thin', '--prune=now');
  const labels = git(repository, 'log', '--first-parent', '--format=%s', 'agtsessions/s1', '^main').split(
    '\n',
  );
  expect(labels.filter((label) => label.startsWith('named'))).toHaveLength(KILLS);
  expect(labels).toHaveLength(KILLS + 1); // and the first of all
  expect(git(repository, 'for-each-ref', '--format=%(refname)')).not.toContain('ended');
  expect(autocommit(session).outcome).toBe('unchanged');
  expect(git(repository, 'fsck', '--strict', '--full', '--no-dangling')).toBe('');
  // The lock of a session that the killed gc had deleted: it keeps nobody out, and nobody takes it again.
  agtOk(repository, 'doctor', '--fix');
  const inGit = (pattern: string) => globSync(pattern, { cwd: join(repository, '.git') });
  expect([...inGit('**/*.lock'), ...inGit('**/tmp_*'), ...inGit('agt/locks/*')]).toEqual([]);
}, 300_000);
