/** agt session run with the profile of an agent: where conversations go, and how the agent calls agt in one run. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionIn } from '../harness/session.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';

test('the agent gets hooks and variables for this run alone, unless its settings have them', () => {
  const repository = makeRepository();
  const { sandbox, folder } = sessionIn(repository);
  const bin = makeTempDir('bin');
  const home = makeTempDir('home');
  for (const program of ['claude', 'pi', 'opencode', 'qwen'])
    write(join(bin, program), '#!/bin/sh\nfor word; do echo "word $word"; done\nenv\n', 0o755);
  const start = (profile: string, words: string[], env = {}) => {
    const path = [bin, process.env['PATH']].join(delimiter);
    const args = ['session', 'run', '--profile', profile, '--', ...words];
    return run(AGT, args, { cwd: sandbox, env: { HOME: home, PATH: path, ...env } }).stdout;
  };
  const claude = start('claude-code', ['claude', '-p', 'hello']);
  const [, settings = ''] = /^word --settings\nword ([\s\S]*?)\nword -p\nword hello$/m.exec(claude) ?? [];
  expect(JSON.parse(settings).hooks.Stop[0].hooks[0].command).toMatch(
    /^'\/.*\/\.git\/agt\/agents\/agt' hook claude-code$/,
  );
  expect(claude).not.toMatch(/^(CLAUDE_CONFIG_DIR|XDG_)/m);
  expect(start('claude-code', ['env', 'echo', 'x'])).toBe('x\n');

  for (const [isOn, word] of [
    [true, 'x'],
    [false, '--settings'],
  ] as const) {
    write(join(home, '.claude/settings.json'), JSON.stringify({ enabledPlugins: { 'agt@market': isOn } }));
    expect(start('claude-code', ['claude', 'x'])).toMatch(new RegExp(`^word ${word}\n`));
  }

  const pi = start('pi', ['pi', 'hello']);
  const extension = join(repository, '.git/agt/agents/agt-pi.ts');
  expect(pi).toContain(`word -e\nword ${extension}\nword hello\n`);
  expect(pi).toContain(`\nPI_CODING_AGENT_SESSION_DIR=${folder}/xdg/pi\n`.replace('/sandbox/..', ''));
  expect(readFileSync(extension, 'utf8')).toContain(`const AGT = ${JSON.stringify(AGT)};`);

  const opencode = start('opencode', ['opencode']);
  expect(opencode).toMatch(/^OPENCODE_DB=.*\/s1\/xdg\/opencode\.db$/m);
  expect(opencode).toMatch(
    /^OPENCODE_CONFIG_CONTENT=\{"plugin":\["file:.*agt-opencode\.js"\],"snapshot":false\}$/m,
  );
  const own = { OPENCODE_CONFIG_CONTENT: '{}' };
  expect(start('opencode', ['opencode'], own)).toMatch(/^OPENCODE_CONFIG_CONTENT=\{\}$/m);
  expect(start('qwen', ['qwen', 'x'])).toMatch(/^word x\n[\s\S]*^QWEN_RUNTIME_DIR=.*\/xdg\/qwen$/m);

  write(join(home, '.agtconfig'), '[profile "qwen"]\n\tenv = QWEN_RUNTIME_DIR=/elsewhere\n');
  expect(start('qwen', ['qwen'])).toMatch(/^QWEN_RUNTIME_DIR=\/elsewhere$/m);
  run(AGT, ['hooks', 'install', 'claude-code', 'pi'], { cwd: home, env: { HOME: home, PATH: bin } });
  mkdirSync(join(home, '.pi/agent'), { recursive: true });
  expect(start('claude-code', ['claude', 'x'])).toMatch(/^word x\n(?!word)/);
});

test('conversations beside a login are copied into sessions of that agent, through no link', () => {
  const repository = makeRepository();
  agtOk(repository, 'session', 'new', 's1', '--profile', 'claude-code');
  agtOk(repository, 'session', 'new', 's2');
  const transcript = join(makeTempDir(), 'talk.jsonl');
  write(transcript, '{"said":"hello"}\n');
  const stop = (id: string) => {
    const cwd = `${repository}.agt/sessions/${id}/sandbox`;
    const event = { cwd, hook_event_name: 'Stop', transcript_path: transcript };
    const outcome = run(AGT, ['hook', 'claude-code'], { cwd: '/', input: JSON.stringify(event) });
    expect(outcome).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  };
  stop('s1');
  stop('s2');
  const kept = 'xdg/claude-code/talk.jsonl';
  expect(git(repository, 'show', `agtsessions/s1:${kept}`)).toBe('{"said":"hello"}');
  expect(existsSync(`${repository}.agt/sessions/s2/${kept}`)).toBe(false);

  const elsewhere = makeTempDir();
  const directory = `${repository}.agt/sessions/s1/xdg/claude-code`;
  rmSync(directory, { recursive: true });
  symlinkSync(elsewhere, directory);
  stop('s1');
  expect(readdirSync(elsewhere)).toEqual([]);
  rmSync(directory);
  mkdirSync(directory);
  const other = join(elsewhere, 'other');
  write(other, 'mine');
  for (const name of ['talk.jsonl', 'talk.jsonl.agt-new']) symlinkSync(other, join(directory, name));
  stop('s1');
  expect(readFileSync(other, 'utf8')).toBe('mine');
  expect(readFileSync(join(directory, 'talk.jsonl'), 'utf8')).toBe('{"said":"hello"}\n');
});

test('isolate: settings are their own, the login stays outside of snapshots, through no link', () => {
  const repository = makeRepository();
  const { sandbox, folder } = sessionIn(repository);
  const home = makeTempDir('home');
  const settings = (text: string) => write(join(home, '.agtconfig'), `[profile "claude-code"]\n\t${text}\n`);
  const start = (profile: string, ...words: string[]) =>
    run(AGT, ['run', 's1', '--profile', profile, '--', ...words], { cwd: sandbox, env: { HOME: home } });
  write(join(home, '.claude/.credentials.json'), 'secret\n');
  settings('isolate = true');
  const own = join(folder, 'config/claude-code').replace('/sandbox/..', '');
  expect(start('claude-code', 'sh', '-c', 'echo $CLAUDE_CONFIG_DIR; cat $CLAUDE_CONFIG_DIR/.cr*')).toEqual({
    exitCode: 0,
    stdout: `${own}\nsecret\n`,
    stderr: '',
  });
  const login = join(own, '.credentials.json');
  expect(readlinkSync(login)).toBe(join(home, '.claude/.credentials.json'));
  // An agent that renews its login may replace the link.
  const replace =
    'cd $CLAUDE_CONFIG_DIR; echo renewed > x; echo mine > settings.json; mv x .credentials.json';
  expect(start('claude-code', 'sh', '-c', replace).exitCode).toBe(0);
  expect(git(repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s1', 'config')).toBe(
    'config/claude-code/settings.json',
  );
  expect(readFileSync(login, 'utf8')).toBe('renewed\n');
  expect(readFileSync(join(folder, '.agtignore'), 'utf8')).toBe('/config/claude-code/.credentials.json\n');

  rmSync(own, { recursive: true });
  symlinkSync(home, own);
  expect(start('claude-code', 'true')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/config\/claude-code is not a directory\nhint: remove it/),
  });
  settings('isolate = perhaps');
  expect(start('claude-code', 'true').stderr).toMatch(
    /^error: invalid value "perhaps" for profile\.claude-code\.isolate \(.*\.agtconfig\)\nhint: it is true or false/,
  );
  write(join(home, '.agtconfig'), '[profile "pi"]\n\tisolate\n');
  expect(start('pi', 'true').stderr).toMatch(/^error: profile\.pi\.isolate: pi has no variable/);
});
