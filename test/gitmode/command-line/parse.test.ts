/** Parsing of global options, of a command's options, and of aliases. */
import { expect, test } from 'vitest';
import { splitCommandLine } from '../../../src/gitmode/command-line/alias.ts';
import { optionTable, parseOptions } from '../../../src/gitmode/command-line/options.ts';
import {
  dropDisableFlag,
  parseCommandLine,
  repositoryOptions,
  withoutPagerOptions,
} from '../../../src/gitmode/command-line/parse.ts';

test.each<[string, string | undefined]>([
  ['branch -a', 'branch'],
  ['-C dir branch', 'branch'],
  ['-c a.b=c -C x --git-dir y --work-tree=z log', 'log'],
  ['--git-dir=x -p --no-pager --bare status', 'status'],
  ['--config-env a=b --namespace n --attr-source HEAD log', 'log'],
  ['--exec-path=/x --super-prefix=a/ log', 'log'],
  ['--exec-path log', undefined],
  ['--version', undefined],
  ['--help', undefined],
  ['-h', undefined],
  ['--list-cmds=main', undefined],
  ['--git-di x log', undefined],
  ['-C', undefined],
  ['', undefined],
  ['--disable-agt log', undefined],
])('the command of "%s" is %s', (line, command) => {
  expect(parseCommandLine(line.split(' ').filter(Boolean))?.command).toBe(command);
});

test('only a --disable-agt before the command is removed', () => {
  expect(dropDisableFlag(['-C', '--disable-agt', 'log'])).toEqual({
    words: ['-C', '--disable-agt', 'log'],
    disabled: false,
  });
  expect(dropDisableFlag(['-p', '--disable-agt', '--version'])).toEqual({
    words: ['-p', '--version'],
    disabled: true,
  });
  expect(dropDisableFlag(['log', '--disable-agt']).disabled).toBe(false);
});

test('global options: where git looks for the repository, and all but the pager’s for a question', () => {
  expect(repositoryOptions(['-C', 'a', '-c', '--git-dir=no', '-C', 'b', '--git-dir', 'c'])).toEqual({
    directories: ['a', 'b'],
    gitDir: 'c',
    bare: false,
  });
  expect(withoutPagerOptions(['-p', '-C', '-p', '--paginate', '-P'])).toEqual(['-C', '-p', '-P']);
});

const TABLE = optionTable('v|verbose sort= color? contains~ !no-contains~ n? f|force format= !only');

test.each<[string, string | undefined]>([
  ['-vf x', 'verbose force | x'],
  ['--sort a b', 'sort=a | b'],
  ['--sort=a b', 'sort=a | b'],
  ['--so=a', 'sort=a |'],
  ['--for', undefined],
  ['--forc', 'force |'],
  ['--no-sort', 'no-sort |'],
  ['--no-f', undefined],
  ['--no-contains x', 'no-contains=x |'],
  ['--contains', 'contains |'],
  ['--contains x y', 'contains=x | y'],
  ['--color x', 'color | x'],
  ['--color=x', 'color=x |'],
  ['-n5 x', 'n=5 | x'],
  ['-n 5', 'n | 5'],
  ['x -v -- -f', 'verbose | x -f'],
  ['--end-of-options -v', '| -v'],
  ['-', '| -'],
  ['--sort', undefined],
  ['--verbose=x', undefined],
  ['--no-only', undefined],
  ['-z', undefined],
])('options of "%s": %s', (line, expected) => {
  const parsed = parseOptions(line.split(' '), TABLE);
  const options = parsed?.options.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`));
  expect(options && [...options, '|', ...(parsed?.args ?? [])].join(' ')).toBe(expected);
});

test.each<[string, string[] | undefined]>([
  ['log --oneline', ['log', '--oneline']],
  ['a \'b c\' "d e"', ['a', 'b c', 'd e']],
  ["'' x", ['', 'x']],
  ['a\\ b "c\\"d"', ['a b', 'c"d']],
  ["'unclosed", undefined],
  ['end\\', undefined],
])('the alias %s is split into %j', (text, words) => expect(splitCommandLine(text)).toEqual(words));
