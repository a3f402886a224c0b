/** Draws the pictures of docs/guide/timeline.md in a real Chromium. Needs `npm run build` and Debian's chromium. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { makeScene } from './scene.ts';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'dist/agt');
const home = mkdtempSync(join(tmpdir(), 'agt-pictures-'));
const name = { GIT_AUTHOR_NAME: 'Ann', GIT_COMMITTER_NAME: 'Ann' };
const email = { GIT_AUTHOR_EMAIL: 'ann@example.com', GIT_COMMITTER_EMAIL: 'ann@example.com' };
const env = { PATH: process.env['PATH'], HOME: home, LC_ALL: 'C.UTF-8', ...name, ...email };

const VIEWS = {
  now: '#now',
  timeline: '#timeline?session=fix-login',
  review: '#review?session=fix-login',
  changes: '#changes?session=fix-login&turn=2',
};

const { project } = makeScene(program, join(home, 'shop'), env);
const served = spawn(program, ['ui'], { cwd: project, env, stdio: ['ignore', 'pipe', 'ignore'] });
const address = await new Promise<string>((resolve) =>
  served.stdout.once('data', (text: Buffer) => resolve(text.toString().trim())),
);
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
];
const browser = await chromium.launchPersistentContext(join(home, 'chromium'), {
  ...{
    executablePath: '/usr/bin/chromium',
    headless: true,
    args: [...args, '--disable-quic', '--disable-sync'],
  },
  viewport: { width: 1100, height: 560 },
});
try {
  const page = await browser.newPage();
  const pictures = join(root, 'docs/pictures');
  mkdirSync(pictures, { recursive: true });
  for (const [view, hash] of Object.entries(VIEWS)) {
    await page.goto('about:blank');
    await page.goto(`${address}${hash}`);
    await page.locator('main').waitFor();
    await page.locator('.loading').first().waitFor({ state: 'hidden' });
    await page.screenshot({ path: join(pictures, `${view}.png`) });
  }
} finally {
  await browser.close();
  served.kill('SIGINT');
  await new Promise((resolve) => served.on('exit', resolve));
  rmSync(home, { recursive: true, force: true });
}
