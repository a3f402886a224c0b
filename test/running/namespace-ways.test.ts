/** The working copy cow-overlay without root, and by bubblewrap. */
import { execFileSync } from 'node:child_process';
import { chmodSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, makeRepository, makeTempDir, REAL_GIT, run } from '../harness/world.ts';
import {
  asUser,
  ended,
  killChildren,
  lines,
  OVERLAY,
  probe,
  problem,
  programPath,
  SETPRIV,
  start,
  userProblem,
} from './overlay.ts';

afterEach(killChildren);

describe.skipIf(userProblem !== undefined)(
  `as another user${userProblem === undefined ? '' : ` (${userProblem})`}`,
  () => {
    test('a user namespace does it, and the command keeps its user; without one, agt says why', () => {
      const session = sessionIn(makeRepository({ 'README.md': 'hello\n' }));
      const { repository } = session;
      const home = realpathSync(join(repository, '..'));
      for (const path of [home, join(home, '..')]) chmodSync(path, 0o755);
      execFileSync('chown', ['-R', '65534:65534', home]);
      const script =
        'pwd; id -u; id -g; echo x > x; git add x; git -c user.name=n -c user.email=e commit -qm inside';
      const words = ['run', 's1', ...OVERLAY, '--', 'sh', '-c', script];
      const env = { HOME: home };
      const outcome = run(SETPRIV, [...asUser, AGT, ...words], { cwd: repository, env });
      expect(lines(outcome)).toEqual([repository, '65534', '65534']);
      expect(
        run(SETPRIV, [...asUser, REAL_GIT, 'log', '--format=%s', 'agt/s1'], { cwd: repository, env }).stdout,
      ).toBe('inside\nfirst\n');
      const poor = makeTempDir('bin');
      chmodSync(poor, 0o755);
      for (const name of ['git', 'sh', 'true'])
        symlinkSync(
          execFileSync('sh', ['-c', `command -v ${name}`])
            .toString()
            .trim(),
          join(poor, name),
        );
      const refused = run(SETPRIV, [...asUser, AGT, ...words], {
        cwd: repository,
        env: { ...env, PATH: poor },
      });
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toContain('no mount namespace can be made here');
      expect(refused.stderr).toContain('hint: user namespace: there is no unshare(1)');
      expect(refused.stderr).toContain('hint: bubblewrap: there is no bwrap(1)');
    });
  },
);

const bwrapProblem = problem ?? probe('bwrap', '--dev-bind', '/', '/', 'true');

test.skipIf(bwrapProblem !== undefined)('bubblewrap does it, and agt passes signals on', async () => {
  const session = makeSession();
  const bin = makeTempDir('bin');
  for (const name of ['git', 'sh', 'true', 'sleep', 'bwrap']) symlinkSync(programPath(name), join(bin, name));
  const script = 'trap "exit 7" TERM; pwd; while :; do sleep 0.02; done';
  const child = await start(session, script, { PATH: bin });
  child.kill('SIGTERM');
  expect(await ended(child)).toEqual({ code: 7, signal: null });
});
