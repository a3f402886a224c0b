/** How the front is called, what it can rely on, and what reaches agt. */
import {
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Front, pathWith, SHELLS, toolEvent } from '../../harness/front.ts';
import { makeSession } from '../../harness/session.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, run, write } from '../../harness/world.ts';

const front = new Front();

test('answers agt autocommit alone: what it prints is what agt prints', () => {
  const { sandbox, repository } = makeSession();
  front.settle(sandbox);
  const expected = run(AGT, ['autocommit'], { cwd: sandbox });
  front.settle(sandbox);
  expect(front.run(sandbox, ['autocommit'])).toEqual(expected);
  expect(front.run(sandbox, ['autocommit', '--tool', 'my agent', '--wait', '10'])).toEqual(expected);
  expect(front.starts(sandbox, ['autocommit', '--wait', '1'])).toBe(false);
  expect(front.run(repository, ['autocommit', '--session-id', 's1'])).toEqual(expected);
  for (const cwd of [sandbox, repository]) expect(front.starts(cwd, ['autocommit', 's1'])).toBe(false);
  const others = [
    ['autocommit', 's2'],
    ['autocommit', '../s1'],
    ['autocommit', '--session-id', ''],
    ['autocommit', '--wait', 'x'],
    ['autocommit', '--wait', ''],
    ['autocommit', '--wait', '1', '--tool'],
    ['autocommit', '--tool', '--json'],
    ['autocommit', '--wait', '1', '--label', 'x'],
    ['autocommit', '--json'],
    ['autocommit', '--label', 'x'],
    ['autocommit', '--dry-run'],
    ['autocommit', '-q'],
    ['autocommit', '--all'],
    ['--version'],
    [],
    ['hook'],
    ['hook', 'unknown'],
    ['hook', 'claude-code', '--background'],
    ['-C', sandbox, 'autocommit'],
  ];
  for (const args of others) expect(`${args} ${front.starts(sandbox, args)}`).toBe(`${args} true`);
  expect(front.starts(repository)).toBe(true);
  expect(front.starts('/')).toBe(true);
  // agt says when the front last looked.
  const [status] = JSON.parse(agtOk(repository, 'session', 'list', '--json'));
  const seen = statSync(join(repository, '.git/agt/front/.seen-s1')).mtime;
  expect(status.last_complete_at).toBe(seen.toISOString());
});

test('passes on to agt: arguments, environment, directory, exit code and every byte of standard input', () => {
  const { sandbox } = makeSession();
  const noting = makeTempDir();
  const agt = join(noting, 'agt');
  const note = `{ pwd; printf '%s\\n' "$PWD" "$OLDPWD" "$#" "$@"; cat; } >'${join(noting, 'noted')}'; exit 9`;
  write(agt, `#!/bin/sh\n${note}\n`, 0o755);
  const bytes = Buffer.from(Array.from({ length: 255 }, (_, i) => i + 1));
  const strange = toolEvent(sandbox, { text: 'x'.repeat(200_000), umlauts: 'äöü\u0081€\u{1f600}' });
  const events = [
    bytes,
    Buffer.from(`${strange.replace('PostToolUse', 'Stop')}\n\n`),
    Buffer.from(strange.replace('PostToolUse', 'UserPromptSubmit').replaceAll('x', '\\u0078')),
    Buffer.alloc(300_000, bytes),
  ];
  for (const state of ['changed', 'unchanged']) {
    if (state === 'unchanged') front.settle(sandbox);
    for (const { name } of SHELLS) {
      for (const input of events) {
        const script = readFileSync(join(front.script(), '../real', name), 'utf8');
        // The facts name the true agt.
        const changed = script.replaceAll('"$agt_full" hook', `'${agt}' hook`);
        write(join(noting, name), changed.replaceAll('exec "$agt_full"', `exec '${agt}'`), 0o755);
        const env = { PWD: sandbox, OLDPWD: '/' };
        const outcome = run(join(noting, name), ['hook', 'claude-code'], { cwd: sandbox, input, env });
        expect(outcome).toEqual({ exitCode: 9, stdout: '', stderr: '' });
        const noted = readFileSync(join(noting, 'noted'));
        const head = `${[sandbox, sandbox, '/', 2, 'hook', 'claude-code'].join('\n')}\n`;
        expect(noted.subarray(0, head.length).toString()).toBe(head);
        const text = (buffer: Buffer) => buffer.toString('latin1').trimEnd();
        expect(text(noted.subarray(head.length)) === text(input)).toBe(true);
      }
    }
  }
});

