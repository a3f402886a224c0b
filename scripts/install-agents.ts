/**
 * Installs the agents that test/agents drives, each in a directory of its own: one that cannot be installed here does not
 * keep the tests from the others. Their install scripts do not run.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** One that takes longer, as without a network, is not installed. */
const LIMIT_MS = 5 * 60_000;

const root = join(import.meta.dirname, '..');
const target = join(root, 'node_modules', '.agents');
const { dependencies } = JSON.parse(readFileSync(join(root, 'test/agents/clis/package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

for (const [name, version] of Object.entries(dependencies)) {
  const directory = join(target, name.replace(/^.*\//, ''));
  const stamp = join(directory, '.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === version) continue;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"private":true}\n');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  // npm leaves out packages that the Node of the host is too old for.
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  const { status } = spawnSync('npm', ['install', '--prefix', directory, ...options, `${name}@${version}`], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: path },
    timeout: LIMIT_MS,
  });
  if (status === 0) writeFileSync(stamp, version);
  else console.log(`${name}@${version} cannot be installed here; its tests are skipped`);
}
