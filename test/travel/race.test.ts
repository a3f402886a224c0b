/** Two repositories take a session at once: one has it, and the other one says who has. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, agtOk, REAL_GIT, run, write } from '../harness/world.ts';
import { makeTwo, workIn } from './two.ts';

test('a pull that has lost leaves word of where the session is', () => {
  const { here, there } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1', '--release');
  const bin = join(here, '../bin');
  const slow = join(bin, 'git');
  const pull = `(cd ${there} && AGT_GIT_PATH=${REAL_GIT} ${AGT} session pull s1)`;
  write(
    slow,
    `#!/bin/sh\ncase " $* " in *" push "*) mkdir ${bin}/once && ${pull};; esac >&2\nexec ${REAL_GIT} "$@"\n`,
    0o755,
  );
  const env = { AGT_GIT_PATH: slow, PATH: `${bin}:${process.env['PATH']}` };
  const { exitCode, stderr } = run(AGT, ['session', 'pull', 's1'], { cwd: here, env });
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/ has taken session "s1" meanwhile\n/)]);
  expect(agtOk(here, 'list')).toMatch(/^s1 +away .* at \S+@\S+, in .*there$/m);
});
