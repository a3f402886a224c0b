/** Starts `agt ui` as a person does, and a real Chromium that looks at it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { makeScene, type Scene } from '../../scripts/page/scene.ts';
import { AGT, makeTempDir, REAL_GIT } from '../harness/world.ts';

const CHROMIUM = '/usr/bin/chromium';

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
  await page.locator('main').waitFor();
  await page.locator('.loading').first().waitFor({ state: 'hidden' });
}
