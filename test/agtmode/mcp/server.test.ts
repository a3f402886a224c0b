/** `agt mcp`, by the client of the SDK. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, describe, expect, it } from 'vitest';
import { makeSession } from '../../harness/session.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, write } from '../../harness/world.ts';
import { say, silent, toolOf } from '../../integrations/hooks.ts';

const opened: Client[] = [];
afterAll(async () => {
  for (const client of opened) await client.close();
});

/** Calls tools of a server in this directory. Returns the text, with `error: ` before that of an error. */
async function serverIn(cwd: string) {
  const client = new Client({ name: 'test', version: '1' });
  const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined));
  const words = { command: AGT, args: ['mcp'], cwd, env: env as Record<string, string> };
  await client.connect(new StdioClientTransport({ ...words, stderr: 'ignore' }));
  opened.push(client);
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [{ text }] = content as [{ text: string }];
    return isError === true ? `error: ${text}` : text;
  };
  return Object.assign(call, { client });
}

const tokenIn = (answer: string) => /token (\S+)\n$/.exec(answer)?.[1] ?? '';

/** A folder with two steps and a change since. */
function makeFolder(): string {
  const folder = makeRepository({ a: 'one\n', keep: 'keep\n' });
  agtOk(folder, 'snapshot', '--label', 'prompt: make it two');
  write(join(folder, 'a'), 'two\n');
  write(join(folder, 'new file'), 'new\n');
  agtOk(folder, 'snapshot', '--tool', 'Edit');
  return folder;
}

const read = (folder: string, path = 'a') => readFileSync(join(folder, path), 'utf8');
const snapshots = (folder: string) => JSON.parse(agtOk(folder, 'snapshot', 'list', '--json')).length;

