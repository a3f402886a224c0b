/** The environment of every test file: no configuration of the user, a fixed identity and fixed dates. */
import './child-deadline.ts';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach } from 'vitest';
import { filesOfToday } from './long-files.ts';
import { noteStarts } from './starts.ts';

const root = process.env['AGT_TEST_ROOT'];
if (root === undefined) throw new Error('AGT_TEST_ROOT is set by test/harness/build.ts');
// Each test file has a home of its own: several run at once, and some write settings.
mkdirSync(root, { recursive: true });
const home = mkdtempSync(join(root, 'home-'));

for (const name of Object.keys(process.env)) {
  if (/^(GIT_|AGT_(?!TEST_)|XDG_|LC_|LANG|(FORCE|NO)_COLOR$)/.test(name)) delete process.env[name];
}
// agt runs the git under test only if it is on PATH.
const tested = process.env['AGT_TEST_GIT'];
Object.assign(process.env, {
  ...(tested === undefined ? {} : { PATH: `${dirname(tested)}:${process.env['PATH']}` }),
  HOME: home,
  GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ann Author',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_AUTHOR_DATE: '2026-01-05T12:00:00+0100',
  GIT_COMMITTER_NAME: 'Carl Committer',
  GIT_COMMITTER_EMAIL: 'carl@example.com',
  GIT_COMMITTER_DATE: '2026-01-05T12:00:00+0100',
  GIT_TERMINAL_PROMPT: '0',
  // Without it, git filter-branch waits ten seconds.
  FILTER_BRANCH_SQUELCH_WARNING: '1',
  TZ: 'UTC',
  LANG: 'C.UTF-8',
});

afterAll(() => noteStarts(root));

// Otherwise a slow machine would not come to the end: the long files of other days give way.
const longUntil = Number(process.env['AGT_TEST_LONG_UNTIL'] ?? 'Infinity');
if (Date.now() / 1000 > longUntil) {
  const own = filesOfToday();
  beforeEach(({ task, skip }) =>
    skip(!own.includes(task.file.name), 'too late for the long files of other days'),
  );
}
