/** Kills a command at one step after another, each time in a fresh copy of the same repository, and looks at what is left. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { agt, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

export interface Scene {
  /** Makes the repository at this path, in the state before the command. */
  readonly prepare: (repository: string) => void;
  readonly command: readonly string[];
  /** Blobs that must be on disk or in a state, whatever happens. */
  readonly precious: readonly string[];
}

const bundle = join(import.meta.dirname, '../../dist/main.cjs');
const preload = join(import.meta.dirname, 'steps.cjs');

/** Every kill of one command; `most` are spread over its steps. Returns how many there were. */
export function killAtEveryStep(scene: Scene, most: number): number {
  const place = makeTempDir('killed');
  const [repository, kept] = [join(place, 'r'), join(place, 'kept')];
  scene.prepare(repository);
  const parts = readdirSync(place);
  for (const part of parts)
    cpSync(join(place, part), join(kept, part), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    });
  const states = statesOf(repository);

  const count = join(place, 'steps');
  runSteps(scene.command, repository, { AGT_TEST_STEPS: count });
  const steps = Number(readFileSync(count, 'utf8'));
  const wanted = Math.min(steps, most);
  for (let n = 0; n < wanted; n++) {
    const at = 1 + Math.floor((n * steps) / wanted);
    for (const part of readdirSync(place))
      if (part !== 'kept') rmSync(join(place, part), { recursive: true });
    for (const part of parts)
      cpSync(join(kept, part), join(place, part), {
        recursive: true,
        verbatimSymlinks: true,
        preserveTimestamps: true,
      });
    const outcome = runSteps(scene.command, repository, {
      AGT_TEST_KILL_AT: String(at),
      AGT_TEST_KILL_GROUP: String(n % 2),
    });
    const what = `killed at step ${at} of ${steps}`;
    expect(outcome.signal, what).toBe('SIGKILL');
    lookAt(repository, states, scene.precious, what);
  }
  return wanted;
}

function runSteps(command: readonly string[], cwd: string, more: Record<string, string>) {
  return spawnSync('setsid', ['-w', process.execPath, '-r', preload, bundle, ...command], {
    cwd,
    env: { ...process.env, AGT_GIT_PATH: REAL_GIT, ...more },
    encoding: 'utf8',
  });
}

function statesOf(repository: string): string[] {
  return git(repository, 'rev-list', '--glob=refs/agt/tip/*', '--glob=refs/heads/agtsessions/*')
    .split('\n')
    .filter(Boolean);
}

function lookAt(
  repository: string,
  states: readonly string[],
  precious: readonly string[],
  what: string,
): void {
  const common = join(repository, '.git');
  for (const path of globSync(['**/*.lock', 'objects/**/tmp_*'], { cwd: common })) {
    utimesSync(join(common, path), 1_700_000_000, 1_700_000_000); // as if an hour had gone by
  }
  const fixed = agt(repository, 'doctor', '--fix');
  expect(fixed.stdout + fixed.stderr, what).toMatch(/nothing is wrong\n$/);
  expect(fixed.exitCode, what).toBe(0);
  const checked = run(REAL_GIT, ['fsck', '--strict', '--no-dangling', '--no-progress'], { cwd: repository });
  expect(checked.stdout + checked.stderr, what).toBe('');
  expect(leftoversIn(repository), what).toEqual([]);
  const captured = agt(repository, 'autocommit', '--all');
  expect(captured.stderr, what).toBe('');
  expect(captured.exitCode, what).toBe(0);
  expect(git(repository, 'status', '--porcelain'), what).toBe('');

  const reachable = new Set(
    git(repository, 'rev-list', '--all', '--objects')
      .split('\n')
      .map((line) => line.split(' ')[0]),
  );
  for (const oid of [...states, ...precious])
    expect(reachable.has(oid), `${what}: ${oid} is lost`).toBe(true);
}

function leftoversIn(repository: string): string[] {
  const common = join(repository, '.git');
  const found = globSync(
    [
      'agt/**/*.tmp',
      'agt/locks/*',
      'agt/scratch/*',
      'objects/**/tmp_*',
      '**/*.lock',
      'fast_import_crash_*',
      'worktrees/*/agt-index-*',
      'worktrees/*/*.tmp',
    ],
    { cwd: common },
  );
  const registered = existsSync(join(common, 'worktrees')) ? readdirSync(join(common, 'worktrees')) : [];
  const gone = registered.filter(
    (name) => !existsSync(readFileSync(join(common, 'worktrees', name, 'gitdir'), 'utf8').trim()),
  );
  const records = globSync('agt/sessions/*.json', { cwd: common }).map(
    (path) => JSON.parse(readFileSync(join(common, path), 'utf8')) as { session_id: string; state: string },
  );
  const ids = new Set(records.filter(({ state }) => state === 'active').map(({ session_id }) => session_id));
  const sessions = `${repository}.agt/sessions`;
  const folders = existsSync(sessions) ? readdirSync(sessions).filter((name) => !ids.has(name)) : [];
  return [...found, ...gone, ...folders];
}

/** A repository with one commit, whose sessions are beside it. */
export function plainRepository(repository: string): void {
  git('/', 'init', '-q', '-b', 'main', repository);
  for (const name of ['a', 'b', 'd/c']) write(join(repository, name), `${name}\n`);
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'one');
}

/** Object name that git gives a file of this text. */
export function blob(text: string): string {
  return run(REAL_GIT, ['hash-object', '--stdin'], { cwd: '/', input: text }).stdout.trim();
}
