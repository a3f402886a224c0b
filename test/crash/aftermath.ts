/** Kills a command, and checks what it leaves. */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { agt, agtOk, git, makeRepository, REAL_GIT, run } from '../harness/world.ts';
import { makePlace, type Place, type Scene } from './scenes.ts';

const TWO_HOURS_AGO = Date.now() / 1000 - 7200;

/** A scene at one path, restored to its first condition before each kill. */
export class Stage {
  readonly place: Place;
  private readonly parent: string;
  private readonly copy: string;

  constructor(scene: Scene) {
    const repository = makeRepository();
    this.parent = dirname(repository);
    this.copy = `${this.parent}-prepared`;
    this.place = makePlace(repository);
    scene.prepare(this.place);
    cpSync(this.parent, this.copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }

  reset(): void {
    rmSync(this.parent, { recursive: true, force: true });
    cpSync(this.copy, this.parent, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }
}

export interface Attack {
  readonly program: readonly string[];
  readonly env?: Record<string, string>;
  /** Milliseconds until the kill; undefined: the command kills itself at a step. */
  readonly after?: number;
  /** Its children are killed with it. */
  readonly group?: boolean;
}

/** Waits until the command and its children have ended. Returns the signal that ended the command. */
export async function attack(
  { repository }: Place,
  command: readonly string[],
  how: Attack,
): Promise<string | null> {
  const [program = '', ...first] = how.program;
  const child = spawn(program, [...first, ...command], {
    cwd: repository,
    env: { ...process.env, AGT_GIT_PATH: REAL_GIT, ...how.env },
    stdio: 'ignore',
    detached: true,
  });
  const pid = child.pid as number;
  const ended = new Promise<string | null>((resolve) => child.on('exit', (_, signal) => resolve(signal)));
  const kill = () => {
    try {
      process.kill(how.group ? -pid : pid, 'SIGKILL');
    } catch {
      // it has ended by itself
    }
  };
  const timer = how.after === undefined ? undefined : setTimeout(kill, how.after);
  const signal = await ended;
  clearTimeout(timer);
  while (gitLives(pid, dirname(repository))) await sleep(5);
  return signal;
}

/**
 * The git processes that still run after their agt has ended: in its group, or in one of their own, so that no interrupt
 * reaches them. Zombies do not count.
 */
function gitLives(group: number, folder: string): boolean {
  for (const path of globSync('/proc/[0-9]*/stat')) {
    try {
      const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(path, 'latin1')) ?? [];
      const [state, , member] = rest.split(' ');
      if (state === 'Z' || state === 'X') continue;
      if (Number(member) === group) return true;
      if (name === 'git' && readlinkSync(join(path, '../cwd')).startsWith(folder)) return true;
    } catch {
      // it has ended meanwhile
    }
  }
  return false;
}

/** Leftovers that no completed command leaves, as absolute paths; found without agt. */
export function leftovers(place: Place): string[] {
  const { repository } = place;
  const common = join(repository, '.git');
  const sessions = `${repository}.agt/sessions`;
  const inGit = [
    '**/*.lock',
    'agt/**/*.tmp',
    'agt/locks/{*,.*}',
    'agt/scratch/*',
    '{.,worktrees/*}/fast_import_crash_*',
    'objects/{*/,}{tmp_*,.tmp-*}',
    'objects/pack/*.keep',
    'worktrees/*/{agt-index-*,index.agt-*}',
  ].flatMap((pattern) => globSync(pattern, { cwd: common }).map((name) => join(common, name)));
  const inFolders = globSync(['**/.agt-*.tmp', '*/.agt-worktree'], { cwd: sessions });
  const ids = globSync('agt/sessions/*.json', { cwd: common }).map((name) => {
    const record = JSON.parse(readFileSync(join(common, name), 'utf8'));
    return record.state === 'active' ? record.session_id : undefined;
  });
  const folders = globSync('*', { cwd: sessions }).filter((name) => !ids.includes(name));
  const worktrees = globSync('worktrees/*', { cwd: common }).filter((name) => {
    const link = join(common, name, 'gitdir');
    return !existsSync(link) || !existsSync(readFileSync(link, 'utf8').trim());
  });
  const unfinished = unfinishedWorktrees(place);
  const empty = existsSync(sessions) && globSync('*', { cwd: sessions }).length === 0 ? [sessions] : [];
  return [
    ...new Set([
      ...inGit.filter((path) => !path.endsWith('/.') && !path.endsWith('/..')),
      ...[...inFolders, ...folders].map((name) => join(sessions, name)),
      ...worktrees.map((name) => join(common, name)),
      ...unfinished,
      ...empty,
    ]),
  ];
}

/** Makes the leftovers two hours old. */
function makeOld(paths: readonly string[]): void {
  for (const path of paths) utimesSync(path, TWO_HOURS_AGO, TWO_HOURS_AGO);
}

interface Finding {
  readonly level: string;
  readonly about: string;
  readonly problem: string;
  readonly mend: string;
}

function examine({ repository }: Place, ...options: string[]): Finding[] {
  const outcome = agt(repository, 'doctor', '--json', ...options);
  if (outcome.exitCode !== 0 && outcome.exitCode !== 1) throw new Error(outcome.stderr);
  const report = JSON.parse(outcome.stdout) as { findings: Finding[]; mended?: { failure: string | null }[] };
  expect((report.mended ?? []).filter(({ failure }) => failure !== null)).toEqual([]);
  return report.findings;
}

/** The next commands, before any repair. */
export function nextCommandsWork(place: Place, turn: number): void {
  if (turn % 4 === 0) agtOk(place.repository, 'status');
  const outcome = agt(place.repository, 'autocommit', '--all');
  // A half-restored session has no sandbox yet.
  const isHalf =
    /^error: the sandbox of "s1" (is gone|has lost its \.git file|has a \.git file that leads nowhere): .*\nhint: .*see: agt doctor\n$/.test(
      outcome.stderr,
    );
  expect(outcome.exitCode, outcome.stderr).toBe(isHalf ? 1 : 0);
  git(place.repository, 'status');
}

export function storeIsWhole({ repository }: Place): void {
  const checked = run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], { cwd: repository });
  expect(checked.stdout + checked.stderr).toBe('');
}

