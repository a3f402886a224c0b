/** Runs shell scripts that call git mode or the real git. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { GIT_MODE, makeTempDir, REAL_GIT, write } from '../../harness/world.ts';

/** Runs a shell script with git mode as $GIT; latin1 in and out, so that every byte can be written. */
export function shell(script: string, cwd: string, env: Record<string, string> = {}) {
  const path = join(makeTempDir('script'), 'script.sh');
  write(path, Buffer.from(script, 'latin1'));
  const result = spawnSync('bash', [path], {
    cwd,
    encoding: 'latin1',
    env: { ...process.env, AGT_GIT_PATH: REAL_GIT, GIT: GIT_MODE, REAL: REAL_GIT, ...env },
  });
  return { stdout: result.stdout, stderr: result.stderr, exitCode: result.status };
}
