/** A person looks at the page, and at agt list --watch, while Claude Code works. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, makeTempDir } from '../harness/world.ts';
import { goTo, noBrowser, openBrowser, type Served, serve } from '../page/open-page.ts';
import { agentProblem, TestAgent } from './agent.ts';
import { claude } from './claude.ts';
import { script } from './model.ts';

const problem = agentProblem(claude) ?? noBrowser;
beforeEach(({ skip }) => skip(problem !== undefined, problem));

let served: Served | undefined;
let terminal: ChildProcess | undefined;
afterAll(async () => {
  terminal?.kill();
  await served?.end();
});

test('each call shows while it is under way, without a reload', { timeout: 120_000 }, async () => {
  const agent = new TestAgent(claude);
  const { repository, sandbox } = makeSession({ 'old.txt': 'old\n' });
  agent.install(sandbox);
  const signals = makeTempDir('signals');
  const screen = join(signals, 'screen');
  terminal = spawn('script', ['-qfec', `'${AGT}' list --watch`, screen], {
    cwd: repository,
    stdio: 'ignore',
  });
  served = await serve(repository);
  const browser = await openBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await goTo(page, `${served.address}#now`);
  await page.evaluate('globalThis.isStillTheSame = true');

  const waitFor = (name: string) => `until [ -e ${signals}/${name} ]; do sleep 0.05; done`;
  const allow = (name: string) => writeFileSync(join(signals, name), '');
  const call = (command: string) => ({ tool: 'Bash', args: { command } });
  const calls = [call(`echo made > new.txt; ${waitFor('first')}`), call(`rm old.txt; ${waitFor('second')}`)];
  const running = agent.beside(sandbox, `tidy up ${script([...calls, { text: 'done' }])}`);
  const row = page.locator('.row', { hasText: 's1' });
  await row.getByText(/^works/).waitFor();
  await row.getByText('tidy up').waitFor();
  const second = await browser.newPage();
  second.setDefaultTimeout(20_000);
  await goTo(second, `${served.address}#timeline?session=s1`);
  await second.evaluate('globalThis.isStillTheSame = true');
  expect(await second.locator('.step', { hasText: 'echo made' }).count()).toBe(0);
  allow('first');
  await second.locator('.step', { hasText: 'echo made' }).waitFor();
  await row.getByText(/\+1/).first().waitFor();
  allow('second');
  expect(await running).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('done') });
  await row.getByText(/^done/).waitFor();
  await second.locator('.step', { hasText: 'rm old.txt' }).waitFor();
  for (const one of [page, second]) expect(await one.evaluate('globalThis.isStillTheSame')).toBe(true);
  expect(agent.failures()).toBe('');

  await expect
    .poll(() => readFileSync(screen, 'utf8'), { timeout: 20_000 })
    .toMatch(/s1.*works[\s\S]*s1.*done/);
  await browser.close();
});
