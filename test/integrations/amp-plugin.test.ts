/** The plugin of agt for Amp, with events as Amp's documentation has them: the agent itself needs a login. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { run, write } from '../harness/world.ts';
import { Home } from './home.ts';
import { log } from './hooks.ts';

/** Calls the handlers of the plugin, one event after the other, and prints their results. */
const DRIVER = `
const [plugin, events] = process.argv.slice(2);
const { default: register } = await import(plugin);
const handlers = {};
register({ on: (name, handler) => { handlers[name] = handler; } });
const results = [];
for (const [name, event] of JSON.parse(events))
  results.push((await handlers[name]({ thread: { id: 'T-1' }, ...event })) ?? null);
console.log(JSON.stringify(results));
`;

test('a snapshot for prompt, tool and turn; agt undo by the model; no file elsewhere', () => {
  const home = new Home(['amp']);
  expect(home.agt('install', 'amp')).toMatchObject({
    exitCode: 0,
    stderr: 'note: agt knows the hooks of Amp from its documentation alone\n',
  });
  expect(JSON.parse(home.ok('status', 'amp', '--json'))).toMatchObject([{ known_by: 'documentation' }]);
  expect(home.ok('status', 'amp')).toMatch(/^amp +installed, untested: made from its documentation/m);
  const session = makeSession();
  const { sandbox, repository } = session;
  const driver = join(home.dir, 'driver.mjs');
  write(driver, DRIVER);
  const send = (...events: (readonly [string, object])[]) => {
    const plugin = join(home.dir, '.config/amp/plugins/agt.ts');
    const args = [driver, plugin, JSON.stringify(events)];
    const { stdout, stderr } = run(process.execPath, args, { cwd: sandbox, env: { HOME: home.dir } });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };
  const call = (tool: string, input: object) => ({ tool, toolUseID: 'toolu_1', input });
  const start = [
    ['session.start', {}],
    ['agent.start', { message: 'do it', id: 'M-1' }],
    ['tool.call', call('Bash', { cmd: 'echo 1 > one' })],
  ] as const;
  expect(send(...start)).toEqual([null, {}, { action: 'allow' }]);
  write(join(sandbox, 'one'), '1\n');
  const end = [
    ['tool.result', { ...call('Bash', { cmd: 'echo 1 > one' }), status: 'done' }],
    ['agent.end', { message: 'do it', id: 'M-1', status: 'done', messages: [] }],
  ] as const;
  expect(send(...end)).toEqual([null, null]);
  expect(log(session).slice(0, 2)).toMatchObject([
    { tool: 'Bash', summary: 'echo 1 > one', call_id: 'toolu_1', agent: 'amp', conversation: 'T-1' },
    { label: 'prompt: do it' },
  ]);
  const elsewhere = call('create_file', { path: join(repository, 'x'), content: '' });
  expect(send(['tool.call', elsewhere])).toEqual([
    { action: 'reject-and-continue', message: expect.stringContaining(`Use ${join(sandbox, 'x')} instead`) },
  ]);
  const [{ message }] = send(['agent.start', { message: 'agt undo', id: 'M-2' }]);
  expect(message.content).toMatch(/Repeat its answer word for word[\s\S]*restored 1 path/);
  expect(existsSync(join(sandbox, 'one'))).toBe(false);
});
