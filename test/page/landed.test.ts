/** Ended sessions on the page: where their work is now, as the commands say it, and the marks of forks. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git, write } from '../harness/world.ts';
import { describePage, faultsOf } from './open-page.ts';

describePage('ended sessions on the page', (here) => {
  const { at } = here;
  const rowOf = (id: string) => here.page.locator('.row.is-ended', { hasText: id });

  /** A file of its own lands as one commit. */
  function accept(id: string): void {
    const { agt, agent, project } = here.scene;
    agt(project, 'new', id, '-q');
    write(join(agent(id).sandbox, `${id}.txt`), `${id}\n`);
    agt(project, 'accept', id, '--untracked=all');
  }

  test('a reset, an amend and a revert are in the list and in the head, as in agt list', async () => {
    const { page, scene } = here;
    const { project } = scene;
    accept('amended');
    git(project, 'commit', '-q', '--amend', '-m', 'in other words');
    accept('back');
    git(project, 'revert', '--no-edit', 'HEAD');
    accept('stands');
    accept('dropped');
    git(project, 'reset', '-q', '--hard', 'HEAD~1');
    const table = scene.agt(project, 'list', '--all');
    const placeOf = (id: string) => table.match(new RegExp(`^${id} .* ago as (.*?)(  |$)`, 'm'))?.[1] ?? '';
    await at('#now?ended=yes');
    for (const [id, place, isGreen] of [
      ['dropped', /^\w{10}; that commit is no longer on main$/, false],
      ['amended', /^\w{10}, now \w{10} on main$/, true],
      ['back', /^\w{10} on main, reverted by \w{10}$/, false],
      ['stands', /^\w{10} on main$/, true],
    ] as const) {
      expect(placeOf(id)).toMatch(place);
      const words = rowOf(id).locator('.merge');
      expect(await words.textContent()).toBe(`accepted as ${placeOf(id)}`);
      expect([id, /is-clean/.test((await words.getAttribute('class')) ?? '')]).toEqual([id, isGreen]);
    }
    expect(await faultsOf(page)).toEqual([]);
    for (const id of ['dropped', 'back']) {
      await at(`#timeline?session=${id}`);
      const head = (await page.locator('.head .title').textContent()) ?? '';
      expect(head.replace(/ \d+ \w+ ago/, '')).toContain(`accepted as ${placeOf(id)}`);
    }
  });

  test('a merge at a remote that the branch here lacks is named, as in agt list', async () => {
    const { agt, agent, project } = here.scene;
    agt(project, 'new', 'at-remote', '-q');
    const { sandbox } = agent('at-remote');
    write(join(sandbox, 'at-remote.txt'), 'text\n');
    git(sandbox, 'add', '-A');
    git(sandbox, 'commit', '-q', '-m', 'text');
    git(project, 'update-ref', 'refs/remotes/origin/main', 'agt/at-remote');
    expect(agt(project, 'list')).toMatch(/^at-remote .* merged on origin\/main /m);
    await at('#now');
    await here.page.locator('.row', { hasText: 'at-remote' }).getByText('merged on origin/main').waitFor();
  });

  test('a revert in a terminal is there when the person comes back to the page', async () => {
    const { page, scene } = here;
    accept('later');
    await at('#now?ended=yes');
    await rowOf('later')
      .getByText(/ on main$/)
      .waitFor();
    git(scene.project, 'revert', '--no-edit', 'HEAD');
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await rowOf('later')
      .getByText(/ on main, reverted by \w{10}$/)
      .waitFor();
  });

  test('the timeline has a mark for a fork that has ended', async () => {
    const { page, scene } = here;
    const { agt, project } = scene;
    agt(project, 'session', 'fork', 'new-api', '--at', '@{1}', '--id', 'api-two');
    await at('#timeline?session=new-api');
    await page.locator('.fork', { hasText: 'api-two' }).waitFor();
    agt(project, 'accept', 'api-two', '--untracked=all');
    await at('#now');
    await page.locator('.row', { hasText: 'fork of new-api' }).waitFor({ state: 'hidden' });
    await at('#timeline?session=new-api');
    await page.locator('.fork', { hasText: 'api-two' }).waitFor();
    await at('#timeline?session=old-docs');
    expect(await page.locator('.fork').count()).toBe(0);
  });
});
