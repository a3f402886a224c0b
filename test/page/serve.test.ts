/** The server of agt ui: who may ask, what it answers, and how it ends. */
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { expect, test, vi } from 'vitest';
import { sessionIn } from '../harness/session.ts';
import { agt, makeRepository, write } from '../harness/world.ts';
import { until } from '../integrations/hooks.ts';
import { type Served, serve } from './open-page.ts';

type Row = { session_id: string; state: string; repository?: string };

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

function ask(address: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<{ status: number; text: string; policy: string }>((resolve, reject) => {
    const asked = request(address, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => {
        const policy = String(response.headers['content-security-policy']);
        resolve({ status: response.statusCode ?? 0, text, policy });
      });
    });
    asked.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function run({ address }: Served, words: string[], more: object = {}) {
  const { origin } = new URL(address);
  const body = { session: 's1', words, ...more };
  return ask(`${address}run`, { method: 'POST', headers: { origin }, body });
}

test('only who has the token gets an answer, and no other site does', async () => {
  const repository = makeRepository();
  sessionIn(repository);
  const page = await serve(repository);
  const { origin, port, pathname } = new URL(page.address);
  try {
    expect(page.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}\/$/);
    expect(await ask(page.address)).toMatchObject({
      status: 200,
      policy: expect.stringMatching(/^default-src 'none'/),
    });
    const refused = [
      ask(`${origin}/`),
      ask(`${origin}/${'x'.repeat(24)}/`),
      ask(`${origin}/${'x'.repeat(24)}/run`, { method: 'POST', headers: { origin }, body: { words: [] } }),
      ask(page.address, { headers: { host: `evil.example:${port}` } }),
      ask(page.address, { headers: { origin: 'https://evil.example' } }),
      ask(page.address, { headers: { origin: 'null' } }),
      ask(`${page.address}run`, { method: 'POST', body: { words: ['session', 'log', 's1', '--json'] } }),
      ask(`http://localhost:${port}${pathname}run`, {
        method: 'POST',
        headers: { origin },
        body: { words: [] },
      }),
    ];
    for (const { status, text } of await Promise.all(refused))
      expect([status, text]).toEqual([403, 'not for you\n']);
    const answers = await Promise.all([
      run(page, ['session', 'run', 's1', '--', 'touch', 'x']),
      run(page, ['session', 'undo', 's1', '--to-green', 'touch x']),
      run(page, ['config', 'set', 'agt.editor', 'x']),
      run(page, ['snapshot', 'forget']),
      run(page, ['session', 'log', 's1', '--json'], { repository: '/' }),
    ]);
    for (const { status } of answers) expect(status).toBe(400);
    expect(await run(page, ['session', 'log', 's1', '--json'])).toMatchObject({ status: 200 });
    expect((await ask(page.address.replace(/\/(?=\?|$)/, ''))).status).toBe(301);
    expect((await ask(`${page.address}../../etc/passwd`)).status).toBe(403);
    expect((await ask(`${page.address}page.js`, { method: 'PUT' })).status).toBe(403);
  } finally {
    expect(await page.end()).toBe(0);
  }
});

test('contents of keys, logins and settings of the agent come only if asked for', async () => {
  const repository = makeRepository();
  const { sandbox, folder } = sessionIn(repository);
  for (const path of ['.env', 'deploy.pem', 'auth.json']) write(`${sandbox}/${path}`, 'hidden-thing\n');
  write(`${sandbox}/plain.txt`, 'shown-thing\n');
  write(`${folder}/config/settings`, 'hidden-thing\n');
  agt(repository, 'autocommit', 's1');
  const page = await serve(repository);
  try {
    const start = ['session', 'log', 's1', '--json', '--stat'];
    const [{ commit }] = JSON.parse((await run(page, start)).text).json;
    const diff = ['session', 'diff', 's1', '--base', '--patch', '--json'];
    const { text } = await run(page, diff);
    expect(text).toContain('shown-thing');
    expect(text).not.toContain('hidden-thing');
    expect((await run(page, diff, { secrets: true })).text).toContain('hidden-thing');
    expect((await run(page, ['search', 'hidden-thing', '--json'])).text).not.toContain('hidden-thing');
    for (const path of ['.env', 'auth.json', '../config/settings', 'config/settings']) {
      const query = new URLSearchParams({ session: 's1', snapshot: commit, path });
      const file = `${page.address}file?${query}`;
      expect((await ask(file)).status).toBe(403);
      expect(await ask(`${file}&secrets=1`)).toMatchObject({ status: 200, text: 'hidden-thing\n' });
    }
    const blamed = await run(page, ['blame', '--json', '--', '.env'], { inSandbox: true });
    expect(JSON.parse(blamed.text)).toEqual({ exitCode: 0, hidden: true });
  } finally {
    await page.end();
  }
});

