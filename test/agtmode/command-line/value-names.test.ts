/** Help names the values of options; a flag takes none. */
import { expect, test } from 'vitest';
import { valueName } from '../../../src/agtmode/command-line/value-names.ts';
import { COMMANDS } from '../../../src/agtmode/commands/index.ts';
import { agt, agtOk, makeRepository } from '../../harness/world.ts';

test('every option that takes a value says which one', () => {
  const nameless = COMMANDS.flatMap(({ usage, options = {} }) =>
    Object.entries(options)
      .filter(([name, option]) => valueName(name, option) === 'value')
      .map(([name]) => `${usage} --${name}`),
  );
  expect(nameless).toEqual([]);
});

test('help and manual page have the names of values in place of types', () => {
  const repository = makeRepository();
  const help = (command: string) => agtOk(repository, ...command.split(' '), '--help').replace(/ +/g, ' ');
  const undo = help('session undo');
  expect(undo).toMatch(/--turn take back the last turn and all since; .*\n --turns and nothing else \[n\]\n/);
  expect(undo).toMatch(/--step .* \[snapshot\]\n/);
  expect(undo).toMatch(/--path .* \[path\.\.\.\]\n/);
  expect(undo).toMatch(/ count number of steps, or with --turns of turns \(default: 1\)\n/);
  expect(undo).toMatch(/--dry-run .* \[boolean\] \[default: false\]\n/);
  expect(help('session sync')).toMatch(/--from .* \[branch\]\n(.*\n)+ \[seconds\] \[default: "10"\]\n/);
  expect(help('session new')).toMatch(/--from .* \[start\]\n/);
  expect(help('session accept')).toMatch(/--verify .*\(--no-verify: do not\)/);
  for (const { usage } of COMMANDS)
    expect(help(usage.replace(/ [[<].*$/, ''))).not.toMatch(/\[(string|array)\]/);
});

test.each([
  [['session', 'list', '--json=5'], '--json', '5'],
  [['gc', '--dry-run=x'], '--dry-run', 'x'],
  [['gc', '-n=x'], '--dry-run', 'x'],
  [['accept', '--no-verify=no'], '--verify', 'no'],
])('a flag with a value is refused: %s', (words, option, value) => {
  const { exitCode, stdout, stderr } = agt(makeRepository(), ...words);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(`error: option "${option}" takes no value, and "${value}" is given\n`);
});

test('true and false are values of a flag, and words after -- are none of agt', () => {
  const repository = makeRepository();
  expect(JSON.parse(agtOk(repository, 'session', 'list', '--json=true', '--all=false'))).toEqual([]);
  expect(agt(repository, 'restore', '@{1}', '--', '--json=5').stderr).not.toContain('takes no value');
});
