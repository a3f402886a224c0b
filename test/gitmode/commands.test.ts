/** The table of git's commands is complete, and its columns do not contradict each other. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_PREFIXES } from '../../src/config/settings.ts';
import { COMMANDS, type Command, shimAction } from '../../src/gitmode/commands.ts';
import { shimText } from '../../src/gitmode/shim/shim.ts';
import { git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { LINES } from '../twin/lines.ts';

const namesOf = (isWanted: (command: Command) => boolean): string[] =>
  [...COMMANDS].filter(([, command]) => isWanted(command)).map(([name]) => name);

test('every builtin of the real git has a row', () => {
  const builtins = git('/', '--list-cmds=builtins').split('\n');
  expect(builtins.length).toBeGreaterThan(100);
  expect(builtins.filter((name) => !COMMANDS.has(name))).toEqual([]);
});

test('a command that publishes refs has a rule; only send-pack gets its line unchanged', () => {
  const publishing = namesOf(({ publishes }) => publishes === true);
  expect(publishing).toEqual(expect.arrayContaining(['push', 'bundle', 'fast-export']));
  expect(publishing.filter((name) => COMMANDS.get(name)?.rule === undefined)).toEqual(['send-pack']);
});

test('every command with a rule is compared with real git in the twins', () => {
  const lines = Object.values(LINES).flat();
  const isCompared = (name: string) => lines.some((line) => line.replace(/^!/, '').split(' ')[0] === name);
  // No git before 2.46 has refs, none before 2.52 repo; test/twin/rebase.test.ts has rebase, filter-branch.test.ts the last.
  expect(namesOf(({ rule }) => rule !== undefined).filter((name) => !isCompared(name))).toEqual([
    'rebase',
    'refs',
    'repo',
    'filter-branch',
  ]);
});

test('only a command that can destroy work puts commits at risk', () => {
  expect(namesOf((command) => command.commitsAtRisk !== undefined && command.destroys === undefined)).toEqual(
    [],
  );
});

test('the shim never passes over a rule or the guard', () => {
  const passesOverGuard = ['git', 'git first', 'ref sets', 'walk', 'decorate'];
  const passesOverRule = ['git', 'git first', 'guard'];
  expect(
    namesOf((command) => {
      const action = shimAction(command);
      return (
        (command.destroys !== undefined && passesOverGuard.includes(action)) ||
        (command.rule !== undefined && passesOverRule.includes(action))
      );
    }),
  ).toEqual([]);
});

describe('the shim, with a real git and an agt that print their names', () => {
  const dir = () => {
    const bin = makeTempDir('shim');
    for (const name of ['git', 'agt']) write(join(bin, name), `#!/bin/sh\necho ${name}\n`, 0o755);
    const settingsFile = join(bin, 'no-settings');
    const facts = {
      version: '1.2.3',
      git: join(bin, 'git'),
      executable: join(bin, 'agt'),
      settingsFile,
      prefixes: DEFAULT_PREFIXES,
      refuses: false,
    };
    const execPath = git('/', '--exec-path');
    writeFileSync(join(bin, 'shim'), shimText({ ...facts, execPath }));
    return bin;
  };
  const program = (bin: string, cwd: string, name: string) =>
    run('sh', [join(bin, 'shim'), name, '--amend'], { cwd, env: { AGT_GIT_PATH: undefined } }).stdout.trim();

  test('in a repository of agt’s each command goes the way of its row', () => {
    const bin = dir();
    const repository = makeRepository();
    write(join(repository, '.git/agt/sessions/s1.json'), '{}');
    const goesToAgt = namesOf((command) =>
      ['agt', 'decorate', 'list', 'transfer'].includes(shimAction(command)),
    );
    const all = [...COMMANDS.keys()];
    expect(all.filter((name) => program(bin, repository, name) === 'agt')).toEqual(goesToAgt);
    expect(program(bin, repository, 'an-alias')).toBe('agt');
  });

  test('in a sandbox a command that can destroy work goes to agt', () => {
    const bin = dir();
    const repository = makeRepository();
    write(join(repository, '.git/agt/sessions/s1.json'), '{}');
    const sandbox = join(makeTempDir('sessions'), 's1/sandbox');
    git(repository, 'worktree', 'add', '-q', '-b', 'agt/s1', sandbox);
    const guarded = namesOf(({ destroys }) => destroys !== undefined);
    expect(guarded.filter((name) => program(bin, sandbox, name) !== 'agt')).toEqual([]);
  });
});
