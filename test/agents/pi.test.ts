/** pi itself, with the extension of agt: forks and moves in the tree bring the files back. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { git, makeRepository, makeTempDir, write } from '../harness/world.ts';
import { Pi, piProblem } from './pi-rpc.ts';

beforeEach(({ skip }) => skip(piProblem !== undefined, piProblem));

let pi: Pi;
afterEach(() => pi?.close());

/** pi goes on with snapshots meanwhile. */
function removeStore(): void {
  rmSync(join(pi.home, '.local/state/agt'), { recursive: true, maxRetries: 20 });
}

const bash = (command: string) => ({ tool: 'bash', args: { command } });

test('in a git checkout: fork to a turn and to the baseline, undo, deletions and ignored files', async () => {
  const project = makeRepository({ old: 'old\n', '.gitignore': '*.log\n' });
  write(join(project, 'x.log'), 'log 0\n');
  const head = git(project, 'rev-parse', 'HEAD');
  pi = new Pi(project);
  await pi.prompt('first', bash('echo 1 > one; rm old'), bash('echo log 1 > x.log; exit 3'));
  writeFileSync(join(project, 'mine'), 'by the user\n');
  await pi.prompt('second', bash('echo 2 > one; mkdir sub; echo s > sub/two; rm mine'));
  expect(await pi.fork('second')).toBe(true);
  expect(pi.questions.at(-1)).toMatch(/\+ mine\n~ one\n- sub\/two/);
  expect([pi.read('one'), pi.read('mine'), pi.read('x.log')]).toEqual(['1\n', 'by the user\n', 'log 1\n']);
  expect(existsSync(join(project, 'sub'))).toBe(false);

  await pi.prompt('third', bash('echo 3 > three'));
  expect(await pi.fork('first')).toBe(true);
  expect(
    readdirSync(project)
      .filter((name) => name !== '.git')
      .sort(),
  ).toEqual(['.gitignore', 'old', 'x.log']);
  expect(await pi.command('/agt-undo')).toMatch(/restored \d files?/);
  expect(pi.read('three')).toBe('3\n');
  expect(await pi.command('/agt-redo')).toMatch(/restored/);
  expect(existsSync(join(project, 'three'))).toBe(false);
  await pi.prompt('fourth', bash('echo 4 > four'), bash('echo 5 > four'));
  expect(await pi.command('/agt-undo')).toMatch(/^agt: restored 1 file of "fourth (.|\n)*\n- four$/);
  expect(existsSync(join(project, 'four'))).toBe(false);

  const log = JSON.parse(pi.agt('session', 'log', '--json')) as {
    agent: string;
    tool: string;
    label: string;
  }[];
  expect(log.every(({ agent, label }) => agent === 'pi' || label === null)).toBe(true);
  expect(log.map(({ tool }) => tool)).toContain('bash');
  expect(log.map(({ label }) => label).find((label) => /^prompt: first/.test(label))).toBeDefined();
  expect(git(project, 'status', '--porcelain')).toBe('');
  expect(git(project, 'rev-parse', 'HEAD')).toBe(head);
  expect(git(project, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

test("a person's edits that a call destroys come back", async () => {
  const project = makeRepository({ f: 'committed\n' });
  pi = new Pi(project);
  const meanwhile = "echo 'of a person' >f";
  await pi.prompt('go', bash('echo 1 >one'), { ...bash('git checkout -q -- f'), meanwhile });
  expect(pi.read('f')).toBe('committed\n');
  pi.agt('undo');
  expect([pi.read('f'), pi.read('one')]).toEqual(['of a person\n', '1\n']);
});

test('in a folder without git: keep, cancel, tree, a snapshot that is gone', async () => {
  const folder = makeTempDir('notes');
  write(join(folder, 'a'), 'a\n');
  pi = new Pi(folder);
  await pi.prompt('first', bash('echo b > a'));
  await pi.prompt('second', bash('echo c > a; echo n > new'));
  pi.answer = 'Cancel';
  expect(await pi.fork('second')).toBe(false);
  expect(pi.read('a')).toBe('c\n');
  const entries = await pi.entries();
  expect(
    entries.filter(({ customType }) => customType === 'agt').map(({ data }) => Object.keys(data)),
  ).toContainEqual(['state', 'session', 'why']);
  const answers = entries.filter(({ message }) => message?.role === 'assistant');
  pi.answer = 'Restore';
  // The end of the first run: its changes are there.
  expect(await pi.command(`/test-tree ${answers[1].id}`, /^tree/)).toBe('tree done');
  expect([pi.read('a'), existsSync(join(folder, 'new'))]).toEqual(['b\n', false]);
  expect(await pi.command(`/test-tree ${answers.at(-1).id}`, /^tree/)).toBe('tree done');
  expect([pi.read('a'), pi.read('new')]).toEqual(['c\n', 'n\n']);
  pi.answer = 'Keep';
  expect(await pi.fork('first')).toBe(true);
  expect(pi.read('a')).toBe('c\n');
  removeStore();
  await pi.prompt('third', bash('echo d > a'));
  removeStore();
  expect(await pi.fork('third')).toBe(true);
  expect(pi.notes.at(-1)).toMatch(/the files stay as they are/);
});

test('in a session of agt, and without agt', async () => {
  const { sandbox } = makeSession({ a: 'a\n' });
  pi = new Pi(sandbox);
  await pi.prompt('first', bash('echo b > a; echo i > ignored'));
  expect(await pi.fork('first')).toBe(true);
  expect([pi.read('a'), existsSync(join(sandbox, 'ignored'))]).toEqual(['a\n', false]);
  expect(existsSync(join(pi.home, '.local/state/agt/folders'))).toBe(false);
  for (const name of ['name', 'email']) git(sandbox, 'config', `user.${name}`, 'Ada');
  expect(await pi.command('/agt-list')).toMatch(/^ID .*\ns1 /);
  await pi.prompt('second', bash('echo c > a'));
  pi.answer = 'Yes';
  expect(await pi.command('/agt-accept')).toMatch(/^accepted s1: /);
  expect(pi.questions.at(-1)).toMatch(/^would accept s1: /);
  await pi.close();

  const folder = makeTempDir();
  pi = new Pi(folder, { agt: makeTempDir() });
  await pi.prompt('first', bash('echo b > a'));
  expect(pi.read('a')).toBe('b\n');
  expect(await pi.fork('first')).toBe(true);
  expect([...new Set(pi.notes.filter((note) => note.startsWith('agt: ')))]).toEqual([
    'agt: cannot run agt, so there are no snapshots',
  ]);
});