/** A git that was killed with agt may have left a lock that stops every other git; doctor deletes it. */
function unfinishedWorktrees({ repository }: Place): string[] {
  const common = join(repository, '.git');
  return globSync('worktrees/*', { cwd: common })
    .map((name) => join(common, name))
    .filter(
      (path) =>
        statSync(join(path, 'commondir'), { throwIfNoEntry: false })?.size === 0 ||
        !existsSync(join(path, 'HEAD')) ||
        /^0+$/.test(readFileSync(join(path, 'HEAD'), 'utf8').trim()),
    );
}

/** doctor names every leftover, and fixes it. */
export function doctorMends(place: Place): void {
  const left = leftovers(place);
  makeOld(left);
  const findings = examine(place);
  const named = JSON.stringify(findings);
  // Leftovers of a half-created or half-removed session are reported with the session.
  const isHalf = findings.some(({ problem }) => /did not finish|its folder is there/.test(problem));
  // With one of these, doctor cannot look at the rest.
  const areFirst = findings.some(({ problem }) => /half registered/.test(problem));
  const isNamed = (path: string) =>
    areFirst ||
    [path, dirname(path)].some((it) => named.includes(it)) ||
    (isHalf && /\.agt\/sessions|\.git\/worktrees\//.test(path));
  expect(left.filter((path) => !isNamed(path))).toEqual([]);
  const open = examine(place, '--fix').filter(({ problem }) => problem !== 'agt did not finish restoring it');
  expect(open).toEqual([]);
  expect(leftovers(place)).toEqual([]);
}

/** After doctor --fix, everything is as after a completed command, or as if it was never run. */
export function recovers(place: Place, scene: Scene, turn: number): void {
  if (unfinishedWorktrees(place).length === 0) storeIsWhole(place);
  doctorMends(place);
  storeIsWhole(place);
  nextCommandsWork(place, turn);
  scene.check(place);
}