test('answers an event alone that says that a tool has succeeded here', () => {
  const { sandbox, folder } = makeSession({ 'd/a': '' });
  front.settle(sandbox);
  const asked = (tool: string, input: string, cwd = sandbox) => front.starts(cwd, ['hook', tool], { input });
  const opencode = (more: object) =>
    JSON.stringify({ event: 'tool', cwd: sandbox, session: 's', tool: 'bash', ...more });
  const gemini = (more: object) =>
    toolEvent(sandbox, { tool_response: { llmContent: 'x' }, ...more }).replace('PostToolUse', 'AfterTool');
  const quiet: [string, string][] = [
    ['claude-code', toolEvent(sandbox)],
    ['claude-code', toolEvent(sandbox, { tool_response: { stdout: '"cwd":"/" {'.repeat(9_000) } })],
    ['claude-code', toolEvent(sandbox, { tool_input: { cwd: '/', hook_event_name: 'Stop' } })],
    ['codex', toolEvent(sandbox)],
    ['qwen', toolEvent(sandbox)],
    ['gemini', gemini({})],
    ['opencode', opencode({ failed: false })],
    ...['claude-code', 'codex', 'qwen'].map((tool): [string, string] => [
      tool,
      toolEvent(sandbox).replace('PostToolUse', 'PreToolUse'),
    ]),
    ['gemini', toolEvent(sandbox).replace('PostToolUse', 'BeforeTool')],
    [
      'codex',
      toolEvent(sandbox, {
        tool_input: { file_path: join(sandbox, 'd/a'), content: 'x'.repeat(9_000) },
      }).replace('Post', 'Pre'),
    ],
    ['opencode', opencode({ event: 'before', failed: false })],
  ];
  for (const [tool, input] of quiet) expect(`${input} ${asked(tool, input)}`).toBe(`${input} false`);
  const others: [string, string][] = [
    ...['Stop', 'UserPromptSubmit', 'PostToolUseFailure', 'SessionStart', 'SessionEnd'].map(
      (name): [string, string] => ['claude-code', toolEvent(sandbox).replace('PostToolUse', name)],
    ),
    ...[join(folder, '..', 'x'), `${sandbox}/../../x`, '/x', 'x', join(sandbox, 'a\\b')].map(
      (file_path): [string, string] => [
        'claude-code',
        toolEvent(sandbox, { tool_name: 'Write', tool_input: { file_path } }).replace(
          'PostToolUse',
          'PreToolUse',
        ),
      ],
    ),
    ['qwen', toolEvent(sandbox, { tool_input: { command: 'x'.repeat(3_000) } }).replace('Post', 'Pre')],
    ['claude-code', toolEvent('/')],
    ['claude-code', toolEvent(join(folder, 'xdg'))],
    ['claude-code', toolEvent(sandbox).replace('"cwd"', '"x"')],
    ['claude-code', toolEvent(sandbox).replace(sandbox, 'd')],
    ['claude-code', toolEvent(sandbox).replace(sandbox, sandbox.replace('s', '\\u0073'))],
    ['claude-code', `{"tool_input":{"hook_event_name":"PostToolUse"},"cwd":"${sandbox}"}`],
    ['claude-code', `{"tool_input":["hook_event_name":"PostToolUse","cwd":"${sandbox}"}`],
    ['claude-code', `{"tool_input":{"cwd":"${sandbox}"},"hook_event_name":"PostToolUse"}`],
    ['claude-code', ''],
    ['claude-code', 'no JSON'],
    ['claude-code', `[${toolEvent(sandbox)}]`],
    ['gemini', toolEvent(sandbox)],
    ['gemini', gemini({ tool_response: { error: 'x' } })],
    ['gemini', gemini({ tool_response: { returnDisplay: 'Command exited with code: 1' } })],
    ['opencode', opencode({ failed: true })],
    ['opencode', opencode({})],
    ['pi', toolEvent(sandbox)],
  ];
  for (const [tool, input] of others) expect(`${input} ${asked(tool, input)}`).toBe(`${input} true`);
  expect(asked('claude-code', toolEvent(join(sandbox, 'd')), join(sandbox, 'd'))).toBe(false);
});

test('a prompt is answered by agt, and a failed tool is recorded, although nothing has changed', () => {
  const session = makeSession();
  const { sandbox } = session;
  front.settle(sandbox);
  const event = (name: string, fields: object) =>
    toolEvent(sandbox, fields).replace('"PostToolUse"', `"${name}"`);
  const hook = (input: string) => front.run(sandbox, ['hook', 'claude-code'], { input });
  expect(hook(event('UserPromptSubmit', { prompt: 'agt snapshots' })).stdout).toContain('"decision":"block"');
  expect(hook(event('PostToolUseFailure', { error: 'Exit code 1' }))).toMatchObject({
    exitCode: 0,
    stdout: '',
  });
  expect(agtOk(sandbox, 'session', 'log')).toContain('failed');
});

