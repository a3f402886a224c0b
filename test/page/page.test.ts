/** The page in a real browser: what a person sees. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '../harness/world.ts';
import { describePage, faultsOf } from './open-page.ts';

const WIDTHS = [360, 800, 1400];

const VIEWS = {
  now: '#now',
  timeline: '#timeline?session=fix-login',
  review: '#review?session=fix-login',
  changes: '#changes?session=fix-login',
  file: '#file?session=fix-login&path=src/login.ts',
  search: '#search?q=hashOf',
};

describePage('the page', (here) => {
  const { at } = here;

  test.each(Object.entries(VIEWS))('%s: axe finds nothing, and it fits each width', async (name, hash) => {
    const { page } = here;
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

  test('the times on the axis stand clear of each other at each width', async () => {
    const { page } = here;
    await at('#timeline?session=fix-login');
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(100);
      const boxes = await page.evaluate<
        { left: number; right: number }[]
      >(`[...document.querySelectorAll('.grid')]
        .map((one) => { const words = document.createRange(); words.selectNodeContents(one); return words.getBoundingClientRect().toJSON(); })
        .filter(({ left, right }) => right > left)
        .sort((a, b) => a.left - b.left)`);
      expect(boxes.length).toBeGreaterThan(0);
      expect(boxes.every(({ left }, i) => left >= (boxes[i - 1]?.right ?? 0))).toBe(true);
    }
  });

  test('close changes of one hunk are apart as smaller hunks, and in the choice of their turn', async () => {
    const { page, scene } = here;
    const file = join(scene.agent('new-api').sandbox, 'docs/api.md');
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, lines.map((line, i) => (i === 0 || i === 2 ? `${line} now` : line)).join('\n'));
    await at('#review?session=new-api');
    const hunks = page
      .locator('.change', { has: page.getByRole('heading', { name: 'docs/api.md' }) })
      .locator('.hunk');
    await hunks.first().waitFor();
    expect(await hunks.count()).toBe(1);
    await page.getByRole('button', { name: 'Smaller hunks' }).click();
    await hunks.nth(1).waitFor();
    await hunks.nth(1).getByRole('button', { name: 'Seen' }).click();
    await page.getByRole('status').getByText('1 seen').waitFor();
    expect(await hunks.count()).toBe(1);
  });

  test('the key of the search leads into its field', async () => {
    const { page } = here;
    await at('#timeline?session=fix-login');
    await page.keyboard.press('/');
    await page.getByText('in every state of every session').waitFor();
    await page.keyboard.type('hashOf');
    await page.keyboard.press('Enter');
    await page.locator('.found li').first().waitFor();
    await page.getByRole('link', { name: 'in all sessions' }).click();
    await page.getByRole('heading', { name: 'Search all sessions' }).waitFor();
    await page.locator('.found li').first().waitFor();
  });

  test('says who waits, and changes without a reload', async () => {
    const { page, scene } = here;
    await at('#now');
    expect(await page.locator('.row').first().textContent()).toMatch(
      /waits for you.*fix-login.*needs your permission to use Bash.*Refuse a login/,
    );
    const row = page.locator('.row', { hasText: 'old-docs' });
    scene.agent('old-docs').prompt('one thing more');
    await row.getByText('one thing more').waitFor();
    expect(await row.textContent()).toMatch(/works/);
    scene.agent('old-docs').event('StopFailure', { error: 'overloaded' });
    await row.getByText(/^failed/).waitFor();
    await row.getByText('overloaded').waitFor();
    scene.agt(scene.project, 'session', 'fail', 'old-docs', '--reason', 'out of credits');
    await row.getByText('out of credits').waitFor();
    expect(await row.textContent()).not.toContain('overloaded');
  });

  test('keys choose two moments and compare them', async () => {
    const { page } = here;
    await at('#timeline?session=fix-login');
    await page.locator('.step').first().waitFor();
    for (const key of ['j', 'm', 'j', 'j', 'k']) {
      await page.keyboard.press(key);
      await page.locator('.step.selected').waitFor();
    }
    await page.keyboard.press('m');
    await page.getByRole('heading', { name: /^Before and after “.*”$/ }).waitFor();
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').textContent()).toMatch(/next and previous step/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: /^Now/ }).waitFor();
  });

  test('who wrote each line stands beside a file, and a secret only if asked for', async () => {
    const { page } = here;
    await at('#file?session=fix-login&path=src/login.ts');
    await page.getByRole('button', { name: 'Who wrote each line' }).click();
    await page
      .locator('.origin', { hasText: /^turn 1: / })
      .first()
      .waitFor();
    expect(await page.locator('.origin').first().textContent()).toMatch(/^.+ \w{8}$/);
    await at('#file?session=fix-login&path=.env');
    expect(await page.locator('main').textContent()).not.toContain('secret-of-the-shop');
    await page.getByRole('button', { name: 'Show it' }).click();
    await page.getByText('secret-of-the-shop').waitFor();
  });

  test('names and contents are never markup, whatever they are', async () => {
    const { page, scene } = here;
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

  test('the first snapshot is no edit by hand, and a lost file has its state from before', async () => {
    const { page, scene } = here;
    scene.agt(scene.project, 'new', 'quiet');
    scene.agt(scene.project, 'autocommit', 'quiet');
    await at('#timeline?session=quiet');
    await page.getByRole('button', { name: 'the session begins' }).click();
    await page.getByRole('link', { name: 'What changed' }).click();
    await page.getByText('Nothing differs.').waitFor();
    await at('#file?session=fix-login&path=src/old.ts');
    await page.getByRole('button', { name: 'Delete the file, as of this moment…' }).waitFor();
    await page.getByRole('link', { name: 'as it was before these steps' }).click();
    await page.getByText('export const old = true').waitFor();
    await page.getByRole('button', { name: 'Restore this version…' }).waitFor();
    await at('#search?q=old = true&session=fix-login');
    await page.getByText(/· was there from the beginning$/).waitFor();
  });
});
