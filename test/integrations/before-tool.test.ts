/** Before a tool runs, agt takes what a person or another program has changed since the last call. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, makeTempDir, write } from '../harness/world.ts';
import { failures, log, say, silent, toolOf } from './hooks.ts';

const before = (cwd: string, id: string) => toolOf(cwd, 'Bash', { command: 'x' }, 'PreToolUse', id);
const after = (cwd: string, id: string) => toolOf(cwd, 'Bash', { command: 'x' }, 'PostToolUse', id);

/** How an agent loses what a person has written, and has not committed. */
const LOSSES: Record<string, (folder: string) => unknown> = {
  'reset --hard': (folder) => git(folder, 'reset', '-q', '--hard'),
  checkout: (folder) => git(folder, 'checkout', '-q', '--', '.'),
  restore: (folder) => git(folder, 'restore', '.'),
  'stash, and it is dropped': (folder) => {
    git(folder, 'stash', '-q', '-u');
    git(folder, 'stash', 'drop', '-q');
  },
  clean: (folder) => {
    git(folder, 'clean', '-q', '-f', '-d');
    writeFileSync(join(folder, 'a'), '');
  },
  'rm of all': (folder) => {
    for (const name of ['a', 'new', 'd']) rmSync(join(folder, name), { recursive: true });
  },
};

test.each(Object.entries(LOSSES))('a person’s edits between two calls come back: %s', (_, lose) => {
  const session = makeSession({ a: 'a\n', 'd/b': 'b\n' });
  for (const folder of [session.sandbox, makeRepository({ a: 'a\n', 'd/b': 'b\n' })]) {
    expect(before(folder, '1')).toEqual(silent);
    writeFileSync(join(folder, 'd/b'), 'of the agent\n');
    expect(after(folder, '1')).toEqual(silent);
    const edits = { a: 'of a person\n', 'new': 'not added\n', 'd/b': 'both\n', 'd/\n': 'hostile' };
    for (const [path, content] of Object.entries(edits)) write(join(folder, path), content);
    expect(before(folder, '2')).toEqual(silent);
    lose(folder);
    expect(after(folder, '2')).toEqual(silent);
    const lost = Object.keys(edits).filter(
      (path) =>
        !existsSync(join(folder, path)) || readFileSync(join(folder, path), 'utf8') !== edits[path as 'a'],
    );
    expect(lost.length).toBeGreaterThan(1);
    agtOk(folder, 'undo');
    for (const [path, content] of Object.entries(edits))
      expect([path, readFileSync(join(folder, path), 'utf8')]).toEqual([path, content]);
  }
  expect(log(session).slice(0, 4)).toMatchObject([
    { restored: expect.anything() },
    { tool: 'Bash', call_id: '2', before: null },
    { before: 'Bash', call_id: '2', tool: null, outcome: null },
    { tool: 'Bash', call_id: '1', before: null },
  ]);
  expect(agtOk(session.repository, 'session', 'log', session.id)).toContain('(before Bash)');
  expect(failures()).toEqual([]);
});

test('the agent waits for it, also where captures are slow, and not for tools that only read', () => {
  const session = makeSession({ a: 'a\n' });
  const { sandbox, repository } = session;
  agtOk(repository, 'config', 'set', 'agt.readOnlyTools', 'mcp__docs__*');
  before(sandbox, '1');
  const slow = join(repository, '.git/agt/slow');
  write(join(slow, session.id), '..');
  writeFileSync(join(sandbox, 'a'), 'of a person\n');
  expect(toolOf(sandbox, 'mcp__docs__read', {}, 'PreToolUse', '2')).toEqual(silent);
  const count = log(session).length;
  expect(before(sandbox, '3')).toEqual(silent);
  expect(log(session).length).toBe(count + 1);
  expect(before(sandbox, '4')).toEqual(silent);
  expect(log(session).length).toBe(count + 1);
});

test('an undo of the turn says which changes of a person it takes back, and where each of them is', () => {
  const { sandbox } = makeSession({ a: 'a\n', b: 'b\n', c: 'c\n' });
  say(sandbox, 'do it');
  writeFileSync(join(sandbox, 'a'), 'of a person\n');
  before(sandbox, '1');
  rmSync(join(sandbox, 'a'));
  after(sandbox, '1');
  writeFileSync(join(sandbox, 'c'), 'of a person, too\n');
  before(sandbox, '2');
  writeFileSync(join(sandbox, 'b'), 'of the agent\n');
  after(sandbox, '2');
  const { stderr, exitCode } = agt(sandbox, 'undo', '--turn');
  expect(exitCode).toBe(0);
  const [, second = '', first = ''] =
    /^warning: that takes back your own changes, too, .*: c \(in (\w+)\), a \(in (\w+)\)\nhint: /.exec(
      stderr,
    ) ?? [];
  agtOk(sandbox, 'restore', first, '--', 'a');
  agtOk(sandbox, 'restore', second, '--', 'c');
  const texts = ['a', 'b', 'c'].map((name) => readFileSync(join(sandbox, name), 'utf8'));
  expect(texts).toEqual(['of a person\n', 'b\n', 'of a person, too\n']);
  // Nobody but the agent has done what goes now.
  say(sandbox, 'go on');
  writeFileSync(join(sandbox, 'b'), 'again\n');
  after(sandbox, '3');
  expect(agt(sandbox, 'undo', '--turn')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('in a folder without git', () => {
  const folder = makeTempDir();
  write(join(folder, 'a'), 'first');
  before(folder, '1');
  rmSync(join(folder, 'a'));
  after(folder, '1');
  agtOk(folder, 'undo');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('first');
});

test('a file of a person that the turn has destroyed is named, although the undo does not bring it', () => {
  const repository = makeRepository({ a: 'a\n' });
  say(repository, 'a prompt');
  writeFileSync(join(repository, 'own'), 'of a person\n');
  before(repository, '1');
  rmSync(join(repository, 'own'));
  writeFileSync(join(repository, 'a'), 'of the agent\n');
  after(repository, '1');
  const { stderr } = agt(repository, 'undo', '--turn');
  const commit = /own \(in ([0-9a-f]+)\)/.exec(stderr)?.[1] ?? 'none';
  agtOk(repository, 'snapshot', 'restore', commit, '--path', 'own');
  expect(readFileSync(join(repository, 'own'), 'utf8')).toBe('of a person\n');
});
