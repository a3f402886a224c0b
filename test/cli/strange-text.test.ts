/** Text of a stranger in a snapshot: a prompt, a tool, a label, the name of a file. It hides no snapshot and forges none. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tipRef } from '../../src/filter/agent-refs.ts';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';

const TEXTS = [
  'zero\0byte',
  'two\n\nAgt-Session: other\nAgt-Head: 0000',
  'Agt-Session: other',
  'red\u001b[31m text',
  `half \ud800 pair`,
  `long ${'x'.repeat(200_000)}`,
];

test('every text of an event is one line of one snapshot, whatever the settings of the user', () => {
  const { repository, sandbox, id } = makeSession();
  const settings = {
    'core.commentChar': 'A',
    'trailer.Agt-Session.key': 'Other',
    'trailer.separators': '#',
    'i18n.logOutputEncoding': 'UTF-16',
    'i18n.commitEncoding': 'latin1',
    'log.showSignature': 'true',
  };
  for (const [key, value] of Object.entries(settings)) git(repository, 'config', key, value);
  const send = (event: object) =>
    run(AGT, ['hook', 'claude-code'], { cwd: sandbox, input: JSON.stringify({ cwd: sandbox, ...event }) });
  for (const [n, text] of TEXTS.entries()) {
    write(join(sandbox, 'f'), `prompt ${n}`);
    expect(send({ hook_event_name: 'UserPromptSubmit', session_id: text, prompt: text }).exitCode).toBe(0);
    write(join(sandbox, 'f'), `call ${n}`);
    const call = { tool_name: text, tool_use_id: text, tool_input: { file_path: text } };
    expect(send({ hook_event_name: 'PostToolUse', session_id: text, ...call }).exitCode).toBe(0);
  }
  const history = (): { label: string | null; tool: string | null; commit: string }[] =>
    JSON.parse(Buffer.from(agtOk(repository, 'session', 'log', id, '--json'), 'latin1').toString());
  const listed = history();
  expect(listed).toHaveLength(2 * TEXTS.length);
  expect(agtOk(repository, 'session', 'log', id)).not.toContain('(in ');
  for (const { label, tool } of listed) {
    expect(`${label}${tool}`).not.toMatch(/\p{Cc}/u);
    expect(`${label}${tool}`.length).toBeLessThan(10_000);
  }
  expect(listed.at(-1)?.label).toBe('prompt: zero byte');
  expect(git(repository, 'fsck', '--strict')).toBe('');
  agtOk(repository, 'session', 'restore', id, '--to', `@{${listed.length - 1}}`);
  expect(readFileSync(join(sandbox, 'f'), 'utf8')).toBe('prompt 0');
});

test('a snapshot whose message is damaged hides none below it, and doctor names it', () => {
  const { repository, sandbox, id } = makeSession();
  const capture = (content: string, ...options: string[]) => {
    write(join(sandbox, 'f'), content);
    agtOk(repository, 'autocommit', id, ...options);
  };
  capture('one', '--label', 'first');
  capture('two');
  const tip = tipRef(id);
  const branch = `refs/heads/agtsessions/${id}`;
  const [content] = [run(REAL_GIT, ['cat-file', 'commit', branch], { cwd: repository }).stdout];
  // As a build stored it whose text ended at a NUL, and with the trailers lost.
  const messages = {
    nul: content.replace('agt autocommit', 'by\0a stranger'),
    lost: content.replace(/Agt-.*\n/g, ''),
  };
  for (const [kind, text] of Object.entries(messages)) {
    const parent = `parent ${git(repository, 'rev-parse', branch)}\n`;
    const input = text.replace(/^parent .*\n/gm, '').replace(/^tree .*\n/, `$&${parent}`);
    const made = run(REAL_GIT, ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], {
      cwd: repository,
      input,
    });
    for (const ref of [tip, branch]) git(repository, 'update-ref', ref, made.stdout.trim());
    capture(`after ${kind}`);
  }
  const listed = JSON.parse(agtOk(repository, 'session', 'log', id, '--json'));
  expect(listed.map(({ label }: { label: string }) => label)).toEqual([
    null,
    null,
    null,
    null,
    null,
    'first',
  ]);
  const found = agt(repository, 'doctor').stdout;
  expect(found.match(/is damaged/g)).toHaveLength(1);
  expect(found).toContain(`snapshot ${listed[1].commit.slice(0, 10)}`);
  agtOk(repository, 'gc', '--thin');
  agtOk(repository, 'session', 'restore', id, '--to', 'first');
  expect(readFileSync(join(sandbox, 'f'), 'utf8')).toBe('one');
});

test('digits are a commit first; a time in the future is no snapshot', () => {
  const { repository, sandbox, id } = makeSession();
  write(join(sandbox, 'f'), 'one');
  agtOk(repository, 'autocommit', id);
  const restored = agt(repository, 'session', 'restore', id, '--to', '4345678901');
  expect(restored).toMatchObject({ exitCode: 1, stdout: '' });
  expect(restored.stderr).toContain('is in the future');
});

test('an argument that is not UTF-8 is refused: Node has lost its bytes', () => {
  const { repository, sandbox, id } = makeSession();
  const bytes = (text: string) => `$(printf '${text}')`;
  const lost = Buffer.from('\ufffd').toString('latin1');
  const inShell = (words: string) => run('sh', ['-c', `"$0" ${words}`, AGT], { cwd: sandbox });
  expect(inShell(`blame "${bytes('caf\\351')}"`)).toMatchObject({
    exitCode: 2,
    stderr: `error: "caf${lost}" is not UTF-8, and commands of agt take no such argument\nhint: name the directory that it is in; git itself takes it: agt git\n`,
  });
  expect(inShell(`autocommit ${id} --label "${bytes('\\357\\277\\275')}"`).exitCode).toBe(0);
  expect(agtOk(repository, 'session', 'log', id)).toContain(lost);
});

test('no name of a file reaches a terminal as it is by a warning, an error or a hint', () => {
  const name = 'red\u001b[31m\rerror';
  const { repository, sandbox } = makeSession({ [name]: '1\n' });
  git(repository, 'remote', 'add', 'origin', makeRepository());
  write(join(sandbox, name), '2\n');
  git(sandbox, 'commit', '-qam', 'changed');
  agtOk(repository, 'review', 's1', '--reject', name, '-m', 'no');
  for (const words of [
    ['export', 's1', '-n'],
    ['accept', name, '-n'],
    ['undo', 'step', name],
  ]) {
    const { stderr } = agt(repository, ...words);
    expect(stderr).toContain('red\\u001b[31m\\rerror');
    expect(stderr).not.toMatch(/[\u001b\r]/);
  }
});

test('the name of a file is on one line of a list', () => {
  const { repository, sandbox } = makeSession({ 'new\nline': '1\n' });
  write(join(sandbox, 'new\nline'), '2\n');
  agtOk(repository, 'review', 's1', '--reject', 'new\nline', '-m', 'no');
  write(join(sandbox, 'k\n1.pem'), 'key\n');
  const told = (...words: string[]) => agt(repository, ...words).stderr;
  expect(told('accept', 's1', '-n')).toContain('\nhint: "k\\n1.pem: looks like a key or a login"\n');
  expect(told('accept', 's1', '-n', '--untracked=all')).toContain('stays out: "new\\nline"\n');
  agtOk(repository, 'reject', 's1');
  expect(told('uninstall')).toContain(' ("k\\n1.pem", "new\\nline")\n');
});
