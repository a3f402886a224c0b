/** agt hooks install and uninstall for each agent: its file, byte for byte, and its own switches. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, write } from '../harness/world.ts';
import { frontOf, Home } from './home.ts';

/** The files of each agent, and settings that a person may have there. */
const FILES = {
  'claude-code': ['.claude/settings.json', '{ // mine\n\t"hooks": { "Stop": [] }, "model": "opus",\r\n}\n'],
  codex: ['.codex/hooks.json', '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}'],
  gemini: ['.gemini/settings.json', '{\n  "hooks": { "disabled": ["x"] }, // no x\n}\n'],
  qwen: ['.qwen/settings.json', '{"$version": 4}'],
  opencode: ['.config/opencode/plugins/agt.js', undefined],
  pi: ['.pi/agent/extensions/agt.ts', undefined],
  copilot: ['.copilot/hooks/agt.json', undefined],
  cline: ['.cline/plugins/agt.js', undefined],
  kilo: ['.config/kilo/plugins/agt.js', undefined],
  droid: ['.factory/settings.json', '{\n  "hooks": { "showHookOutput": true }, "model": "x"\n}\n'],
  amp: ['.config/amp/plugins/agt.ts', undefined],
  crush: ['.config/crush/crush.json', '{"hooks":{"PreToolUse":[{"matcher":"^bash$","command":"./no.sh"}]}}'],
  cursor: ['.cursor/hooks.json', '{"version": 1, "hooks": {"stop": [{"command": "say done"}]}}'],
} as const;

test.each(Object.entries(FILES))('%s: uninstall brings HOME back byte for byte', (name, [path, settings]) => {
  for (const given of new Set([undefined, settings])) {
    const home = new Home();
    if (given !== undefined) write(join(home.dir, path), given);
    const before = home.content();
    const outcome = home.agt('install', name, '--no-trust');
    expect(outcome.exitCode).toBe(0);
    expect(readFileSync(join(home.dir, path), 'utf8')).toContain(
      `'${name === 'pi' ? AGT : frontOf(home)}' hook ${name}`,
    );
    if (given !== undefined)
      expect(home.agt('install', name, '--no-trust').stdout).toMatch(/installed already/);
    home.agt('uninstall', name);
    expect(home.content()).toBe(before);
  }
});

test.each([
  ['claude-code', '{"disableAllHooks": true}'],
  ['gemini', '{"hooksConfig": {"enabled": false}}'],
  ['gemini', '{"hooksConfig": {"disabled": ["agt"]}}'],
  ['droid', '{"hooks": {"hooksDisabled": true}}'],
] as const)('status of %s says that a setting switches the hooks off', (name, settings) => {
  const home = new Home();
  write(join(home.dir, FILES[name][0]), settings);
  home.ok('install', name);
  expect(JSON.parse(home.agt('status', name, '--json').stdout)[0]).toMatchObject({
    state: 'switched-off',
    problem: expect.stringMatching(
      /^(disableAllHooks|hooksConfig\.\w+|hooks\.hooksDisabled) in .* switches the hooks off$/,
    ),
  });
});

test.each(['crush', 'cursor', 'droid'] as const)(
  '%s: of a file that has changed agt removes its own hooks alone',
  (name) => {
    const home = new Home();
    const [path, settings] = FILES[name];
    const file = join(home.dir, path);
    write(file, settings);
    home.agt('install', name);
    write(file, readFileSync(file, 'utf8').replace(/\}\s*$/, ', "last": 1 }\n'));
    home.agt('uninstall', name);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ ...JSON.parse(settings), last: 1 });
  },
);

test('a new file of Cursor has the version that Cursor requires', () => {
  const home = new Home();
  home.agt('install', 'cursor');
  const { version, hooks } = JSON.parse(readFileSync(join(home.dir, FILES.cursor[0]), 'utf8'));
  expect(version).toBe(1);
  expect(hooks.stop).toEqual([{ command: `'${frontOf(home)}' hook cursor`, timeout: 30 }]);
});