describe('agt mcp in a folder', () => {
  it('lists steps, reads a file of one, and compares', async () => {
    const folder = makeFolder();
    const call = await serverIn(folder);
    const listed = await call('list_steps');
    expect(listed).toMatch(
      /@\{0\}[^\n]*\(Edit\)\n +M [^\n]*a\n +A [^\n]*new file\n@\{1\}[^\n]*make it two\n/,
    );
    expect(await call('list_steps', { paths: ['keep'] })).not.toContain('Edit');
    expect(await call('read_file', { step: '@{1}', path: 'a' })).toBe('one\n');
    expect(await call('compare', { from: '@{1}', to: '@{0}' })).toMatch(/-one\n\+two\n[\s\S]*new file/);
    write(join(folder, 'a'), 'three\n');
    expect(await call('compare', { from: '@{0}', paths: ['a'] })).toMatch(/-two\n\+three\n$/);
    expect(snapshots(folder)).toBe(2);
  });

  it('restores what it has proposed, once', async () => {
    const folder = makeFolder();
    write(join(folder, 'a'), 'three\n');
    const call = await serverIn(folder);
    const plan = await call('propose_restore', { step: '@{1}' });
    expect(plan).toMatch(/^M a\nD new file\n[^\n]*would restore 2 paths to [0-9a-f]{10}\n/);
    expect([read(folder), existsSync(join(folder, 'new file'))]).toEqual(['three\n', true]);
    expect(await call('restore', { token: tokenIn(plan) })).toContain('restored 2 paths, verified');
    expect([read(folder), existsSync(join(folder, 'new file'))]).toEqual(['one\n', false]);
    write(join(folder, 'a'), 'four\n');
    expect(await call('restore', { token: tokenIn(plan) })).toMatch(/^error: there is no plan of this token/);
    expect(read(folder)).toBe('four\n');
    agtOk(folder, 'undo');
    agtOk(folder, 'undo');
    expect(read(folder)).toBe('three\n');
  });

  it('brings back the paths that are named alone', async () => {
    const folder = makeFolder();
    const call = await serverIn(folder);
    const plan = await call('propose_restore', { step: '@{1}', paths: ['a'] });
    expect(plan).toMatch(/^M a\n[^\n]*would restore 1 path to/);
    await call('restore', { token: tokenIn(plan) });
    expect([read(folder), existsSync(join(folder, 'new file'))]).toEqual(['one\n', true]);
  });

  it('is no act of the user for the agent', async () => {
    const folder = makeRepository({ a: 'one\n' });
    say(folder, 'make it two');
    write(join(folder, 'a'), 'two\n');
    toolOf(folder, 'Edit', {});
    const call = await serverIn(folder);
    await call('restore', { token: tokenIn(await call('propose_restore', { step: 'prompt: make it two' })) });
    expect(read(folder)).toBe('one\n');
    expect(say(folder, 'go on')).toEqual(silent);
    agtOk(folder, 'undo');
    expect(say(folder, 'go on again').stdout).toContain('The user has taken these files back');
  });

  it('restores nothing if a file has changed since, captured or not', async () => {
    const folder = makeFolder();
    const call = await serverIn(folder);
    for (const capture of [false, true]) {
      const plan = await call('propose_restore', { step: '@{1}' });
      write(join(folder, 'a'), `changed ${capture}\n`);
      if (capture) agtOk(folder, 'snapshot');
      expect(await call('restore', { token: tokenIn(plan) })).toMatch(
        /^error: "project" has changed since [^\n]*$/,
      );
      expect(read(folder)).toBe(`changed ${capture}\n`);
    }
  });

  it('restores nothing if a branch has moved since', async () => {
    const folder = makeFolder();
    const call = await serverIn(folder);
    const plan = await call('propose_restore', { step: '@{1}' });
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'second');
    expect(await call('restore', { token: tokenIn(plan) })).toMatch(/^error: "project" has changed since/);
    expect(read(folder)).toBe('two\n');
  });

  it('restores if only a prompt has come since', async () => {
    const folder = makeFolder();
    const call = await serverIn(folder);
    const plan = await call('propose_restore', { step: '@{1}' });
    agtOk(folder, 'snapshot', '--label', 'prompt: yes');
    expect(await call('restore', { token: tokenIn(plan) })).toContain('restored 2 paths');
  });

  it('names a ref that would go back', async () => {
    const folder = makeFolder();
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'second');
    const call = await serverIn(folder);
    expect(await call('propose_restore', { step: '@{0}' })).toMatch(/main/);
  });

  it('bounds its answers', async () => {
    const folder = makeTempDir();
    write(join(folder, 'long'), Array.from({ length: 20_000 }, (_, n) => `line ${n}\n`).join(''));
    write(join(folder, 'binary'), Buffer.from([0, 1, 2]));
    agtOk(folder, 'snapshot');
    const call = await serverIn(folder);
    let text = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part = await call('read_file', { step: '@{0}', path: 'long', offset });
      expect(part.length).toBeLessThan(50_000);
      const more = /\[cut; [^\n]* offset (\d+)[^\n]*\n$/.exec(part);
      text += part.slice(0, more?.index);
      offset = more === null ? undefined : Number(more[1]);
    }
    expect(text).toBe(read(folder, 'long'));
    expect(await call('read_file', { step: '@{0}', path: 'binary' })).toBe('a binary file\n');
  });

  it('says what is wrong in one line', async () => {
    const folder = makeFolder();
    const call = await serverIn(folder);
    const errors = [
      await call('read_file', { step: '@{9}', path: 'a' }),
      await call('read_file', { step: '@{0}', path: 'nowhere' }),
      await call('propose_restore', { step: 'no such step' }),
      await call('propose_restore', { step: '@{1}', paths: ['nowhere'] }),
      await (await serverIn(makeTempDir()))('list_steps'),
    ];
    for (const error of errors) expect(error).toMatch(/^error: (?!error)[^\n]+$/);
    for (const step of ['--files-only', '-n'])
      expect(await call('compare', { from: step })).toMatch(/^error: [\s\S]*a step does not begin with "-"/);
    expect(snapshots(folder)).toBe(2);
  });
});

it('works in the session of the sandbox, and ends with its client', async () => {
  const { sandbox, repository, id } = makeSession({ a: 'one\n' });
  write(join(sandbox, 'a'), 'two\n');
  agtOk(repository, 'autocommit', id);
  rmSync(join(sandbox, 'a'));
  const call = await serverIn(sandbox);
  const plan = await call('propose_restore', { step: '@{0}' });
  expect(plan).toContain(`${id}: would restore 1 path`);
  await call('restore', { token: tokenIn(plan) });
  expect(read(sandbox)).toBe('two\n');
  const { pid } = call.client.transport as StdioClientTransport;
  await call.client.close();
  expect(existsSync(`/proc/${pid}`)).toBe(false);
});
