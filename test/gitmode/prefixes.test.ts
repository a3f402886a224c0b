/** The branches of sessions stay hidden, and agt goes on with them, when somebody changes the prefixes meanwhile. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  AGT,
  GIT_MODE,
  git,
  makeRepository,
  makeTempDir,
  type Outcome,
  run,
  write,
} from '../harness/world.ts';

interface Place {
  readonly repository: string;
  readonly agt: (...args: string[]) => Outcome;
  readonly gitMode: (...args: string[]) => Outcome;
  /** Writes ~/.agtconfig, as a person with an editor would. */
  readonly setPrefixes: (shadow: string, work: string) => void;
  readonly home: string;
}

function makePlace(): Place {
  const home = makeTempDir('home');
  const repository = makeRepository();
  const call = (program: string, args: readonly string[]) =>
    run(program, args, { cwd: repository, env: { HOME: home } });
  return {
    repository,
    home,
    agt: (...args) => {
      const outcome = call(AGT, args);
      if (outcome.exitCode !== 0)
        throw new Error(`agt ${args.join(' ')}: ${outcome.stdout}${outcome.stderr}`);
      return outcome;
    },
    gitMode: (...args) => call(GIT_MODE, args),
    setPrefixes: (shadow, work) =>
      write(join(home, '.agtconfig'), `[agt]\nbranchPrefix = ${shadow}\nworkPrefix = ${work}\n`),
  };
}

/** A session with a snapshot that holds a secret. */
function makeSession({ repository, agt }: Place, id: string): void {
  agt('session', 'new', '--id', id);
  write(join(`${repository}.agt/sessions/${id}/sandbox/.env`), `TOKEN=${id}\n`);
  agt('autocommit', '--session-id', id);
}

const LISTS = [
  ['branch', '-a'],
  ['branch', '--list', '*'],
  ['for-each-ref'],
  ['show-ref'],
  ['log', '--all', '--decorate', '--format=%d %s'],
  ['log', '--oneline', '--decorate'],
  ['rev-parse', '--symbolic-full-name', '--all'],
  ['describe', '--all'],
  ['worktree', 'list'],
];

/** Nothing that git mode lists or sends names a session. */
function expectHidden({ repository, gitMode }: Place, names = /agt|bots|old|new/): void {
  for (const args of LISTS) expect(gitMode(...args).stdout.replaceAll(repository, '')).not.toMatch(names);
  for (const [option, source] of [
    ['--all'],
    ['--mirror'],
    ['refs/*:refs/*', 'refs/*:refs/*'],
    ['HEAD:refs/heads/x'],
  ]) {
    const target = makeTempDir('target');
    git(target, 'init', '-q', '--bare');
    const outcome =
      source === undefined ? gitMode('push', option as string, target) : gitMode('push', target, source);
    if (option !== 'HEAD:refs/heads/x') expect(outcome.exitCode).toBe(0);
    expect(git(target, 'for-each-ref', '--format=%(refname)')).not.toMatch(names);
  }
}

describe('a person who changes the prefixes while there are sessions', () => {
  test('sees and publishes none of their branches', () => {
    const place = makePlace();
    makeSession(place, 'first');
    place.setPrefixes('bots/old/', 'bots/work/');
    expectHidden(place);
    makeSession(place, 'second');
    expectHidden(place);
    place.setPrefixes('robo/a/', 'robo/b/');
    expectHidden(place);
    rmSync(join(place.home, '.agtconfig'));
    expectHidden(place);
  });

  test('gives none of them to those who fetch', () => {
    const place = makePlace();
    makeSession(place, 'first');
    place.setPrefixes('bots/old/', 'bots/work/');
    makeSession(place, 'second');
    expect(git(makeTempDir('other'), 'ls-remote', `file://${place.repository}`)).not.toMatch(/agt|bots/);
  });

  test('sees none of them through the shim', () => {
    const place = makePlace();
    const bin = makeTempDir('bin');
    for (const [shadow, work] of [
      ['agtsessions/', 'agt/'],
      ['bots/old/', 'bots/work/'],
    ] as const) {
      place.setPrefixes(shadow, work);
      makeSession(place, `s-${shadow.length}`);
      place.agt('shim', 'install', '--dir', bin);
      const env = { HOME: place.home, AGT_GIT_PATH: undefined };
      const gitMode = (...args: string[]) => run(join(bin, 'git'), args, { cwd: place.repository, env });
      // The first round writes the facts that the second one uses.
      for (let round = 0; round < 2; round++) {
        expectHidden({ ...place, gitMode }, /agt\/|agtsessions|bots/);
      }
    }
  });

  test('goes on with every session', () => {
    const place = makePlace();
    makeSession(place, 'one');
    place.setPrefixes('bots/old/', 'bots/work/');
    const { agt, repository } = place;
    const file = join(`${repository}.agt/sessions/one/sandbox/more`);
    write(file, 'x\n');
    agt('autocommit', '--session-id', 'one');
    agt('session', 'undo', 'one');
    agt('session', 'redo', 'one');
    agt('session', 'fork', '--from', 'one', '--id', 'two');
    expect(agt('session', 'show', 'two').stdout).toContain('bots/');
    agt('session', 'restore', 'one', '--to', '@{1}');
    agt('session', 'log', 'one');
    agt('session', 'diff', 'one');
    agt('du');
    agt('gc');
    agt('session', 'remove', 'one', '--force');
    agt('session', 'restore', 'one', '--to', '@');
    expect(agt('doctor').stdout + agt('doctor').stderr).not.toMatch(/belongs to no session|error/);
    agt('session', 'remove', 'one', '--force', '--delete-branch');
    expect(git(repository, 'for-each-ref', '--format=%(refname)')).not.toMatch(/\/one$/m);
  });

  test('is told by agt config that the sessions stay as they are', () => {
    const place = makePlace();
    makeSession(place, 'first');
    const outcome = place.agt('config', 'set', '--global', 'agt.branchPrefix', 'bots/old/');
    expect(outcome.stderr).toContain('existing sessions keep the names of their branches');
    expectHidden(place);
  });

  test('sees the branches that are not agt’s', () => {
    const place = makePlace();
    place.setPrefixes('bots/old/', 'bots/work/');
    makeSession(place, 'first');
    git(place.repository, 'branch', 'agt/of-mine');
    expect(place.gitMode('branch').stdout).toContain('agt/of-mine');
    expectHidden(place, /bots/);
  });
});

test('a note that nobody can read shows no branch', () => {
  const place = makePlace();
  place.setPrefixes('bots/old/', 'bots/work/');
  makeSession(place, 'first');
  rmSync(join(place.home, '.agtconfig'));
  const note = join(place.repository, '.git/agt/prefixes');
  rmSync(note);
  execFileSync('mkfifo', [note]);
  expectHidden(place);
});

test('agt doctor notes the prefixes of sessions again', () => {
  const place = makePlace();
  place.setPrefixes('bots/old/', 'bots/work/');
  makeSession(place, 'first');
  rmSync(join(place.home, '.agtconfig'));
  rmSync(join(place.repository, '.git/agt/prefixes'));
  const found = run(AGT, ['doctor'], { cwd: place.repository, env: { HOME: place.home } });
  expect(found.stdout).toContain('bots/old/ bots/work/');
  place.agt('doctor', '--fix');
  expectHidden(place);
});
