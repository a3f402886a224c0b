/** Eight sessions captured at once, in which agents commit, while the user commits, fetches, rebases and collects garbage. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, agtOk, git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';

const SESSIONS = 8;
const ROUNDS = 5;

interface Ended {
  readonly what: string;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(cwd: string, program: string, ...args: string[]): Promise<Ended> {
  const env = { ...process.env, AGT_GIT_PATH: REAL_GIT };
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (data: Buffer) => {
      said[name] += data.toString();
    });
  const what = `${args.join(' ')} in ${cwd}`;
  return new Promise((resolve) => child.on('close', (code) => resolve({ what, code, ...said })));
}

/** git gc deletes empty directories of the object store, even if another git is about to write there. */
async function startAgain(cwd: string, ...args: string[]): Promise<Ended> {
  const first = await start(cwd, REAL_GIT, ...args);
  return /unable to create temporary file/.test(first.stderr) ? start(cwd, REAL_GIT, ...args) : first;
}

/**
 * `collect`: how the user gives disk back meanwhile. `agentsCommit`: not beside `--prune=now`, which may take from `git add`
 * what it has just written (NOTES in git-gc(1)).
 */
async function everythingAtOnce(
  collect: readonly (readonly string[])[],
  { agentsCommit }: { agentsCommit: boolean },
): Promise<void> {
  const repository = makeRepository(
    Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}`, `${n}\n`])),
  );
  const origin = join(dirname(repository), 'origin');
  git(repository, 'clone', '-q', '--bare', repository, origin);
  git(repository, 'remote', 'add', 'origin', origin);
  git(repository, 'config', 'gc.auto', '0');
  const ids = Array.from({ length: SESSIONS }, (_, n) => `s${n}`);
  const sandboxes = ids.map(
    (id) => JSON.parse(agtOk(repository, 'session', 'new', '--id', id, '--json')).sandbox as string,
  );
  const ended: Ended[] = [];
  const captured: { commit: string; text: string }[] = [];
  let open = SESSIONS;

  const agent = async (sandbox: string, id: string) => {
    for (let round = 0; round < ROUNDS; round++) {
      const text = `${id} ${round}\n`.repeat(200);
      write(join(sandbox, 'work'), text);
      for (let n = 0; n < (round % 2 === 0 ? 3 : 110); n++) write(join(sandbox, `more/${n}`), `${text}${n}`);
      if (agentsCommit && round % 2 === 1) {
        for (const args of [
          ['add', 'work'],
          ['commit', '-q', '-m', text.slice(0, 20)],
        ])
          ended.push(await startAgain(sandbox, ...args));
      }
      const [one, other] = await Promise.all([
        start(sandbox, AGT, 'autocommit', '--json', '--wait', '60'),
        start(sandbox, AGT, 'autocommit', '--json'),
      ]);
      ended.push(one, other);
      for (const { code, stdout } of [one, other])
        if (code === 0) captured.push({ commit: JSON.parse(stdout).commit, text });
    }
    open--;
  };
  const user = async () => {
    for (let round = 0; open > 0; round++) {
      write(join(repository, 'users'), `${round}\n`);
      const upstream = round === 0 ? 'main' : 'HEAD~1';
      for (const args of [
        ['add', 'users'],
        ['commit', '-q', '-m', `user ${round}`],
        ['fetch', '-q', 'origin'],
        ['rebase', '-q', '--force-rebase', upstream],
        ...collect,
      ])
        ended.push(await start(repository, REAL_GIT, ...args));
    }
  };
  await Promise.all([user(), ...ids.map((id, n) => agent(sandboxes[n] as string, id))]);

  expect(ended.filter(({ code }) => code !== 0 && code !== 75)).toEqual([]);
  expect(ended.filter(({ stderr }) => /\.lock|fatal|internal/.test(stderr))).toEqual([]);
  expect(captured.length).toBeGreaterThanOrEqual(SESSIONS * ROUNDS);
  const tips = git(repository, 'for-each-ref', '--format=%(objectname)', 'refs/agt/tip').split('\n');
  const kept = new Set(git(repository, 'rev-list', ...tips).split('\n'));
  for (const { commit, text } of captured) {
    expect(kept.has(commit)).toBe(true);
    expect(git(repository, 'cat-file', 'blob', `${commit}:sandbox/work`)).toBe(text.trimEnd());
  }
  const checked = run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], { cwd: repository });
  expect(checked.stdout + checked.stderr).toBe('');
  console.log(`${captured.length} captures beside ${ended.length - captured.length} other commands`);
}

test('with git gc and repack: nothing is lost and nobody waits for index.lock', { timeout: 300_000 }, () =>
  everythingAtOnce(
    [
      ['gc', '-q'],
      ['repack', '-a', '-d', '-q'],
    ],
    { agentsCommit: true },
  ),
);

test('with git gc --prune=now: nothing is lost', { timeout: 300_000 }, () =>
  everythingAtOnce([['gc', '-q', '--prune=now']], { agentsCommit: false }),
);
