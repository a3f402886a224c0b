/**
 * Writes V8's code cache of agt mode's bundle: `node code-cache.ts IN OUT`. It first runs the most frequent commands in
 * a temporary repository, so that the cache holds their compiled functions.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { devNull, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { asCommonJsFunction } from '../src/process/load-agtmode.ts';

const [input, output] = process.argv.slice(2).map((path) => resolve(path)) as [string, string];
const script = new Script(asCommonJsFunction(readFileSync(input, 'utf8')), { filename: 'agtmode.cjs' });
const module = { exports: {} as { runAgtMode: (args: string[]) => Promise<number> } };
script.runInThisContext()(module.exports, createRequire(input), module, input, '.');

const write = process.stdout.write;
const place = mkdtempSync(join(tmpdir(), 'agt-code-cache-'));
try {
  // A git hook that calls this script sets variables that point to its own repository.
  for (const variable of Object.keys(process.env))
    if (/^(GIT|AGT)_/.test(variable)) delete process.env[variable];
  const name = { GIT_AUTHOR_NAME: 'agt', GIT_COMMITTER_NAME: 'agt' };
  const email = { GIT_AUTHOR_EMAIL: 'agt@localhost', GIT_COMMITTER_EMAIL: 'agt@localhost' };
  Object.assign(process.env, {
    HOME: place,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    ...name,
    ...email,
  });
  process.chdir(place);
  execFileSync('git', ['init', '--quiet', 'project']);
  process.chdir('project');
  execFileSync('git', ['commit', '--quiet', '--allow-empty', '--message', 'first']);
  process.stdout.write = () => true;
  await call('session', 'new', '--id', 's1');
  for (const content of ['once', 'twice', 'twice']) {
    writeFileSync('../project.agt/sessions/s1/sandbox/file', content);
    await call('autocommit', '--session', 's1');
  }
  await call('list');
  await call('status');
  await call('undo', 's1');
  await call('session', 'list', '--help');
} finally {
  process.stdout.write = write;
  rmSync(place, { recursive: true });
}
writeFileSync(output, script.createCachedData());

async function call(...args: string[]): Promise<void> {
  const exitCode = await module.exports.runAgtMode(args);
  if (exitCode !== 0) throw new Error(`agt ${args.join(' ')}: exit code ${exitCode}`);
}
