/** agt ui --export: one file with a session's timeline and diffs, which asks nobody for anything. */
import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { faultsOf, noBrowser, openBrowser, sceneHere } from './open-page.ts';

test.skipIf(noBrowser !== undefined)(
  `an exported session${noBrowser === undefined ? '' : `: ${noBrowser}`}`,
  async () => {
    const { project, agent } = sceneHere();
    const { sandbox, edit, prompt } = agent('fix-login');
    prompt('Add debug output');
    edit('src/debug.ts', 'export const debug = true;\n');
    agtOk(sandbox, 'undo', '--turn', '3');
    for (const marks of [
      ['--seen', 'README.md'],
      ['--reject', 'src/login.test.ts', '-m', 'test it with a limit'],
    ])
      expect(agt(project, 'review', 'fix-login', ...marks)).toMatchObject({ exitCode: 0 });
    write(join(sandbox, 'id_rsa'), 'planted-in-a-key\n');
    agt(sandbox, 'autocommit');
    const outcome = agt(project, 'ui', '--export', 'out.html', '--session', 'fix-login');
    expect(outcome).toMatchObject({
      exitCode: 0,
      stdout: 'out.html has the timeline, the review and the diffs of fix-login\n',
    });
    const file = join(project, 'out.html');
    for (const secret of ['secret-of-the-shop', 'planted-in-a-key'])
      expect(readFileSync(file, 'utf8')).not.toContain(secret);
    expect(agt(project, 'ui', '--export', 'no.html', '--session', 'nobody').exitCode).not.toBe(0);
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      page.on('pageerror', ({ message }) => asked.push(message));
      await page.goto(pathToFileURL(file).href);
      await page.getByRole('heading', { name: 'Turn 2 Refuse a login' }).waitFor();
      await page.getByRole('heading', { name: 'Turn 3 (undone) Add debug output' }).waitFor();
      expect(await page.title()).toBe('fix-login - agt');
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole('link', { name: 'Review', exact: true }).click();
      const hunkOf = (path: string) => page.getByRole('region', { name: new RegExp(`hunk of ${path}$`) });
      await hunkOf('README.md').getByText('seen', { exact: true }).waitFor();
      await hunkOf('src/login.test.ts').getByText('test it with a limit').waitFor();
      await hunkOf('src/old.ts').getByText('new', { exact: true }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.getByRole('button', { name: /Seen|Reject|Accept|All seen/ }).count()).toBe(0);
      await page.getByRole('link', { name: 'Timeline', exact: true }).click();
      await page.getByRole('link', { name: '3 files' }).first().click();
      await page.getByText('too many attempts').first().waitFor();
      expect(await page.getByRole('button', { name: /Accept|Undo|Restore/ }).count()).toBe(0);
      expect(asked).toEqual([pathToFileURL(file).href]);
    } finally {
      await browser.close();
    }
  },
);

test.each([
  ['ui', '--force', '--session', 's1', '--export', 'out.html'],
  ['session', 'bundle', '--force', 's1', 'out.html', '--html'],
])('agt %s names the review only if the file has one: an ended session has none', (...words) => {
  const repository = makeRepository();
  agtOk(repository, 'session', 'new', '--id', 's1');
  expect(agtOk(repository, ...words)).toBe('out.html has the timeline, the review and the diffs of s1');
  agtOk(repository, 'session', 'remove', 's1');
  expect(agtOk(repository, ...words)).toBe('out.html has the timeline and the diffs of s1');
});

test('that of a folder has no review, and reads what only git has', () => {
  const repository = makeRepository();
  agtOk(repository, 'snapshot');
  // Not in a snapshot: the store has no object of it.
  write(join(repository, 'c'), 'c\n');
  git(repository, 'add', 'c');
  git(repository, 'commit', '-qm', 'c');
  utimesSync(join(repository, 'c'), 1, 1);
  git(repository, 'status');
  expect(agtOk(repository, 'session', 'diff', '--base', '--name-only')).toBe('c');
  expect(agtOk(repository, 'ui', '--export', 'out.html')).toMatch(
    /^out.html has the timeline and the diffs of /,
  );
  expect(readFileSync(join(repository, 'out.html'), 'utf8')).not.toContain('"err":"error: ');
});

test.each([
  ['ui', '--session', 's1', '--export', 'out.html'],
  ['session', 'bundle', 's1', 'out.html', '--html'],
])('agt %s replaces a file only with --force', (...words) => {
  const repository = makeRepository();
  agtOk(repository, 'session', 'new', '--id', 's1');
  const file = join(repository, 'out.html');
  write(file, 'mine\n');
  expect(agt(repository, ...words)).toMatchObject({
    exitCode: 2,
    stderr: `error: ${file} exists already\nhint: to replace it: --force\n`,
  });
  expect(readFileSync(file, 'utf8')).toBe('mine\n');
  agtOk(repository, ...words, '--force');
  expect(readFileSync(file, 'utf8')).toContain('<html');
});

test('a folder without a session is listed as no repository after its export', () => {
  const project = makeRepository();
  const agent = agentIn(project, 'claude-code', 'c-1');
  agent.says('A turn');
  agent.begins('1');
  write(join(project, 'new'), 'new\n');
  agent.ends('1');
  const everywhere = () =>
    ['list', 'activity'].map((command) => JSON.parse(agtOk(project, command, '--everywhere', '--json')));
  const before = everywhere();
  agtOk(project, 'ui', '--export', 'out.html');
  expect(everywhere()).toEqual(before);
});

test('an export without a session: the error says how to name one', () => {
  const repository = makeRepository();
  agtOk(repository, 'session', 'new', '--id', 's1');
  expect(agt(repository, 'ui', '--export', 'out.html').stderr).toContain(
    'hint: an export is of one session: agt ui --session ID --export FILE\n',
  );
});
