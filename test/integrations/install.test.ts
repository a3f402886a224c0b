/** agt hooks install, uninstall and status: the settings of agents change as text and come back byte for byte. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { frontOf, Home } from './home.ts';

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'Notification',
  'SubagentStop',
  'Stop',
  'StopFailure',
  'SessionEnd',
];

test('in a new home: hooks for each event, and nothing is left after uninstall', () => {
  const home = new Home();
  const before = home.content();
  const file = join(home.dir, '.claude/settings.json');
  expect(home.ok('status')).toMatch(/^AGENT +HOOKS +LAST EVENT\nclaude-code /);
  expect(home.ok('install', 'claude-code', '-n')).toBe(`Claude Code: would install hooks in ${file}\n`);
  expect(home.content()).toBe(before);
  expect(home.ok('install', 'claude')).toBe(`Claude Code: hooks installed in ${file}\n`);
  const { hooks } = JSON.parse(readFileSync(file, 'utf8'));
  expect(Object.keys(hooks)).toEqual(EVENTS);
  const command = `'${frontOf(home)}' hook claude-code`;
  expect(hooks.Stop).toEqual([{ hooks: [{ type: 'command', command, timeout: 30 }] }]);
  expect(readFileSync(frontOf(home), 'utf8')).toContain(`\nagt_full='${AGT}'\n`);
  expect(hooks.PostToolUse[0].matcher).toMatch(/^Bash\|.*mcp__\.\*$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(home.ok('install', 'claude-code')).toMatch(/installed already/);
  expect(home.ok('status')).toMatch(/^AGENT +HOOKS +LAST EVENT\n(.*\n)*claude-code +installed/);
  expect(home.ok('uninstall', 'claude-code', '--dry-run')).toMatch(/^Claude Code: would remove/);
  const hook = { cwd: home.dir, env: { HOME: home.dir }, input: '{"hook_event_name":"Other","cwd":"/"}' };
  expect(run(AGT, ['hook', 'claude-code'], hook).exitCode).toBe(0);
  expect(JSON.parse(home.ok('status', 'claude-code', '--json'))).toMatchObject([
    { tool: 'claude-code', state: 'installed', problem: null, last_event: { event: 'Other', cwd: '/' } },
  ]);
  expect(run(AGT, ['hook', 'claude-code'], { ...hook, input: '{"cwd":"/"}' }).exitCode).toBe(0);
  expect(home.ok('status')).toMatch(/^claude-code +installed +\d+ seconds? ago$/m);
  expect(run(AGT, ['hook', 'claude-code'], { ...hook, input: 'no' }).exitCode).toBe(0);
  expect(home.agt('status').stderr).toMatch(/^warning: Claude Code: a hook failed .* ago: /);
  expect(home.ok('uninstall', 'claude-code')).toBe(`Claude Code: hooks removed from ${file}\n`);
  expect(home.content()).toBe(before);
  expect(home.ok('uninstall', 'claude-code')).toMatch(/^Claude Code: no hooks in /);
  expect(home.ok('uninstall', '--all')).toBe('no hooks to remove\n');
  expect(home.content()).toBe(before);
});

test('snapshots of the extension of pi are its events', () => {
  const home = new Home();
  home.ok('install', 'pi');
  const folder = makeTempDir();
  expect(home.ok('status', 'pi')).toMatch(/^pi +\S.* -$/m);
  run(AGT, ['snapshot', '--agent', 'pi'], { cwd: folder, env: { HOME: home.dir } });
  expect(JSON.parse(home.ok('status', 'pi', '--json'))).toMatchObject([
    { last_event: { event: 'snapshot', cwd: folder } },
  ]);
});

const COMMENTED = `{
\t// mine
\t"model": "opus",\r
\t"hooks": {
\t\t"Stop": [
\t\t\t{ "hooks": [{ "type": "command", "command": "say done" }] } /* first */
\t\t],
\t},
}
`;

test('comments, order, spaces, rights and links of the settings stay', () => {
  const home = new Home();
  const real = join(home.dir, 'dotfiles/claude.json');
  write(real, COMMENTED, 0o640);
  mkdirSync(join(home.dir, '.claude'));
  symlinkSync('../dotfiles/claude.json', join(home.dir, '.claude/settings.json'));
  const before = home.content();
  home.ok('install', 'claude-code');
  const after = readFileSync(real, 'utf8');
  expect(after).toContain('\t// mine\n\t"model": "opus",\r\n');
  expect(after).toContain('/* first */');
  expect(after.indexOf('say done')).toBeLessThan(after.indexOf("hook claude-code'") + after.length);
  expect(after.match(/hook claude-code/g)).toHaveLength(EVENTS.length);
  expect(/"Stop": \[\s+\{[^}]*say done[^}]*\}[^{]*\{[^}]*\{[^}]*hook claude-code/.test(after)).toBe(true);
  expect(lstatSync(join(home.dir, '.claude/settings.json')).isSymbolicLink()).toBe(true);
  expect(statSync(real).mode & 0o777).toBe(0o640);

  // Somebody changes the file: agt removes its own hooks alone, and every other byte stays.
  write(real, after.replace('opus', 'haiku'));
  home.ok('uninstall', 'claude-code');
  const left = readFileSync(real, 'utf8');
  expect(left.replace(/\s/g, '')).toBe(COMMENTED.replace('opus', 'haiku').replace(/\s/g, ''));
  write(real, COMMENTED);
  expect(home.content()).toBe(before);

  // The metadata of agt are gone, or the hooks are those of an older agt.
  home.ok('install', 'claude-code');
  write(real, readFileSync(real, 'utf8').replaceAll(frontOf(home), '/gone/agt'));
  rmSync(join(home.dir, '.local'), { recursive: true });
  expect(home.agt('status')).toMatchObject({
    stdout: expect.stringMatching(/^claude-code +outdated/m),
    stderr: expect.stringMatching(/\/gone\/agt is gone\nhint: agt hooks install claude-code\n/),
  });
  const doctor = run(AGT, ['doctor'], { cwd: home.dir, env: { HOME: home.dir } }).stdout;
  expect(doctor).toContain('/gone/agt is gone');
  expect(home.ok('install', 'claude-code', '--worktrees')).toMatch(/hooks updated in/);
  expect(home.ok('status', 'claude-code')).toMatch(/^claude-code +installed/m);
  write(real, readFileSync(real, 'utf8').replaceAll('"StopFailure"', '"Stop2"'));
  expect(home.agt('status')).toMatchObject({
    stdout: expect.stringMatching(/^claude-code +outdated/m),
    stderr: expect.stringMatching(/has other hooks\nhint: agt hooks install claude-code --worktrees\n/),
  });
  expect(home.ok('install', 'claude-code')).toMatch(/hooks updated in/);
  expect(readFileSync(real, 'utf8').match(/hook claude-code/g)).toHaveLength(EVENTS.length);
  home.ok('uninstall', 'claude-code');
  expect(readFileSync(real, 'utf8').replace(/\s/g, '')).toBe(COMMENTED.replace(/\s/g, ''));
});

test('agt leaves alone what it cannot read or parse, and says why; other agents go on', () => {
  const home = new Home();
  const file = join(home.dir, '.claude/settings.json');
  for (const [text, reason] of [
    ['{"a": 1\n"b": 2}', 'line 2 is not valid JSON: comma expected'],
    ['[]', 'it does not hold a JSON object'],
    ['{"hooks": 3}', '"hooks" is not an object'],
    ['{"hooks": {"Stop": {}}}', '"hooks.Stop" is not a list'],
    ['{"hooks": {"Stop": []}, "hooks": {}}', '"hooks" or a part of it is there twice'],
    ['{"hooks": {"Stop": [], "Stop": []}}', '"hooks" or a part of it is there twice'],
    [Buffer.from([0x7b, 0xff, 0x7d]), 'is not UTF-8 text'],
  ] as const) {
    write(file, text as string);
    const before = home.content();
    const outcome = home.agt('install', 'claude-code');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain(reason);
    expect(outcome.stderr).toContain(file);
    expect(home.content()).toBe(before);
  }
  rmSync(file);
  symlinkSync('nowhere', file);
  expect(home.agt('install', 'claude-code').stderr).toMatch(/a link to a file that is not there/);
  expect(home.agt('install', 'nothing')).toMatchObject({ exitCode: 2 });
  expect(home.agt('install')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^error: no agent given/),
  });
  expect(home.agt('install', 'claude-code', '--all').exitCode).toBe(2);
  expect(home.agt('install', 'qwen', '--worktrees').exitCode).toBe(2);
});

test('an agent that is not installed is named', () => {
  const home = new Home([]);
  const before = home.content();
  expect(home.agt('install', 'claude-code')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: Claude Code is not installed: there is no "claude" on PATH/),
  });
  expect(home.agt('install', '--all')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Claude Code: not found$/m),
    stderr: expect.stringMatching(/^note: none of these agents is installed for you; start one once/),
  });
  expect(JSON.parse(home.agt('install', '--all', '--json').stdout)[0]).toEqual({
    tool: 'claude-code',
    outcome: 'agent-not-found',
    file: null,
    trusted: null,
  });
  expect(home.content()).toBe(before);
});

test('--project writes the settings of the project, --worktrees adds the hooks for worktrees', () => {
  const home = new Home();
  const project = makeRepository();
  const file = join(project, '.claude/settings.local.json');
  mkdirSync(join(project, 'sub'));
  expect(home.in(join(project, 'sub'), 'install', 'claude', '--project', '--worktrees').stdout).toContain(
    file,
  );
  const { hooks } = JSON.parse(readFileSync(file, 'utf8'));
  expect(Object.keys(hooks)).toEqual([...EVENTS, 'WorktreeCreate', 'WorktreeRemove']);
  expect(home.ok('status')).toMatch(/^claude-code +not installed/m);
  expect(home.in(project, 'status').stdout).toMatch(
    /^claude-code +in project .*^Hooks of this project alone: agt hooks status --project$/ms,
  );
  expect(home.in(project, 'status', '--project').stdout).toMatch(/^claude-code +installed/m);
  expect(home.in(project, 'install', 'claude', '--project').stdout).toMatch(/hooks updated in/);
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).hooks)).toEqual(EVENTS);
  home.in(project, 'uninstall', 'claude', '--project');
  expect(existsSync(join(project, '.claude'))).toBe(false);
  expect(existsSync(join(home.dir, '.local'))).toBe(false);
});

test('the hooks call the agt on PATH if that is this one: an upgrade replaces what it leads to', () => {
  const home = new Home();
  symlinkSync(AGT, join(home.bin, 'agt'));
  home.ok('install', 'claude-code');
  expect(readFileSync(frontOf(home), 'utf8')).toContain(`\nagt_full='${home.bin}/agt'\n`);
  const text = readFileSync(join(home.dir, '.claude/settings.json'), 'utf8');
  rmSync(join(home.bin, 'agt'));
  write(join(home.bin, 'agt'), '#!/bin/sh\n', 0o755);
  expect(home.agt('status', 'claude-code').stderr).toMatch(
    /agt calls another agt\nhint: agt hooks install claude-code\n/,
  );
  expect(home.ok('install', 'claude-code')).toMatch(/hooks updated in/);
  expect(readFileSync(frontOf(home), 'utf8')).toContain(`\nagt_full='${AGT}'\n`);
  rmSync(frontOf(home));
  expect(home.agt('status', 'claude-code').stderr).toMatch(/hooks\/agt is gone\nhint: /);
  expect(home.ok('install', 'claude-code')).toMatch(/hooks updated in/);
  expect(home.ok('status', 'claude-code')).toMatch(/^claude-code +installed/m);
  // As an earlier agt has written them.
  const settings = join(home.dir, '.claude/settings.json');
  write(settings, text.replaceAll(frontOf(home), AGT));
  expect(home.agt('status', 'claude-code').stderr).toMatch(/are those of an earlier agt/);
  expect(home.ok('install', 'claude-code')).toMatch(/hooks updated in/);
  expect(readFileSync(settings, 'utf8')).toBe(text);
});

test('a directory that cannot be written changes nothing', () => {
  const home = new Home();
  const directory = join(home.dir, '.claude');
  write(join(directory, 'settings.json'), '{}');
  const before = home.content();
  // A file in place of the temporary one fails in the same way, for root too.
  chmodSync(directory, 0o500);
  const outcome = home.agt('install', 'claude-code');
  if (process.getuid?.() !== 0) expect(outcome.exitCode).toBe(1);
  chmodSync(directory, 0o755);
  home.agt('uninstall', 'claude-code');
  expect(home.content()).toBe(before);
});

test('status says that the settings of agt switch the hooks off', () => {
  const home = new Home();
  home.ok('install', 'claude-code');
  write(join(home.dir, '.agtconfig'), '[agt]\n\thooks = no\n');
  expect(JSON.parse(home.agt('status', 'claude-code', '--json').stdout)[0]).toMatchObject({
    state: 'switched-off',
    problem: expect.stringMatching(/^agt\.hooks is false \(.*config\)$/),
  });
});

test('agt replaces no program of somebody else', () => {
  const home = new Home();
  write(join(home.dir, '.pi/agent/extensions/agt.ts'), 'export default () => {};\n');
  const before = home.content();
  expect(home.agt('install', 'pi').stderr).toMatch(/agt has not written the file that is there/);
  home.agt('uninstall', 'pi');
  expect(home.content()).toBe(before);
});
