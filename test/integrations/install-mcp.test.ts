/** agt hooks install --mcp: the agent gets agt mcp as a server, and loses it byte for byte. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, makeRepository, run, write } from '../harness/world.ts';
import { Home } from './home.ts';

const JSON_SETTINGS = `{
\t// mine
\t"model": "x",
\t"mcpServers": { "other": { "command": "other" } },
}`;
const TOML = 'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "other"';

const FILES = {
  'claude-code': ['.claude.json', JSON_SETTINGS],
  codex: ['.codex/config.toml', TOML],
  gemini: ['.gemini/settings.json', JSON_SETTINGS],
  qwen: ['.qwen/settings.json', JSON_SETTINGS],
  opencode: ['.config/opencode/opencode.json', JSON_SETTINGS.replace('mcpServers', 'mcp')],
  copilot: ['.copilot/mcp-config.json', JSON_SETTINGS],
  droid: ['.factory/mcp.json', JSON_SETTINGS],
} as const;

/** With a program of this name, so that agt finds the agent. */
function homeWith(tool: keyof typeof FILES, content: string | undefined) {
  const home = new Home();
  const [name] = FILES[tool];
  const file = join(home.dir, name);
  if (content !== undefined) write(file, content);
  for (const dir of ['.claude', '.codex', '.gemini', '.qwen', '.config/opencode', '.copilot', '.factory'])
    write(join(home.dir, dir, 'of-the-agent'), '');
  const ok = (...args: string[]) => {
    const { exitCode, stdout, stderr } = home.agt(...args);
    expect(exitCode, stderr).toBe(0);
    return stdout;
  };
  return { home, ok, file, read: () => readFileSync(file, 'utf8') };
}

const trust = (tool: string) => (tool === 'codex' ? ['--no-trust'] : []);

test.each(Object.keys(FILES) as (keyof typeof FILES)[])('%s: beside what is there, and back', (tool) => {
  for (const content of [FILES[tool][1], '', undefined]) {
    const { home, ok, file, read } = homeWith(tool, content);
    const before = home.content();
    expect(ok('install', tool, '--mcp', '-n', ...trust(tool))).toContain(
      `agt mcp would be installed in ${file}\n`,
    );
    expect(home.content()).toBe(before);
    expect(ok('install', tool, '--mcp', ...trust(tool))).toContain(`agt mcp installed in ${file}\n`);
    expect(read()).toContain(AGT);
    if (content) expect(read()).toContain('other');
    expect(ok('install', tool, '--mcp', ...trust(tool))).toContain(`agt mcp unchanged in ${file}\n`);
    expect(ok('install', tool, ...trust(tool))).toMatch(/installed already/);
    expect(read()).toContain(AGT);
    expect(ok('uninstall', tool)).toContain(`removed agt mcp from ${file}\n`);
    expect(home.content()).toBe(before);
  }
});

test('removes its entry alone from a file that has changed since', () => {
  for (const tool of ['claude-code', 'opencode', 'codex'] as const) {
    const { ok, read, file } = homeWith(tool, FILES[tool][1]);
    ok('install', tool, '--mcp', ...trust(tool));
    const change = (text: string) =>
      tool === 'codex' ? `${text}startup_timeout_sec = 5\n\n# last\n[tui]\n` : text.replace('"x"', '"y"');
    write(file, change(read()));
    ok('uninstall', tool);
    const wanted = tool === 'codex' ? `${TOML}\n\n# last\n[tui]\n` : change(FILES[tool][1]);
    expect(read().replace(/\s/g, '')).toBe(wanted.replace(/\s/g, ''));
  }
});

test('leaves a server of somebody else alone, and says so', () => {
  const text = '{ "mcpServers": { "agt": { "command": "something" } } }\n';
  const { home, ok, read, file } = homeWith('claude-code', text);
  const { exitCode, stderr } = home.agt('install', 'claude-code', '--mcp');
  expect([exitCode, stderr.split('\n')[0]]).toEqual([
    1,
    `error: cannot change ${file}: it has a server "agt" that agt has not written`,
  ]);
  expect(read()).toBe(text);
  ok('uninstall', 'claude-code');
  expect(read()).toBe(text);
});

test('writes the file of a project, and knows that pi has none', () => {
  const repository = makeRepository();
  const home = new Home();
  expect(home.in(repository, 'install', 'claude-code', '--project', '--mcp').exitCode).toBe(0);
  expect(JSON.parse(readFileSync(join(repository, '.mcp.json'), 'utf8'))).toEqual({
    mcpServers: { agt: { command: AGT, args: ['mcp'] } },
  });
  expect(home.agt('install', 'pi', '--mcp').stderr).toMatch(/^error: agt adds no server to pi\n/);
});

test.each(Object.keys(FILES) as (keyof typeof FILES)[])(
  '%s: an agt that is gone or another one is named, and hooks install renews the entry',
  (tool) => {
    const { home, ok, file, read } = homeWith(tool, FILES[tool][1]);
    ok('install', tool, '--mcp', ...trust(tool));
    const whole = read();
    const doctor = () => run(AGT, ['doctor'], { cwd: '/', env: { HOME: home.dir } }).stdout;
    expect(JSON.parse(ok('status', tool, '--json'))[0].mcp).toEqual({ file, problem: null, mend: null });
    const other = join(home.bin, 'agt');
    write(other, '#!/bin/sh\n', 0o755);
    for (const [path, problem] of [
      ['/nonexistent/agt', 'agt mcp: /nonexistent/agt is gone'],
      [other, `agt mcp: ${other} is another agt`],
    ] as const) {
      write(file, whole.replaceAll(AGT, path));
      const mend = `agt hooks install ${tool} --mcp`;
      expect(home.agt('status', tool).stderr).toContain(`: ${problem}\nhint: ${mend}\n`);
      expect(doctor()).toContain(problem);
      expect(ok('install', tool, ...trust(tool))).toMatch(/agt mcp (installed|updated) in /);
      expect(read().trim()).toBe(whole.trim());
      expect(doctor()).not.toContain('agt mcp');
    }
    // A person may name the agt on PATH.
    write(file, whole.replaceAll(AGT, 'agt'));
    expect(JSON.parse(ok('status', tool, '--json'))[0].mcp.problem).toBe(null);
  },
);
