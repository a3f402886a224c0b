/**
 * Writes V8's code cache of a bundle of agt mode: `node code-cache.ts BUNDLE`, into BUNDLE.cache. It first runs the most
 * frequent commands in a temporary repository, so that the cache holds their compiled functions.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { devNull, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { asCommonJsFunction } from '../src/process/load-agtmode.ts';

type Bundle = { runAgtMode: (args: string[]) => Promise<number>; finished?: Promise<void> };

const input = resolve(process.argv[2] ?? '');
const isMain = basename(input) === 'main.cjs';
const isFrequent = basename(input) === 'frequent.cjs';
const cacheFile = `${input}.cache`;
const isAgain = process.argv.includes('--again');
const script = new Script(asCommonJsFunction(readFileSync(input, 'utf8')), {
  filename: basename(input),
  ...(isAgain && { cachedData: readFileSync(cacheFile) }),
});
if (isAgain) {
  if (script.cachedDataRejected) throw new Error(`V8 refuses ${cacheFile}`);
  writeFileSync(cacheFile, script.createCachedData());
  process.exit();
}
const module = { exports: {} as Bundle };
const load = () => script.runInThisContext()(module.exports, createRequire(input), module, input, '.');
if (!isMain) load();
const all =
  isFrequent || isMain
    ? (createRequire(input)(join(dirname(input), 'agtmode.cjs')) as Bundle)
    : module.exports;

const place = mkdtempSync(join(tmpdir(), 'agt-code-cache-'));
try {
  // A git hook that calls this script sets variables that point to its own repository.
  for (const variable of Object.keys(process.env))
    if (/^(GIT|AGT)_/.test(variable)) delete process.env[variable];
  const name = { GIT_AUTHOR_NAME: 'agt', GIT_COMMITTER_NAME: 'agt' };
  const email = { GIT_AUTHOR_EMAIL: 'agt@localhost', GIT_COMMITTER_EMAIL: 'agt@localhost' };
  Object.assign(process.env, {
    HOME: place,
    XDG_STATE_HOME: join(place, 'state'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    ...name,
    ...email,
  });
  process.chdir(place);
  execFileSync('git', ['init', '--quiet', 'project']);
  process.chdir('project');
  execFileSync('git', ['commit', '--quiet', '--allow-empty', '--message', 'first']);
  await call(all, 'session', 'new', '--id', 's1');
  const sandbox = join(place, 'project.agt/sessions/s1/sandbox');
  if (isMain) await callAsGit('branch');
  else {
    await autocommits(sandbox);
    await (isFrequent ? callAsHook(sandbox) : callFromTerminal());
  }
} finally {
  process.chdir('/');
  rmSync(place, { recursive: true });
}
writeFileSync(cacheFile, script.createCachedData());

/** The first one asks git for more than any other does: its functions would only make the cache longer. */
async function autocommits(sandbox: string): Promise<void> {
  for (const [content, bundle] of [
    ['once', all],
    ['twice', module.exports],
    ['twice', module.exports],
  ] as const) {
    writeFileSync(join(sandbox, 'file'), content);
    await call(bundle, 'autocommit', '--session', 's1');
  }
}

/** Git mode at its start. It runs git as a child, so that this process stays. */
async function callAsGit(...words: string[]): Promise<void> {
  Object.defineProperty(process, 'execve', { value: undefined });
  process.argv = ['git', 'git', ...words];
  load();
  await module.exports.finished;
  if (process.exitCode !== 0) throw new Error(`git ${words.join(' ')}: exit code ${process.exitCode}`);
}

async function callFromTerminal(): Promise<void> {
  execFileSync('git', ['init', '--quiet', '--bare', '../remote.git']);
  execFileSync('git', ['remote', 'add', 'origin', '../remote.git']);
  for (const words of [
    'session push s1',
    'undo s1',
    'session push s1',
    'list',
    'status',
    'session list --help',
  ])
    await call(all, ...words.split(' '));
}

/** Standard input of a hook is the event of an agent. */
async function callAsHook(cwd: string): Promise<void> {
  writeFileSync(join(cwd, 'file'), 'by a tool');
  const event = {
    hook_event_name: 'PostToolUse',
    tool_name: 'Edit',
    tool_use_id: 't1',
    session_id: 'c1',
    cwd,
  };
  const file = join(place, 'event');
  writeFileSync(file, JSON.stringify(event));
  closeSync(0);
  openSync(file, 'r'); // the lowest free descriptor: 0
  await call(module.exports, 'hook', 'claude-code');
}

async function call({ runAgtMode }: Bundle, ...args: string[]): Promise<void> {
  const exitCode = await runAgtMode(args);
  if (exitCode !== 0) throw new Error(`agt ${args.join(' ')}: exit code ${exitCode}`);
}
