/** agt plugin: a folder that an agent loads. test/agents gives it to the agents themselves. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parsePrompt } from '../../src/agtmode/hooks/prompts.ts';
import { agt, agtOk, makeTempDir, write } from '../harness/world.ts';

const files = (directory: string) =>
  (readdirSync(directory, { recursive: true }) as string[])
    .filter((path) => statSync(join(directory, path)).isFile())
    .sort();

const COMMON = ['.mcp.json', 'README.md', 'hooks/hooks.json', 'skills/agt/SKILL.md'];

test.each([
  ['claude-code', ['.claude-plugin/plugin.json', 'commands/undo.md']],
  ['codex', ['.codex-plugin/plugin.json']],
])('for %s', (tool, own) => {
  const place = makeTempDir();
  const plugin = join(place, 'plugins/agt');
  expect(agtOk(place, 'plugin', 'plugins/agt', '--for', tool, '-n')).toContain(
    'would write plugins/agt/.mcp.json',
  );
  expect(existsSync(plugin)).toBe(false);
  agtOk(place, 'plugin', 'plugins/agt', '--for', tool);
  expect(files(plugin)).toEqual([...COMMON, ...own].sort());
  expect(agtOk(place, 'plugin', 'plugins/agt', '--for', tool)).toBe('');
  write(join(plugin, 'README.md'), 'old\n');
  expect(agtOk(place, 'plugin', 'plugins/agt', '--for', tool)).toBe('wrote plugins/agt/README.md');
  const json = (path: string) => JSON.parse(readFileSync(join(plugin, path), 'utf8'));
  expect(json(own[0] ?? '')).toMatchObject({ name: 'agt', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(json('.mcp.json')).toEqual({ mcpServers: { agt: { command: 'agt', args: ['mcp'] } } });
  const skill = readFileSync(join(plugin, 'skills/agt/SKILL.md'), 'utf8');
  expect(skill).toMatch(/^---\nname: agt\ndescription: .{40,1000}\n---\n/);
});

test('has the hooks of agt hooks install, which do nothing beside those', () => {
  const home = makeTempDir('home');
  const env = { ...process.env, HOME: home, CLAUDE_CONFIG_DIR: undefined, PATH: `${home}/bin:/usr/bin:/bin` };
  write(join(home, 'bin/agt'), '#!/bin/sh\necho "called: $*"\n', 0o755);
  agtOk(home, 'plugin', 'plugin');
  const { hooks } = JSON.parse(readFileSync(join(home, 'plugin/hooks/hooks.json'), 'utf8'));
  expect(hooks.PostToolUse[0].matcher).toMatch(/^Bash\|.*mcp__\.\*$/);
  const { command } = hooks.Stop[0].hooks[0];
  const call = () => spawnSync('sh', ['-c', command], { cwd: home, env, encoding: 'utf8' });
  expect(call()).toMatchObject({ status: 0, stdout: 'called: hook claude-code\n' });
  for (const file of ['.claude/settings.json', '.claude/settings.local.json']) {
    write(join(home, file), `{ "command": "'/usr/bin/agt' hook claude-code" }`);
    expect(call()).toMatchObject({ status: 0, stdout: '' });
    write(join(home, file), '{}');
  }
  // The script that hooks of another agent call.
  for (const [state, more] of [
    ['.local/state', {}],
    ['its own', { XDG_STATE_HOME: join(home, 'its own') }],
  ] as const) {
    write(join(home, state, 'agt/hooks/agt'), '#!/bin/sh\necho "front: $*"\n', 0o755);
    const said = spawnSync('sh', ['-c', command], { cwd: home, env: { ...env, ...more }, encoding: 'utf8' });
    expect(said).toMatchObject({ status: 0, stdout: 'front: hook claude-code\n' });
  }
});

test('writes into no folder of somebody else', () => {
  const place = makeTempDir();
  write(join(place, 'mine'), 'mine\n');
  const { exitCode, stderr } = agt(place, 'plugin', '.');
  expect([exitCode, stderr.split('\n')[0]]).toEqual([
    1,
    `error: "${place}" is not empty, and has no plugin of agt`,
  ]);
  expect(files(place)).toEqual(['mine']);
  expect(agt(place, 'plugin', 'x', '--for', 'pi').stderr).toContain('choose from "claude-code", "codex"');
  expect(agt(place, 'plugin', 'mine').stderr).toMatch(/^error: /);
});

test('its command is a prompt that the hook answers', () => {
  expect(parsePrompt('/agt:undo 2')).toEqual(parsePrompt('agt undo 2'));
  expect(parsePrompt('/agt:other words')).toBeUndefined();
});