test('an act tells how far it is, and its answer comes last', async () => {
  vi.stubEnv('GIT_PROGRESS_DELAY', '0');
  const repository = makeRepository();
  const { sandbox } = sessionIn(repository);
  agt(repository, 'autocommit', 's1');
  for (let n = 0; n < 500; n++) write(`${sandbox}/${n}`, `${n}`);
  agt(repository, 'autocommit', 's1');
  const page = await serve(repository);
  try {
    await run(page, ['session', 'undo', 's1']);
    const { text } = await run(page, ['session', 'redo', 's1']);
    const lines = text.split('\n').map((line) => JSON.parse(line));
    const answer = lines.pop();
    expect(answer).toMatchObject({
      exitCode: 0,
      err: '',
      text: expect.stringMatching(/^s1: restored 500 paths/),
    });
    expect(lines).toContainEqual({ progress: expect.stringMatching(/^[a-z ]+(: \d+% \(\d+\/\d+\))? …$/) });
    const refused = (await run(page, ['session', 'undo', 'nobody'])).text.split('\n').at(-1) ?? '';
    expect(JSON.parse(refused)).toMatchObject({ exitCode: 1, err: expect.stringMatching(/^error: /) });
  } finally {
    await page.end();
    vi.unstubAllEnvs();
  }
});

test('a page of everything answers for a repository whose sessions have ended, another page does not', async () => {
  const [ended, other] = [makeRepository(), makeRepository()];
  for (const repository of [ended, other]) sessionIn(repository);
  expect(agt(ended, 'remove', 's1').exitCode).toBe(0);
  const pages = await Promise.all([serve(other, '--all'), serve(other)]);
  try {
    const list = ['session', 'list', '--all', '--json'];
    const [all, one] = await Promise.all(
      pages.map(async (page) => JSON.parse((await run(page, list)).text).json as Row[]),
    );
    const row = all?.find(({ repository }) => repository?.startsWith(`${ended}/`));
    expect(row).toMatchObject({ session_id: 's1', state: 'removed' });
    expect(one?.map(({ state }) => state)).toEqual(['active']);
    const { repository } = row ?? {};
    const log = (page: Served) => run(page, ['session', 'log', 's1', '--json'], { repository });
    const [answers, refuses] = await Promise.all(pages.map(log));
    expect(JSON.parse(answers?.text ?? '')).toMatchObject({ exitCode: 0, json: expect.any(Array) });
    expect(refuses).toMatchObject({ status: 400 });
    expect((await run(pages[1], [...list, '--everywhere'])).status).toBe(400);
  } finally {
    await Promise.all(pages.map((page) => page.end()));
  }
});

test('a second agt ui finds the first, and not one that is gone', async () => {
  const repository = makeRepository();
  sessionIn(repository);
  const first = await serve(repository);
  expect(agt(repository, 'ui')).toMatchObject({ exitCode: 0, stdout: `${first.address}\n` });
  expect(agt(repository, 'ui', '--port', 'x').exitCode).toBe(2);
  expect(await first.end()).toBe(0);
  const { port } = new URL(first.address);
  const second = await serve(repository, '--port', port);
  expect(new URL(second.address).port).toBe(port);
  expect(second.address).not.toBe(first.address);
  const elsewhere = makeRepository();
  expect(agt(elsewhere, 'ui', '--port', port)).toMatchObject({
    exitCode: 1,
    stderr: `error: port ${port} is taken\nhint: leave out --port: agt finds a free one\n`,
  });
  const { pid } = second.process;
  const [list] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
  second.process.kill('SIGKILL');
  await new Promise((resolve) => second.process.on('exit', resolve));
  await until(() => !existsSync(`/proc/${list}`));
  const third = await serve(repository);
  expect(await third.end()).toBe(0);
});