test('a clock set back, facts from the future, too old, of another boot or format, or damaged', () => {
  const { sandbox, repository } = makeSession();
  front.settle(sandbox);
  const facts = join(repository, '.git/agt/front/s1');
  const text = readFileSync(facts, 'utf8');
  const { mtime } = statSync(facts);
  const withText = (changed: string) => {
    writeFileSync(facts, changed);
    utimesSync(facts, mtime, mtime);
    return front.starts(sandbox);
  };
  expect(withText(text)).toBe(false);
  expect(withText('')).toBe(true);
  expect(withText('\0'.repeat(900))).toBe(true);
  expect(withText(text.replace('\nend\n', '\n'))).toBe(true);
  expect(withText(text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-/, '00000000-0000-'))).toBe(true);
  expect(withText(text.replace(/agt-front-\S+/, 'agt-front-0'))).toBe(true);
  expect(withText(text.replace(/^says.*\n/m, ''))).toBe(true);
  expect(front.startsForTool(sandbox)).toBe(false);
  writeFileSync(facts, text);
  // The clock was set back: the scan was later than now.
  utimesSync(facts, Date.now() / 1000 + 60, Date.now() / 1000 + 60);
  expect(front.starts(sandbox)).toBe(true);
  utimesSync(facts, mtime, mtime);
  expect(front.starts(sandbox)).toBe(false);
  const until = join(repository, '.git/agt/front/.until-s1');
  utimesSync(until, 1, 1);
  expect(front.starts(sandbox)).toBe(true);
  rmSync(facts);
  expect(front.starts(sandbox)).toBe(true);
  front.settle(sandbox);
  expect(front.starts(sandbox)).toBe(false);
});

test('without find, grep or cat, with a find that knows no -cnewer, with options of the shell', () => {
  const { sandbox } = makeSession();
  front.settle(sandbox);
  const input = toolEvent(sandbox);
  const starts = (env: Record<string, string | undefined>) =>
    SHELLS.map(({ name }) =>
      run(join(front.script(), '..', name), ['hook', 'claude-code'], { cwd: sandbox, input, env }),
    ).map(({ stdout }) => stdout !== '');
  const none = SHELLS.map(() => false);
  const all = SHELLS.map(() => true);
  const link = (name: string) =>
    `#!/bin/sh\nexec ${run('sh', ['-c', `command -v ${name}`], { cwd: '/' }).stdout.trim()} "$@"\n`;
  const tools = { find: link('find'), grep: link('grep'), cat: link('cat') };
  expect(starts({ PATH: pathWith(tools) })).toEqual(none);
  for (const missing of ['find', 'grep']) {
    const { [missing as 'find']: _, ...others } = tools;
    expect(starts({ PATH: pathWith(others) })).toEqual(all);
  }
  expect(starts({ PATH: pathWith({ ...tools, find: '#!/bin/sh\nexit 1\n' }) })).toEqual(all);
  const busybox = '#!/bin/sh\nexec busybox find "$@"\n';
  expect(starts({ PATH: `${pathWith({ ...tools, find: busybox })}:${process.env['PATH']}` })).toEqual(all);
  expect(starts({ SHELLOPTS: 'noglob:nounset:errexit:noclobber:xtrace' })).toEqual(none);
  expect(starts({ HOME: '/elsewhere' })).toEqual(all);
  // They count for no hook of an agent.
  expect(starts({ GIT_DIR: '/nowhere' })).toEqual(none);
  expect(front.starts(sandbox, ['autocommit'], { env: { GIT_DIR: '/nowhere' } })).toBe(true);
  expect(front.starts(sandbox, ['autocommit'], { env: { AGT_TRACE: '1' } })).toBe(true);
  expect(front.starts(sandbox, ['autocommit'], { env: { CDPATH: '/', IFS: 'x', ENV: '/nowhere' } })).toBe(
    false,
  );
});

test('folders with hostile names; a folder that was moved, and a copy', () => {
  const parent = join(makeTempDir(), `it's "a" $(touch x) *[a-z]?.^$ \\ #1`);
  const repository = join(parent, 'sessions');
  run('mkdir', ['-p', parent], { cwd: '/' });
  renameSync(makeRepository(), repository);
  agtOk(repository, 'session', 'new', '--id', 's1');
  const sandbox = join(`${repository}.agt`, 'sessions/s1/sandbox');
  front.settle(sandbox, () => front.starts(sandbox));
  expect(front.starts(sandbox)).toBe(false);
  writeFileSync(join(sandbox, 'x'), '');
  expect(front.starts(sandbox)).toBe(true);
  front.settle(sandbox, () => front.starts(sandbox));
  run('cp', ['-a', parent, `${parent}2`], { cwd: '/' });
  expect(front.starts(sandbox.replace(parent, `${parent}2`))).toBe(true);
  renameSync(parent, `${parent}3`);
  expect(front.starts(sandbox.replace(parent, `${parent}3`))).toBe(true);
  expect(readdirSync(`${parent}3`)).toEqual(['sessions', 'sessions.agt']);
  expect(git(join(`${parent}3`, 'sessions'), 'status', '--short')).toBe('');
});

test('in a copy of the repository it does not answer for the session of the original', () => {
  const session = makeSession();
  front.settle(session.sandbox);
  const copy = join(makeTempDir(), 'copy');
  cpSync(session.repository, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  expect(front.starts(session.repository, ['autocommit', 's1'])).toBe(false);
  expect(front.starts(copy, ['autocommit', 's1'])).toBe(true);
});
