/** The front in a folder without a session, where hooks capture to a store of its own. */
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { Front, toolEvent } from '../../harness/front.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, run, write } from '../../harness/world.ts';

const front = new Front();
const home = process.env['HOME'] ?? '';
const FILES = { a: 'a\n', 'd/b': 'b\n', '.gitignore': '*.log\n' };

function hook(cwd: string): void {
  const { exitCode, stderr } = run(AGT, ['hook', 'claude-code'], { cwd, input: toolEvent(cwd) });
  if (exitCode !== 0 || stderr !== '') throw new Error(stderr);
}

function settle(folder: string): void {
  for (let attempt = 0; attempt < 20; attempt++) {
    hook(folder);
    if (!front.startsForTool(folder, 1)) return;
  }
  throw new Error('the front starts agt again and again');
}

function expectAllSeen(folder: string, changes: Readonly<Record<string, () => unknown>>): void {
  for (const [name, change] of Object.entries(changes)) {
    settle(folder);
    change();
    expect({ name, started: front.startsForTool(folder, 1) }).toEqual({ name, started: true });
  }
}

test('in a checkout: every change of a file, and of what git ignores', () => {
  const folder = makeRepository(FILES);
  const elsewhere = makeTempDir();
  expectAllSeen(folder, {
    written: () => writeFileSync(join(folder, 'd/b'), 'x'),
    'new': () => writeFileSync(join(folder, 'new'), ''),
    deleted: () => rmSync(join(folder, 'new')),
    'ignored, then tracked': () => {
      writeFileSync(join(folder, 'x.log'), '');
      settle(folder);
      git(folder, 'add', '-f', 'x.log');
    },
    '.gitignore': () => appendFileSync(join(folder, '.gitignore'), 'd/\n'),
    'info/exclude': () => appendFileSync(join(folder, '.git/info/exclude'), 'a\n'),
    'settings of git': () => git(folder, 'config', 'core.x', 'y'),
    'settings of the user': () => write(join(home, '.gitconfig'), '[x]\n\ty = z\n'),
    'settings behind a link': () => {
      renameSync(join(home, '.gitconfig'), join(elsewhere, 'gitconfig'));
      symlinkSync(join(elsewhere, 'gitconfig'), join(home, '.gitconfig'));
      settle(folder);
      appendFileSync(join(elsewhere, 'gitconfig'), '[x]\n\tz = z\n');
    },
    'ignored by the user': () => write(join(home, '.config/git/ignore'), '*.tmp\n'),
    'settings of agt': () => agtOk(folder, 'config', 'set', 'agt.maxFileSize', '1m'),
    'a restore': () => agtOk(folder, 'snapshot', 'restore', '@{1}'),
  });
  settle(folder);
  const beforeTool = (tool: string) =>
    front.starts(folder, ['hook', tool], { input: toolEvent(folder).replace('PostToolUse', 'PreToolUse') });
  expect([beforeTool('codex'), beforeTool('claude-code'), beforeTool('gemini')]).toEqual([
    false,
    false,
    true,
  ]);
  expect(front.starts(folder)).toBe(true); // agt autocommit is for sessions
  expect(front.startsForTool(join(folder, 'd'))).toBe(false);
  git(folder, 'branch', 'other');
  expect(front.startsForTool(folder)).toBe(true); // a snapshot has the refs
  settle(folder);
  // Another one of the same name, and one inside.
  const twin = join(makeTempDir(), basename(folder));
  run('cp', ['-a', folder, twin], { cwd: '/' });
  expect(front.startsForTool(twin)).toBe(true);
  settle(twin);
  expect(front.startsForTool(folder)).toBe(false);
  writeFileSync(join(folder, 'more'), '');
  expect(front.startsForTool(twin)).toBe(false);
  expect(front.startsForTool(folder)).toBe(true);
  git(folder, 'init', '-q', 'inner');
  expect(front.startsForTool(join(folder, 'inner'))).toBe(true);
  hook(folder);
  hook(folder);
  expect(front.startsForTool(folder)).toBe(true); // the inner one has rules of its own
  git(twin, 'config', 'core.excludesFile', join(elsewhere, 'ignored'));
  hook(twin);
  hook(twin);
  expect(front.startsForTool(twin)).toBe(true); // agt does not look at that file
  rmSync(join(home, '.gitconfig'));
});

test('in a folder without a repository', () => {
  const folder = join(makeTempDir(), 'plain');
  mkdirSync(join(folder, 'd'), { recursive: true });
  expectAllSeen(folder, {
    'new': () => writeFileSync(join(folder, 'd/a'), ''),
    '.gitignore': () => writeFileSync(join(folder, '.gitignore'), 'x\n'),
    'a repository': () => git(folder, 'init', '-q'),
    'a repository no more': () => rmSync(join(folder, '.git'), { recursive: true }),
  });
  settle(folder);
  // Only the folder itself: agt looks for the nearest one that has snapshots.
  expect(front.startsForTool(join(folder, 'd'))).toBe(true);
  expect(front.startsForTool(dirname(folder))).toBe(true);
});
