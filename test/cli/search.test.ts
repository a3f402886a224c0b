/** `agt search`: who brought a text, and who took it away. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommitAt } from '../harness/opened.ts';
import { autocommit, makeSession, sessionIn, sessionOf, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

interface Found {
  session_id: string | null;
  folder: string | null;
  commit: string;
  agent: string | null;
  prompt: string | null;
  tool: string | null;
  path: string | null;
  change: string;
  line: number | null;
  text: string | null;
}

function search(cwd: string, ...words: string[]): Found[] {
  const [before, after] = words.includes('--')
    ? [words.slice(0, words.indexOf('--')), words.slice(words.indexOf('--'))]
    : [words, []];
  const { stdout, stderr } = agt(cwd, 'search', '--json', ...before, ...after);
  expect(stderr).toBe('');
  return JSON.parse(Buffer.from(stdout, 'latin1').toString()) as Found[];
}

const shown = (found: readonly Found[]) =>
  found.map(({ session_id, change, path, line, text }) => [session_id, change, path, line, text]);

const inSandbox = ({ sandbox }: TestSession, path: string, content: string | Buffer) =>
  write(join(sandbox, path), content);

/** A prompt, an edit that brings `needle()`, one that moves it, and one that takes it away. */
function fourSteps(): TestSession {
  const session = makeSession({ 'src/a.ts': 'one\ntwo\n', 'b.ts': 'needle() of the start\n' });
  autocommit(session, '--label', 'prompt: make the needle');
  inSandbox(session, 'src/a.ts', 'one\n\tneedle();\ntwo\n');
  agtOk(session.repository, 'session', 'record', 's1', '--tool', 'Edit', '--summary', 'add it');
  inSandbox(session, 'src/a.ts', 'one\ntwo\n\tneedle();\n');
  autocommit(session, '--label', 'moved');
  inSandbox(session, 'src/a.ts', 'one\ntwo\n');
  autocommit(session);
  return session;
}

