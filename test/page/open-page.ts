/** Starts `agt ui` as a person does, and a real Chromium that looks at it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { makeScene, type Scene } from '../../scripts/page/scene.ts';
import { AGT, makeTempDir, REAL_GIT } from '../harness/world.ts';

const CHROMIUM = process.env['AGT_TEST_CHROMIUM'] ?? '/usr/bin/chromium';

/** Why the tests with a browser are skipped; undefined if they run. */
export const noBrowser = existsSync(CHROMIUM)
  ? undefined
  : `there is no ${CHROMIUM}; scripts/install-packages`;

export const sceneHere = (): Scene => makeScene(AGT, `${makeTempDir('page')}/shop`, environment());

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  AGT_GIT_PATH: REAL_GIT,
  // The steps of a test take their real times.
  GIT_AUTHOR_DATE: undefined,
  GIT_COMMITTER_DATE: undefined,
});

export interface Served {
  readonly address: string;
  readonly process: ChildProcess;
  readonly end: () => Promise<number | null>;
}

export async function serve(cwd: string, ...args: string[]): Promise<Served> {
  const child = spawn(AGT, ['ui', ...args], { cwd, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
    child.stderr.once('data', (text: Buffer) => reject(new Error(text.toString())));
  });
  const end = () => {
    child.kill('SIGINT');
    return ended;
  };
  return { address, process: child, end };
}

/** The page shows anything within. */
const LONGEST_MS = 20_000;

const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
];

export function openBrowser(): Promise<BrowserContext> {
  const options = { executablePath: CHROMIUM, headless: true, args: FLAGS, reducedMotion: 'reduce' } as const;
  return chromium.launchPersistentContext(makeTempDir('chromium'), options);
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface AxeWindow {
  readonly axe: {
    run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
  };
}

/** The faults that axe finds, as one line each. The policy of the page lets no script in, so it comes by the debugger. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(axe, 'utf8'));
  const found = await page.evaluate(() =>
    (globalThis as unknown as AxeWindow).axe.run({ resultTypes: ['violations'] }),
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

/** Loads a view afresh, and waits until it is there. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(address);
  await soon(page, "document.querySelector('main') && !document.querySelector('.loading')");
}

/** The browser looks for itself at each frame; a locator would ask it twice a second. */
const soon = (page: Page, condition: string) =>
  page.evaluate(`new Promise((done, fail) => {
    const end = performance.now() + ${LONGEST_MS};
    const look = () => ${condition} ? done() : performance.now() < end ? requestAnimationFrame(look) : fail(Error('${condition.replaceAll("'", '"')}'));
    look();
  })`);
const shown = (page: Page, selector: string) =>
  soon(page, `document.querySelector('dialog[open] ${selector}')`);

/** What the tests of an open page have; all but the functions is there only while they run. */
export class PageHere {
  scene!: Scene;
  page!: Page;
  private served!: Served;
  private browser: BrowserContext | undefined;
  private readonly problems: string[] = [];

  async open(prepare: (scene: Scene) => void): Promise<void> {
    const opening = openBrowser();
    this.scene = sceneHere();
    prepare(this.scene);
    [this.served, this.browser] = await Promise.all([serve(this.scene.project), opening]);
    this.page = await this.browser.newPage();
    this.page.setDefaultTimeout(LONGEST_MS);
    this.page.on('pageerror', ({ message }) => this.problems.push(message));
    this.page.on('request', (request) => {
      if (!request.url().startsWith(this.served.address) && request.url() !== 'about:blank')
        this.problems.push(`a request to ${request.url()}`);
    });
  }

  async close(): Promise<void> {
    await this.browser?.close();
    await this.served?.end();
    expect(this.problems).toEqual([]);
  }

  readonly at = (hash: string) => goTo(this.page, `${this.served.address}${hash}`);
  readonly inSandbox = (path: string) => join(this.scene.agent('fix-login').sandbox, path);

  /** Presses a button, looks at the preview, does it. Returns what the preview and the result said. */
  readonly act = async (button: string, more = async () => {}) => {
    await this.page.getByRole('button', { name: button, exact: true }).first().click();
    const dialog = this.page.getByRole('dialog');
    await shown(this.page, '.terminal');
    const preview = (await dialog.locator('form').textContent()) ?? '';
    await more();
    await dialog.getByRole('button', { name: 'Do it' }).click();
    await shown(this.page, '[role=status]');
    const result = (await dialog.getByRole('status').textContent()) ?? '';
    return { preview, result };
  };

  readonly press = async (name: string) => {
    await this.page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  };

  readonly takeBack = async () => {
    await this.press('Take it back');
    await shown(this.page, '[role=status]');
    await this.press('Close');
  };
}

/** The page may ask nobody else, and throw nothing. */
export function describePage(
  name: string,
  tests: (here: PageHere) => void,
  prepare: (scene: Scene) => void = () => undefined,
): void {
  const title = noBrowser === undefined ? name : `${name}: ${noBrowser}`;
  describe.skipIf(noBrowser !== undefined)(title, () => {
    const here = new PageHere();
    beforeAll(() => here.open(prepare));
    afterAll(() => here.close());
    tests(here);
  });
}
