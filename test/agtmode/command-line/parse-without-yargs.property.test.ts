/** parseWithoutYargs gives the same arguments as yargs, for every command line that it accepts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandName } from '../../../src/agtmode/command-line/command.ts';
import { parseWithoutYargs, withNewNames } from '../../../src/agtmode/command-line/parse-without-yargs.ts';
import { makeParser } from '../../../src/agtmode/command-line/parser.ts';
import { COMMANDS } from '../../../src/agtmode/commands/index.ts';

/** The command and the arguments that yargs finds; undefined if yargs refuses the command line. */
async function parseWithYargs(
  words: readonly string[],
): Promise<[string, Record<string, unknown>] | undefined> {
  let found: [string, Record<string, unknown>] | undefined;
  const parser = makeParser(COMMANDS, [], async (command, args: Record<string, unknown>) => {
    const names = ['--', ...Object.keys({ ...command.options, ...command.positionals })];
    const given = names.filter((name) => args[name] !== undefined).map((name) => [name, args[name]]);
    found = [commandName(command), Object.fromEntries(given)];
  });
  try {
    await parser.parseAsync([...words]);
  } catch {
    return undefined;
  }
  return found;
}

const value = fc.oneof(
  fc.constantFrom(
    's1',
    '0',
    '1.50',
    'true',
    'false',
    '',
    '-',
    '--',
    '-x',
    '--json',
    '"quoted"',
    "it's",
    'a=b',
    'ä b',
    '1e3',
    '[x]',
    'null',
  ),
  fc.string({ maxLength: 4 }),
);

const line = fc.constantFrom(...COMMANDS).chain((command) => {
  const options = Object.entries(command.options ?? {});
  const word =
    options.length === 0
      ? value.map((only) => [only])
      : fc.oneof(
          {
            weight: 6,
            arbitrary: fc
              .tuple(fc.constantFrom(...options), value)
              .map(([[name, { type }], given]) =>
                type === 'boolean' ? [`--${name}`] : [`--${name}`, given],
              ),
          },
          { weight: 1, arbitrary: fc.constantFrom(...options).map(([name]) => [`--${name}`]) },
          { weight: 1, arbitrary: fc.constantFrom(...options).map(([name]) => [`--no-${name}`]) },
          { weight: 1, arbitrary: value.map((only) => [only]) },
          { weight: 1, arbitrary: value.map((only) => ['--', only]) },
        );
  return fc
    .array(word, { maxLength: 4 })
    .map((words) => [...commandName(command).split(' '), ...words.flat()]);
});

test('an accepted command line has the same arguments as with yargs', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(line, async (words) => {
      const plain = parseWithoutYargs(COMMANDS, words);
      if (plain === undefined) return;
      accepted++;
      expect([commandName(plain.command), plain.args]).toEqual(await parseWithYargs(words));
    }),
    { numRuns: 1500 },
  );
  expect(accepted).toBeGreaterThan(300);
});

test('an option of the same name as an argument needs yargs: both may be given', () => {
  expect(parseWithoutYargs(COMMANDS, ['search', 'this', '--text', 'that'])).toBeUndefined();
});

test('the command lines of hooks, cron and the guard are accepted', () => {
  for (const words of [
    'autocommit',
    'autocommit --all',
    'autocommit --session-id s1 --label x --if-changed --keep a --keep b --wait 60',
    'session list --json',
    'status',
    'doctor --fix',
    'session new',
    'session new fix-login --with-changes --json',
    'session show fix-login',
    'session undo fix-login 2 --turn',
    'session restore fix-login @{2} -- a b',
  ]) {
    const renamed = withNewNames(COMMANDS, words.split(' '));
    expect(parseWithoutYargs(COMMANDS, renamed), words).toBeDefined();
  }
});
