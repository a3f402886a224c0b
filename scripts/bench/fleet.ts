/**
 * Many sessions at once: `--sessions N` (default 500) in one repository, then `--users N` (default 20) repositories that
 * push `--each N` (default 5) sessions to one remote at the same time, over `git daemon`. Prints seconds, and CPU milliseconds a session.
 */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agt, env, git, makeTree, must, pathOf, place, serveGit } from './harness.ts';

const { values: options } = parseArgs({
  options: {
    sessions: { type: 'string', default: '500' },
    users: { type: 'string', default: '20' },
    each: { type: 'string', default: '5' },
  },
});

oneMachine(Number(options.sessions));
await oneRemote(Number(options.users), Number(options.each));

function oneMachine(sessions: number): void {
  const repository = makeTree(20, 'fleet');
  for (let n = 0; n < sessions; n++) must(agt, ['session', 'new', `s${n}`], repository);
  timed('autocommit --all, the first', sessions, repository, ['autocommit', '--all']);
  for (const words of [['autocommit', '--all'], ['list'], ['status'], ['doctor'], ['gc']])
    timed(words.join(' '), sessions, repository, words);
  for (let n = 0; n < sessions; n += 10)
    writeFileSync(join(`${repository}.agt`, 'sessions', `s${n}`, 'sandbox', pathOf(1)), `${n}\n`);
  timed('autocommit --all, a tenth changed', sessions, repository, ['autocommit', '--all']);
}

/** With the CPU time of its children. */
function timed(name: string, sessions: number, cwd: string, words: readonly string[]): void {
  const script = `import resource, subprocess, sys, time
start = time.time()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.time() - start, used.ru_utime + used.ru_stime, code)`;
  const { stdout, stderr } = spawnSync('python3', ['-c', script, agt, ...words], {
    cwd,
    env,
    encoding: 'utf8',
  });
  const [wall = 0, cpu = 0, code] = stdout.trim().split(' ').map(Number);
  if (code !== 0) throw new Error(`agt ${words.join(' ')}: ${stderr}`);
  console.log(
    `${name.padEnd(36)}${wall.toFixed(2).padStart(8)} s${((1000 * cpu) / sessions).toFixed(1).padStart(8)} ms CPU each`,
  );
}

async function oneRemote(users: number, each: number): Promise<void> {
  const remote = join(place, 'shared.git');
  const start = makeTree(20, 'start');
  must(git, ['clone', '-q', '--bare', start, remote], place);
  must(agt, ['key', 'new'], place);
  const address = serveGit();
  const repositories = Array.from({ length: users }, (_, n) => join(place, `user-${n}`));
  for (const repository of repositories) {
    must(git, ['clone', '-q', `${address}/shared.git`, repository], place);
    for (let n = 0; n < each; n++) must(agt, ['session', 'new', `s${n}`], repository);
  }
  const begin = Date.now();
  const codes = await Promise.all(repositories.map((cwd) => ended(cwd, ['session', 'push', '--all'])));
  const seconds = (Date.now() - begin) / 1000;
  const listed = JSON.parse(
    must(agt, ['session', 'list', '--remote', 'origin', '--json'], repositories[0] ?? ''),
  ) as object[];
  const failed = codes.filter((code) => code !== 0).length;
  console.log(
    `${users * each} pushes of ${users} users at once: ${seconds.toFixed(1)} s, ${failed} users failed, ${listed.length} on the remote`,
  );
}

function ended(cwd: string, words: readonly string[]): Promise<number | null> {
  const child = spawn(agt, words, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((resolve) => child.on('close', resolve));
}
