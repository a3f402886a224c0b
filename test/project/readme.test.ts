/** README's "Five minutes", as typed, on repositories of different kinds; and what it prints. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, git, makeRepository, makeTempDir, run } from '../harness/world.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const part = readme.slice(readme.indexOf('\n## Five minutes\n')).split('\n## ')[1] ?? '';
const block = [...part.matchAll(/^ {4}(.*)$/gm)].map(([, line = '']) => line);
const commands = block.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
const output = block.filter((line) => !line.startsWith('$ '));

/** Runs the commands in one shell, where agt is on PATH. */
function type(repository: string) {
  const home = makeTempDir('home');
  const bin = join(home, '.local/bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(AGT, join(bin, 'agt'));
  writeFileSync(join(home, 'typed'), commands.join('\n'));
  const env = { HOME: home, PATH: `${bin}:${process.env['PATH']}` };
  return { home, done: run('sh', ['-e', join(home, 'typed')], { cwd: repository, env }) };
}

const EOL = { '.gitattributes': '* text=auto eol=crlf\n', 'a.txt': 'one\n', 'b.txt': 'two\n' };

const REPOSITORIES: readonly (readonly [kind: string, make: () => string])[] = [
  ['a small one', () => makeRepository({ 'main.c': 'int main;\n', '.gitignore': '.env\n*.c\n' })],
  ['eol attributes, nothing ignored', () => makeRepository(EOL)],
  ['that of agt', () => clone(root)],
  ...(process.env['AGT_TEST_REPOSITORY'] === undefined
    ? []
    : ([['the given one', () => clone(process.env['AGT_TEST_REPOSITORY'] ?? '')]] as const)),
];

function clone(source: string): string {
  const directory = join(makeTempDir(), 'project');
  git('/', 'clone', '-q', '--no-hardlinks', source, directory);
  git(directory, 'checkout', '-q', '-B', 'main');
  return directory;
}

test.each(REPOSITORIES)('runs as typed: %s', (_, make) => {
  const repository = make();
  const { done } = type(repository);
  expect(done).toMatchObject({ exitCode: 0 });
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('Fix the login');
  expect(git(repository, 'diff', '--name-only', 'HEAD~', 'HEAD')).toBe('fix-login.c');
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(git(repository, 'branch', '--list', 'agt/*')).toBe('');
});

test('prints what README says', () => {
  const repository = makeRepository();
  git(repository, 'commit', '-q', '--amend', '-m', 'Start');
  const { done, home } = type(repository);
  const shape = (text: string) =>
    text
      .replaceAll(join(repository, '..'), '~')
      .replaceAll(home, '~')
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'DATE')
      .replace(/\b[0-9a-f]{7,10}\b/g, 'HASH')
      .replace(/\d+(s| seconds?)\b/g, 'SECONDS');
  const printed = shape(done.stdout).split('\n');
  expect(output.map(shape).filter((line) => !printed.includes(line))).toEqual([]);
});
