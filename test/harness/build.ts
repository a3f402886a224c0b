/**
 * Runs before all tests: builds dist/agt, and the bundle with failure points, unless they are newer than the sources, and
 * says which cases run today.
 */
import { execFileSync } from 'node:child_process';
import { globSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { filesRotate } from './long-files.ts';
import { isQuick } from './quick.ts';
import { noteStarts, printStarts } from './starts.ts';
import { isDeep, today } from './today.ts';

const root = join(import.meta.dirname, '..', '..');
const KILLABLE = 'dist/failure-points/agtmode.cjs';

export default function setup(): () => void {
  if (!isQuick) buildWhatIsOld();
  process.env['AGT_TEST_DAY'] = `${today()}`;
  console.log(
    isDeep
      ? 'all cases of the long tests'
      : `a seventh of the ${filesRotate ? 'long files and of the ' : ''}cases of the long tests; the same again: AGT_TEST_DAY=${today()}`,
  );
  const home = join(tmpdir(), `agt-test-${process.pid}`);
  process.env['AGT_TEST_ROOT'] = home;
  // Without types: to strip them lasts longer than all else at its start.
  const entryPoints = [join(import.meta.dirname, 'warm-server.ts')];
  buildSync({
    entryPoints,
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(home, 'warm-server.mjs'),
  });
  noteStarts(home);
  return () => {
    printStarts(home);
    // A job of agt in the background may still write there.
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  };
}

function buildWhatIsOld(): void {
  const inputs = [
    'src/**/*.{ts,tsx,css}',
    'extensions/pi/agt.ts',
    'scripts/{bundle,build}.ts',
    'package.json',
  ].flatMap((pattern) => globSync(pattern, { cwd: root }));
  const newest = Math.max(...inputs.map((path) => statSync(join(root, path)).mtimeMs));
  const built = statSync(join(root, 'dist/agt'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (built < newest) execFileSync(process.execPath, ['scripts/build.ts'], { cwd: root, stdio: 'inherit' });
  const killable = statSync(join(root, KILLABLE), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (killable < newest) {
    const args = ['scripts/bundle.ts', '--failure-points'];
    execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  }
}
