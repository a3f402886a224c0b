/** 50,000 files in one turn: their view comes soon, and the page never stands still. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scene } from '../../scripts/page/scene.ts';
import { describePage } from './open-page.ts';

const FILES = 50_000;
/** In this time the page shows the first of them, on a busy machine; and in this time it answers at any moment. */
const SOON_MS = 10_000;
const LONGEST_STILL_MS = 1_500;

/** By one call of a tool, before anybody looks. */
function writeMany({ agent }: Scene): void {
  const { sandbox, prompt, event } = agent('new-api');
  prompt('Write very many files');
  const call = { tool_name: 'Bash', tool_use_id: 'many', tool_input: { command: 'make them' } };
  event('PreToolUse', call);
  for (let n = 0; n < FILES; n++) {
    const folder = join(sandbox, `m${Math.floor(n / 500)}`);
    if (n % 500 === 0) mkdirSync(folder);
    writeFileSync(join(folder, `f${n}.ts`), `export const v${n} = ${n};\n`);
  }
  event('PostToolUse', call);
}

describePage(
  'a turn of 50,000 files',
  (here) => {
    test('shows the first of them, and any other by its directory', async () => {
      const { page } = here;
      await here.at('#timeline?session=new-api');
      await page.evaluate(
        `let last = performance.now(); window.still = 0;
       setInterval(() => { const now = performance.now(); window.still = Math.max(window.still, now - last); last = now; }, 20)`,
      );
      const begin = performance.now();
      await page.getByRole('link', { name: `${FILES} files` }).click();
      await page.getByText('export const v0 = 0;').waitFor();
      expect(performance.now() - begin).toBeLessThan(SOON_MS);
      expect(await page.locator('.change').count()).toBeLessThan(300);
      await page.getByText('m77/', { exact: true }).click();
      await page.getByRole('button', { name: 'f38510.ts' }).click();
      await page.getByText('export const v38510 = 38510;').waitFor();
      await page.getByRole('button', { name: /^Show the \d+ before$/ }).click();
      await page.getByText('export const v0 = 0;').waitFor();
      expect(await page.evaluate('window.still')).toBeLessThan(LONGEST_STILL_MS);
    });
  },
  writeMany,
);
