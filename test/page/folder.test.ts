/** A folder without a session on the page, in a real browser. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describePage, faultsOf } from './open-page.ts';

describePage('a folder on the page', (here) => {
  const { act, at, press, takeBack } = here;

  test('a folder without a session has a row, and goes back in the same ways', async () => {
    const { page, scene } = here;
    const { prompt, edit, event } = scene.agentIn(scene.project);
    prompt('Write notes');
    edit('notes/a.md', 'first\n');
    edit('notes/a.md', 'second\n');
    event('Stop');
    const note = () => readFileSync(join(scene.project, 'notes/a.md'), 'utf8');
    await at('#now');
    await page.locator('.row', { hasText: scene.project }).getByText('Write notes').click();
    await page
      .getByRole('button', { name: /Write notes\/a\.md/ })
      .first()
      .click();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'What changed' }).click();
    await page.getByText('second').waitFor();
    await act('Bring back what was before…');
    expect(note()).toBe('first\n');
    await takeBack();
    await act('Undo');
    await press('Close');
    expect(note()).toBe('first\n');
    await act('Redo');
    await press('Close');
    expect(note()).toBe('second\n');
    await page.getByRole('link', { name: 'Timeline', exact: true }).click();
    await act('Take back…');
    expect(existsSync(join(scene.project, 'notes/a.md'))).toBe(false);
    for (const place of [page.locator('.turn h2'), page.locator('.block')])
      await place.getByText('(undone) Write notes').waitFor();
    await takeBack();
    await page.getByRole('heading', { name: /^Turn 1 Write notes$/ }).waitFor();
    await act('Label the present…', () =>
      page.getByRole('dialog').getByRole('textbox').fill('notes are good'),
    );
    await press('Close');
    await page.getByRole('button', { name: /notes are good/ }).waitFor();
    await at(`#file?session=${scene.project}&path=notes/a.md`);
    await page.getByRole('button', { name: 'Who wrote each line' }).click();
    await page.locator('.origin', { hasText: /^turn 1: / }).waitFor();
    expect(await page.getByRole('button', { name: /Fork|Accept/ }).count()).toBe(0);
  });
});
