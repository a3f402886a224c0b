/** Each act of the page on a real repository, in a real browser. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describePage, faultsOf } from './open-page.ts';

describePage('acts on the page', (here) => {
  const { act, at, inSandbox, press, takeBack } = here;

  test('a deleted file comes back from the step that deleted it, and the restore is taken back', async () => {
    const { page } = here;
    await at('#timeline?session=fix-login');
    await page.getByRole('button', { name: /Bash rm src\/old\.ts/ }).click();
    await page.getByRole('link', { name: 'What changed' }).click();
    const { preview, result } = await act('Bring back what was before…');
    const told = 'In session fix-login: 1 file brought back. All else stays as it is.brought back src/old.ts';
    expect(preview).toMatch(
      new RegExp(`^${told} ?in the terminal: agt session restore fix-login --to \\w{10} -- src/old.tsCancel`),
    );
    expect(existsSync(inSandbox('src/old.ts'))).toBe(true);
    expect(result.trim()).toBe(`Done.${told}`);
    await takeBack();
    expect(existsSync(inSandbox('src/old.ts'))).toBe(false);
    expect((await act('Bring back all files in src/ as they were before…')).preview).toMatch(
      /brought back src\/old\.ts/,
    );
    expect(existsSync(inSandbox('src/old.ts'))).toBe(true);
    await takeBack();
    await page.keyboard.press('f');
    await page.getByRole('link', { name: 'src/', exact: true }).click();
    await page.getByRole('link', { name: /Write src\/login\.test\.ts/ }).click();
    await page.getByRole('link', { name: 'old.ts', exact: true }).waitFor();
    expect((await act('Restore this version…')).preview).toMatch(/brought back src\/old\.ts/);
    await takeBack();
    await page.getByRole('link', { name: 'cart.ts', exact: true }).click();
    await page.getByText('prices: number').waitFor();
  });

  test('undo and redo, the undo of one turn, and a label', async () => {
    const { page } = here;
    await at('#timeline?session=fix-login');
    expect((await act('Undo')).preview).toMatch(/\.env/);
    expect(existsSync(inSandbox('.env'))).toBe(false);
    await press('Close');
    await act('Redo');
    await press('Close');
    expect(existsSync(inSandbox('.env'))).toBe(true);
    const first = page.locator('.turn', { hasText: 'Turn 2' });
    const again = first.getByRole('button', { name: 'Take back…' });
    await again.click();
    await press('Do it');
    await page.getByRole('dialog').getByRole('status').waitFor();
    await press('Close');
    await again.click();
    await page.getByText('Nothing of turn 2 is left to take back.').waitFor();
    expect(await page.getByRole('button', { name: 'Do it' }).isDisabled()).toBe(true);
    await press('Cancel');
    expect(readFileSync(inSandbox('src/login.ts'), 'utf8')).not.toContain('attempts');
    expect(readFileSync(inSandbox('src/login.ts'), 'utf8')).toContain('hashOf');
    await act('Undo');
    await press('Close');
    expect(readFileSync(inSandbox('src/login.ts'), 'utf8')).toContain('attempts');
    const name = () => page.getByRole('dialog').getByRole('textbox').fill('named on the page');
    await act('Label the present…', name);
    await press('Close');
    await page.getByRole('button', { name: /named on the page/ }).waitFor();
  });

  test('fork, sync, accept and back, reject and remove', async () => {
    const { page, scene } = here;
    await at('#timeline?session=fix-login');
    await act('Fork the present…', () => page.getByRole('dialog').getByRole('textbox').fill('another-way'));
    await page.getByRole('link', { name: 'Session another-way' }).click();
    await page.getByRole('link', { name: /^fork of fix-login, at \w{10}$/ }).waitFor();
    await at('#now');
    await page.locator('.row', { hasText: /another-way.*fork of fix-login/ }).waitFor();
    await at('#changes?session=new-api');
    await page.getByRole('button', { name: 'Sync…' }).click();
    await page.getByText('has all commits').waitFor();
    expect(await page.getByRole('button', { name: 'Do it' }).isDisabled()).toBe(true);
    await press('Cancel');
    const { preview } = await act('Accept all…', () =>
      page.getByLabel('Message of the commit').fill('Orders\n\nby hand'),
    );
    expect(preview).toMatch(
      /^Branch main gets one new commit: 1 file changed, 1 file new\. Rejected lines stay out of it/,
    );
    expect(preview).toMatch(/new src\/orders\.ts \+1 −0/);
    expect(existsSync(join(scene.project, 'src/orders.ts'))).toBe(true);
    const head = readFileSync(join(scene.project, '.git/refs/heads/main'), 'utf8').trim();
    expect(scene.agt(scene.project, 'session', 'show', 'new-api', '--json')).toContain(head);
    await press('Close');
    await page.getByTitle(head).getByText('on main').waitFor();
    await at('#review?session=new-api');
    await page
      .getByRole('status')
      .getByText(/^nothing new$/)
      .waitFor();
    expect(await page.getByRole('button', { name: 'Accept what I saw…' }).isDisabled()).toBe(true);
    expect((await act('Take the acceptance back…')).preview).toMatch(
      /^Branch main goes back to where it was before: 1 file changed, 1 file deleted\./,
    );
    expect(await page.getByRole('button', { name: 'Take it back' }).count()).toBe(0);
    await press('Close');
    expect(existsSync(join(scene.project, 'src/orders.ts'))).toBe(false);
    await page.getByText('on main').waitFor({ state: 'hidden' });
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
    // Other questions of the page may be under way.
    await page.unrouteAll({ behavior: 'wait' });
    await at('#timeline?session=cleanup');
    await act('Reject session…');
    await press('Close');
    await at('#now');
    await page
      .locator('.row', { hasText: /another-way|cleanup/ })
      .first()
      .waitFor({ state: 'hidden' });
  });

  test('ended sessions stand behind a button, with their timeline and diffs, and come back', async () => {
    const { page, scene } = here;
    scene.agt(scene.project, 'accept', 'new-api', '--untracked=all');
    await at('#now');
    await page.getByRole('button', { name: 'Ended sessions' }).click();
    const row = page.locator('.row', { hasText: 'cleanup' });
    await row.getByText('rejected').waitFor();
    expect(await row.textContent()).toMatch(/Remove dead code.*ended \d+ \w+$/);
    const accepted = page.locator('.row.is-ended', { hasText: 'new-api' });
    expect(await accepted.textContent()).toMatch(
      /Add an endpoint.*accepted as [0-9a-f]{10} on mainended \d+ \w+$/,
    );
    expect(await faultsOf(page)).toEqual([]);
    await row.getByRole('link').click();
    await page.getByRole('button', { name: /Bash rm src\/old\.ts/ }).click();
    await page.getByRole('link', { name: 'What changed' }).click();
    await page.getByRole('heading', { name: 'Before and after “Bash rm src/old.ts”' }).waitFor();
    expect(await page.getByRole('link', { name: 'Review', exact: true }).count()).toBe(0);
    expect((await act('Undo')).result).toMatch(/cleanup/);
    await press('Close');
    await page.getByRole('link', { name: 'Review', exact: true }).waitFor();
    expect(existsSync(join(scene.agent('cleanup').sandbox, 'README.md'))).toBe(true);
  });

  test('a review remembers: what was seen lands, what was rejected goes, the rest stays', async () => {
    const { page, scene } = here;
    await at('#review?session=fix-login');
    const file = (path: string) =>
      page.locator('.change', { has: page.getByRole('heading', { name: path, exact: true }) });
    await file('README.md').getByRole('button', { name: 'Seen' }).click();
    await file('README.md').waitFor({ state: 'hidden' });
    await file('src/login.test.ts').getByRole('button', { name: 'Reject…' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('test it with a limit');
    await press('Do it');
    await press('Close');
    await file('src/login.test.ts').getByText('test it with a limit').waitFor();
    await page.getByRole('status').getByText('1 rejected').waitFor();
    await file('src/login.test.ts').getByRole('button', { name: 'Undo the rejection' }).click();
    await file('src/login.test.ts').getByRole('button', { name: 'Reject…' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('test it with a limit');
    await press('Do it');
    await press('Close');
    // A key that was seen is no dead end.
    await file('.env').getByRole('button', { name: 'Seen' }).click();
    await file('.env').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Accept what I saw…' }).click();
    await press('Leave these files out');
    const message = page.getByLabel('Message of the commit');
    await message.waitFor();
    expect(await message.inputValue()).toMatch(/Agt-Session: fix-login$/);
    await message.fill('Safe passwords');
    await press('Do it');
    await page.getByRole('dialog').getByRole('status').waitFor();
    await press('Close');
    expect(readFileSync(join(scene.project, 'README.md'), 'utf8')).toContain('safe passwords');
    expect(readFileSync(join(scene.project, 'src/login.ts'), 'utf8')).not.toContain('hashOf');
    expect(existsSync(join(scene.project, '.env'))).toBe(false);
    expect(existsSync(inSandbox('src/login.test.ts'))).toBe(true);
    // An edit that no snapshot has yet.
    writeFileSync(inSandbox('docs/api.md'), '# Another API\n');
    await file('docs/api.md').waitFor();
    scene.agent('fix-login').event('Stop');
    expect(existsSync(inSandbox('src/login.test.ts'))).toBe(false);
  });
});