describe('agt search', () => {
  test('lists the snapshots in which the text came or went, newest first, and none else', () => {
    const session = fourSteps();
    const found = search(session.repository, 'needle()');
    expect(shown(found)).toEqual([
      ['s1', 'went', 'src/a.ts', 3, '\tneedle();'],
      ['s1', 'came', 'src/a.ts', 2, '\tneedle();'],
    ]);
    expect(found[1]).toMatchObject({ tool: 'Edit', prompt: 'make the needle' });
    const [headings, , came] = agtOk(session.repository, 'search', 'needle()').split('\n');
    expect(headings).toMatch(/^SESSION {2}SNAPSHOT {4}WHEN {17}AGENT {2}STEP {13}TEXT$/);
    expect(came).toMatch(
      /^s1 {7}[0-9a-f]{10} {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}- {6}Edit: add it {5}\+ src\/a\.ts:2: needle\(\);$/,
    );
    const name = came?.split(/ +/)[1] ?? '';
    expect(agtOk(session.repository, 'cat', 's1', `${name}:src/a.ts`)).toBe('one\n\tneedle();\ntwo');
    agtOk(session.repository, 'restore', 's1', name);
    // The restore makes a snapshot as well.
    expect(agtOk(session.repository, 'search', 'needle()')).toContain(` (restored ${name}) `);
    expect(search(session.repository, 'needle()').map(({ change }) => change)).toEqual([
      'came',
      'went',
      'came',
    ]);
    agtOk(session.repository, 'undo', 's1');
    expect(agtOk(session.repository, 'search', 'needle()')).toMatch(/ \(undo to \w{10}\) +- src/);
  });

  test('the first snapshot brings what the start commit has not', () => {
    const session = makeSession({ a: 'tracked\n', '.gitignore': 'ignored\n', '.gitmodules': 'tracked\n' });
    inSandbox(session, 'ignored', 'tracked too\n');
    write(join(session.folder, 'xdg/log'), 'tracked log\n');
    autocommit(session);
    expect(shown(search(session.repository, 'tracked'))).toEqual([
      ['s1', 'came', 'ignored', 1, 'tracked too'],
      ['s1', 'came', 'xdg/log', 1, 'tracked log'],
    ]);
  });

  test('knows sessions that are accepted, rejected and removed', async () => {
    const repository = makeRepository({ a: 'a\n' });
    for (const id of ['s1', 's2', 's3']) {
      const session = sessionIn(repository, id);
      inSandbox(session, `by-${id}`, 'the needle\n');
      await autocommitAt(session, new Date(1_700_000_000_000 + Number(id.slice(1)) * 1000));
    }
    agtOk(repository, 'accept', 's1', '-m', 'taken');
    agtOk(repository, 'reject', 's2', '--force');
    agtOk(repository, 'remove', 's3', '--force');
    expect(search(repository, 'needle').map(({ path }) => path)).toEqual(['by-s3', 'by-s2', 'by-s1']);
    expect(search(repository, 'needle', '--session', 's2').map(({ path }) => path)).toEqual(['by-s2']);
  });

  test('knows the snapshots of the folder that one is in, beside those of sessions', async () => {
    const session = makeSession({ 'src/a': 'a\n' });
    inSandbox(session, 'src/a', 'needle\n');
    await autocommitAt(session, new Date(1_700_000_000_000));
    write(join(session.repository, 'src/a'), 'a needle\n');
    agtOk(session.repository, 'snapshot');
    const found = search(join(session.repository, 'src'), 'needle', '--', 'a');
    expect(found.map(({ session_id, folder, path }) => [session_id, folder, path])).toEqual([
      [null, session.repository, 'src/a'],
      ['s1', null, 'src/a'],
    ]);
    const name = found[0]?.commit.slice(0, 10) ?? '';
    expect(agtOk(session.repository, 'search', 'needle')).toContain(`project (folder)  ${name}`);
    agtOk(session.repository, 'snapshot', 'restore', name);
  });

  test('takes a regular expression, capital letters, a path, a time and a number', () => {
    const session = fourSteps();
    const { repository, sandbox } = session;
    inSandbox(session, 'b.ts', 'Needle() of the start\n');
    autocommit(session);
    const names = (...words: string[]) =>
      search(repository, ...words).map(({ change, path }) => `${change} ${path}`);
    expect(names('-G', '^[[:space:]]+needle[(]')).toEqual([
      'went src/a.ts',
      'came src/a.ts',
      'came src/a.ts',
    ]);
    expect(names('-G', 'NEEDLE', '-i', '-n', '1')).toEqual(['came b.ts']);
    expect(names('needle()')).toEqual(['went b.ts', 'went src/a.ts', 'came src/a.ts']);
    expect(names('NEEDLE()', '-i')).toEqual(['went src/a.ts', 'came src/a.ts']);
    expect(names('needle()', '--path', 'b.ts')).toEqual(['went b.ts']);
    expect(names('needle()', '--', ':!b.ts')).toEqual(['went src/a.ts', 'came src/a.ts']);
    expect(search(join(sandbox, 'src'), 'needle()', '--', 'a.ts').length).toBe(2);
    expect(names('needle()', '-n', '2')).toEqual(['went b.ts', 'went src/a.ts']);
    expect(names('needle()', '--since', '1 hour ago').length).toBe(3);
    expect(names('needle()', '--since', '2099-01-01')).toEqual([]);
  });

  test('a program that runs later did not make the snapshots before it', () => {
    const { repository } = fourSteps();
    agtOk(repository, 'session', 'run', 's1', '--', 'true');
    const [view] = JSON.parse(agtOk(repository, 'list', '--json'));
    expect(view.agent).toBe('true');
    expect(search(repository, 'needle()').map(({ agent }) => agent)).toEqual([null, null]);
  });

  test('searches prompts', () => {
    const { repository } = fourSteps();
    expect(search(repository, '--prompt', 'The needle')).toMatchObject([
      { prompt: 'make the needle', path: null },
    ]);
    expect(search(repository, '--prompt', '-G', '^MAKE.*e$')).toHaveLength(1);
    expect(search(repository, '--prompt', 'moved')).toEqual([]);
    expect(agtOk(repository, 'search', '--prompt', 'the needle')).toMatch(
      /^SESSION .* {2}PROMPT\n.* {2}make the needle$/,
    );
    expect(agt(repository, 'search', '--prompt', 'x', '--', 'a').exitCode).toBe(2);
  });

  test('the line that came, where one like it was there before', () => {
    const session = makeSession({ f: 'old needle\nneedle\nend\n' });
    autocommit(session);
    inSandbox(session, 'f', 'old needle\nneedle\nend\nneedle\n');
    autocommit(session);
    for (const words of [['needle'], ['-G', 'need.e']])
      expect(shown(search(session.repository, ...words))).toEqual([['s1', 'came', 'f', 4, 'needle']]);
  });

  test('texts of several lines, binary files, and names and texts that are not UTF-8', () => {
    const session = makeSession({ lines: 'b\na\n', binary: Buffer.from('x\0') });
    autocommit(session);
    inSandbox(session, 'lines', 'a\nb\n');
    inSandbox(session, 'binary', Buffer.from('\0needle'));
    const latin1 = Buffer.concat([Buffer.from(session.sandbox), Buffer.from('/\xe9\nx', 'latin1')]);
    writeFileSync(latin1, 'needle\n');
    autocommit(session);
    inSandbox(session, 'latin1', Buffer.from('caf\xe9 needle \x1b[31m\n', 'latin1'));
    symlinkSync('needle', join(session.sandbox, 'link'));
    autocommit(session);
    inSandbox(session, 'lines', 'a\nx\nb\n');
    autocommit(session);
    expect(shown(search(session.repository, 'a\nb'))).toEqual([
      ['s1', 'went', 'lines', 1, 'a\nb'],
      ['s1', 'came', 'lines', 1, 'a\nb'],
    ]);
    expect(shown(search(session.repository, 'needle'))).toEqual([
      ['s1', 'came', 'latin1', 1, 'caf\ufffd needle \u001b[31m'],
      ['s1', 'came', 'link', 1, 'needle'],
      ['s1', 'came', 'binary', 1, null],
      ['s1', 'came', '\ufffd\nx', 1, 'needle'],
    ]);
    const text = agtOk(session.repository, 'search', 'needle');
    expect(text).toContain('+ binary:(binary)');
    expect(text).not.toContain('\u001b');
  });

  test('equals a count in the files of each two snapshots', () => {
    const session = makeSession({ f0: 'x\n' });
    let seed = 7;
    const random = (most: number) => {
      seed = (seed * 48271) % 0x7fffffff;
      return seed % most;
    };
    const files = new Map([['f0', 'x\n']]);
    const expected: string[] = [];
    for (let n = 0; n < 12; n++) {
      const path = `f${random(3)}`;
      const content = Array.from({ length: random(4) }, () => ['x', 'xx', 'y'][random(3)]).join('\n');
      const count = (text = '') => text.split('x').length - 1;
      const [before, after] = [count(files.get(path)), count(content)];
      if (before !== after) expected.unshift(`${after > before ? 'came' : 'went'} ${path}`);
      files.set(path, content);
      inSandbox(session, path, content);
      autocommit(session);
    }
    expect(search(session.repository, 'x').map(({ change, path }) => `${change} ${path}`)).toEqual(expected);
  });

  test('without a result it exits with 1; an empty or wrong text is an error', () => {
    const { repository } = fourSteps();
    const outcomes = [['nothing'], [''], [], ['a', '-G', 'b'], ['-G', '('], ['x', '--', '/etc']].map(
      (words) => {
        const { exitCode, stdout, stderr } = agt(repository, 'search', ...words);
        return [exitCode, stdout, stderr.split('\n')[0]];
      },
    );
    expect(outcomes).toEqual([
      [1, '', 'note: nothing found in 4 snapshots'],
      [2, '', 'error: the text is empty'],
      [2, '', 'error: no text given'],
      [2, '', 'error: a text and -G are given'],
      [2, '', expect.stringMatching(/^error: "\(" is no regular expression: /)],
      [2, '', expect.stringMatching(/^error: "\/etc" is not in /)],
    ]);
    expect(agt(makeRepository(), 'search', 'x', '--prompt')).toMatchObject({
      exitCode: 1,
      stderr: 'note: nothing found in 0 snapshots; agt keeps only the first words of a prompt\n',
    });
    expect(agt(makeTempDir(), 'search', 'x').stderr).toMatch(/^error: not in a git repository/);
  });

  test('streams into the pager of git on a terminal, and ends with it', ({ skip }) => {
    if (run('sh', ['-c', 'command -v script'], { cwd: '/' }).exitCode !== 0)
      skip('no script(1) to make a terminal');
    const { repository } = fourSteps();
    const see = (pager: string) =>
      run('script', ['-qec', `'${AGT}' search 'needle()'`, '/dev/null'], {
        cwd: repository,
        env: { GIT_PAGER: pager, TERM: 'xterm' },
      });
    expect(
      see('sed s/^/paged:/').stdout.match(/^paged:s1 .*\u001b\[3[12]m[+-]\u001b\[m src\/a\.ts/gm),
    ).toHaveLength(2);
    expect(see('true').exitCode).toBe(0);
  });
});

test('--session searches all snapshots of a fork, also those that it shares', () => {
  const repository = makeRepository();
  agtOk(repository, 'session', 'new', '--id', 's1');
  write(join(sessionOf(repository, 's1').sandbox, 'new.txt'), 'needle\n');
  agtOk(repository, 'autocommit', 's1');
  agtOk(repository, 'session', 'fork', 's1', '--id', 's2');
  for (const id of ['s1', 's2'])
    expect(agtOk(repository, 'search', '--session', id, 'needle')).toContain('new.txt:1: needle');
});

test('a line that came before a prompt is of no agent; the prompt is', () => {
  const repository = makeRepository();
  const agent = agentIn(repository, 'claude-code', 'c-1');
  agent.says('first needle');
  agent.begins('1');
  write(join(repository, 'of-agent'), 'needle\n');
  agent.ends('1');
  write(join(repository, 'mine'), 'needle\n');
  agent.says('second needle');
  const agentsOf = (...words: string[]) => search(repository, ...words).map(({ agent }) => agent);
  expect(agentsOf('needle')).toEqual([null, 'claude']);
  expect(agentsOf('--prompt', 'needle')).toEqual(['claude', 'claude']);
});
