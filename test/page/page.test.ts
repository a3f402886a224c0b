/** The page in a real browser: what a person sees, and each act on a real repository. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scene } from '../../scripts/page/scene.ts';
import { write } from '../harness/world.ts';
import { faultsOf, goTo, noBrowser, openBrowser, type Served, sceneHere, serve } from './open-page.ts';

const WIDTHS = [360, 800, 1400];

const VIEWS = {
  now: '#now',
  timeline: '#timeline?session=fix-login',
  review: '#review?session=fix-login',
  changes: '#changes?session=fix-login',
  file: '#file?session=fix-login&path=src/login.ts',
  search: '#search?q=hashOf',
};

describe.skipIf(noBrowser !== undefined)(`the page${noBrowser === undefined ? '' : `: ${noBrowser}`}`, () => {
  let scene: Scene;
  let served: Served;
  let browser: BrowserContext;
  let page: Page;
  const problems: string[] = [];
  const at = (hash: string) => goTo(page, `${served.address}${hash}`);
  const inSandbox = (path: string) => join(scene.agent('fix-login').sandbox, path);

  beforeAll(async () => {
    scene = sceneHere();
    [served, browser] = await Promise.all([serve(scene.project), openBrowser()]);
    page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('request', (request) => {
      if (!request.url().startsWith(served.address) && request.url() !== 'about:blank')
        problems.push(`a request to ${request.url()}`);
    });
  });
  afterAll(async () => {
    await browser?.close();
    await served?.end();
    expect(problems).toEqual([]);
  });

  /** Presses a button, looks at the preview, does it. Returns what the preview and the result said. */
  const act = async (button: string, more = async () => {}) => {
    await page.getByRole('button', { name: button, exact: true }).first().click();
    const dialog = page.getByRole('dialog');
    const preview = (await dialog.locator('pre').textContent()) ?? '';
    await more();
    await dialog.getByRole('button', { name: 'Do it' }).click();
    const result = (await dialog.getByRole('status').textContent()) ?? '';
    return { preview, result };
  };
  const press = async (name: string) => {
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  };
  const takeBack = async () => {
    await press('Take it back');
    await page.getByRole('dialog').getByRole('button', { name: 'Take it back' }).waitFor();
    await press('Close');
  };

  test.each(Object.entries(VIEWS))('%s: axe finds nothing, and it fits each width', async (name, hash) => {
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await at(hash);
      expect(await faultsOf(page)).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const overflow = 'document.documentElement.scrollWidth - innerWidth';
      expect([width, await page.evaluate(overflow)]).toEqual([width, 0]);
      const pictures = process.env['AGT_TEST_PICTURES'];
      if (pictures === undefined) continue;
      mkdirSync(pictures, { recursive: true });
      await page.screenshot({ path: join(pictures, `${name}-${width}.png`) });
    }
  });

  test('says who waits, and changes without a reload', async () => {
    await at('#now');
    expect(await page.locator('.row').first().textContent()).toMatch(
      /waits for you.*fix-login.*Refuse a login/,
    );
    const row = page.locator('.row', { hasText: 'old-docs' });
    scene.agent('old-docs').prompt('one thing more');
    await row.getByText('one thing more').waitFor();
    expect(await row.textContent()).toMatch(/works/);
    scene.agent('old-docs').event('StopFailure', { error: 'overloaded' });
    await row.getByText(/^failed/).waitFor();
  });

  test('a deleted file comes back from the step that deleted it, and the restore is taken back', async () => {
    await at('#timeline?session=fix-login');
    await page.getByRole('button', { name: /Bash rm src\/old\.ts/ }).click();
    await page.getByRole('link', { name: 'What changed' }).click();
    const { preview, result } = await act('Bring back what was before…');
    expect(preview).toMatch(/src\/old\.ts/);
    expect(existsSync(inSandbox('src/old.ts'))).toBe(true);
    expect(result).toMatch(/restored|1 path/i);
    await takeBack();
    expect(existsSync(inSandbox('src/old.ts'))).toBe(false);
  });

  test('undo and redo, the undo of one turn, and a label', async () => {
    await at('#timeline?session=fix-login');
    expect((await act('Undo')).preview).toMatch(/\.env/);
    expect(existsSync(inSandbox('.env'))).toBe(false);
    await press('Close');
    await act('Redo');
    await press('Close');
    expect(existsSync(inSandbox('.env'))).toBe(true);
    const first = page.locator('.turn', { hasText: 'Turn 2' });
    await first.getByRole('button', { name: 'Take back…' }).click();
    await press('Do it');
    await page.getByRole('dialog').getByRole('status').waitFor();
    expect(readFileSync(inSandbox('src/login.ts'), 'utf8')).not.toContain('attempts');
    expect(readFileSync(inSandbox('src/login.ts'), 'utf8')).toContain('hashOf');
    await takeBack();
    expect(readFileSync(inSandbox('src/login.ts'), 'utf8')).toContain('attempts');
    const name = () => page.getByRole('dialog').getByRole('textbox').fill('named on the page');
    await act('Label…', name);
    await press('Close');
    await page.getByRole('button', { name: /named on the page/ }).waitFor();
  });

  test('fork, sync, accept and back, reject and remove', async () => {
    await at('#timeline?session=fix-login');
    await act('Fork…', () => page.getByRole('dialog').getByRole('textbox').fill('another-way'));
    await press('Close');
    await at('#now');
    await page.locator('.row', { hasText: 'another-way' }).waitFor();
    await at('#changes?session=new-api');
    expect((await act('Sync…')).result).toMatch(/has all commits/);
    await press('Close');
    const { preview } = await act('Accept…');
    expect(preview).toMatch(/src\/orders\.ts/);
    expect(existsSync(join(scene.project, 'src/orders.ts'))).toBe(true);
    await takeBack();
    expect(existsSync(join(scene.project, 'src/orders.ts'))).toBe(false);
    await at('#timeline?session=another-way');
    // The list says that the session has ended before the command has answered.
    await page.route('**/run', async (route) => {
      const answer = await route.fetch();
      if (!/"remove"(?!.*dry-run)/.test(route.request().postData() ?? ''))
        return route.fulfill({ response: answer });
      await page.getByText('removed', { exact: true }).waitFor();
      await route.fulfill({ response: answer });
    });
    await act('Remove…');
    await press('Close');
    await page.unroute('**/run');
    await at('#timeline?session=cleanup');
    await act('Reject…');
    await press('Close');
    await at('#now');
    await page
      .locator('.row', { hasText: /another-way|cleanup/ })
      .first()
      .waitFor({ state: 'hidden' });
  });

  test('ended sessions stand behind a button, with their timeline and diffs, and come back', async () => {
    await at('#now');
    await page.getByRole('button', { name: 'Ended sessions' }).click();
    const row = page.locator('.row', { hasText: 'cleanup' });
    await row.getByText('rejected').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await row.getByRole('link').click();
    await page.getByRole('button', { name: /Bash rm src\/old\.ts/ }).click();
    await page.getByRole('link', { name: 'What changed' }).click();
    await page.getByRole('heading', { name: /src\/old\.ts/ }).waitFor();
    expect(await page.getByRole('link', { name: 'Review', exact: true }).count()).toBe(0);
    expect((await act('Undo')).result).toMatch(/cleanup/);
    await press('Close');
    await page.getByRole('link', { name: 'Review', exact: true }).waitFor();
    expect(existsSync(join(scene.agent('cleanup').sandbox, 'README.md'))).toBe(true);
  });

  test('a review remembers: what was seen lands, what was rejected goes, the rest stays', async () => {
    await at('#review?session=fix-login');
    const file = (path: string) =>
      page.locator('.change', { has: page.getByRole('heading', { name: path, exact: true }) });
    await file('README.md').getByRole('button', { name: 'Seen' }).click();
    await file('README.md').waitFor({ state: 'hidden' });
    await file('src/login.test.ts').getByRole('button', { name: 'Reject…' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('test it with a limit');
    await press('Do it');
    await press('Close');
    await file('src/login.test.ts').waitFor({ state: 'hidden' });
    await act('Accept what I saw…');
    await press('Close');
    expect(readFileSync(join(scene.project, 'README.md'), 'utf8')).toContain('safe passwords');
    expect(readFileSync(join(scene.project, 'src/login.ts'), 'utf8')).not.toContain('hashOf');
    expect(existsSync(inSandbox('src/login.test.ts'))).toBe(true);
    scene.agent('fix-login').event('Stop');
    expect(existsSync(inSandbox('src/login.test.ts'))).toBe(false);
  });

  test('keys choose two moments and compare them', async () => {
    await at('#timeline?session=fix-login');
    await page.locator('.step').first().waitFor();
    for (const key of ['j', 'm', 'j', 'j', 'k']) {
      await page.keyboard.press(key);
      await page.locator('.step.selected').waitFor();
    }
    await page.keyboard.press('m');
    await page.getByRole('heading', { name: /^From \w{10} to \w{10}$/ }).waitFor();
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').textContent()).toMatch(/next and previous step/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: /^Now/ }).waitFor();
  });

  test('who wrote each line stands beside a file, and a secret only if asked for', async () => {
    await at('#file?session=fix-login&path=src/login.ts');
    await page.getByRole('button', { name: 'Who wrote each line' }).click();
    await page.locator('.origin', { hasText: 'claude turn 1' }).first().waitFor();
    await at('#file?session=fix-login&path=.env');
    expect(await page.locator('main').textContent()).not.toContain('secret-of-the-shop');
    await page.getByRole('button', { name: 'Show it' }).click();
    await page.getByText('secret-of-the-shop').waitFor();
  });

  test('names and contents are never markup, whatever they are', async () => {
    const { sandbox, event, prompt } = scene.agent('old-docs');
    const evil = '<img src=x onerror="document.title=`taken`">';
    prompt(`${evil}<script>document.title="taken"</script>`);
    write(
      join(sandbox, `${evil.replace(/\//g, '')}.html`),
      `<script>document.title="taken"</script>\n${evil}\n`,
    );
    write(join(sandbox, 'long.js'), `const x = "${'x'.repeat(10_000_000)}";\n`);
    write(join(sandbox, 'bytes.txt'), Buffer.from([0x66, 0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0a]));
    event('Stop');
    for (const view of ['timeline', 'changes']) {
      await at(`#${view}?session=old-docs`);
      await page.getByText('onerror').first().waitFor();
    }
    await page.getByText('f��').waitFor();
    await page.getByText('Too long to show').waitFor();
    await at('#now');
    expect(await page.title()).not.toBe('taken');
    expect(await page.locator('main img, main script').count()).toBe(0);
  });
});
