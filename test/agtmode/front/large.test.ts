/** In a large folder several processes look at once. Every change is seen by one of them. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Front } from '../../harness/front.ts';
import { ofToday } from '../../harness/today.ts';
import { agtOk, git, makeRepository, write } from '../../harness/world.ts';

const front = new Front();

const FILES = 6_000;

test.each(ofToday(['worktree', 'in-place']))('a folder of thousands of files (%s)', (place) => {
  const repository = makeRepository({ 'src/a': '' });
  for (let i = 0; i < FILES; i++) {
    const directory = join(repository, `src/d${i % 60}`, i % 3 === 0 ? 'deep/er' : '');
    if (i < 180) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `f${i}`), '');
  }
  write(join(repository, 'with space/x'), '');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', 'files');
  agtOk(repository, 'session', 'new', '--id', 's1', '--working-copy', place);
  const folder = `${repository}.agt/sessions/s1`;
  const sandbox = place === 'in-place' ? repository : join(folder, 'sandbox');
  front.settle(sandbox);
  const facts = readFileSync(join(repository, '.git/agt/front/s1'), 'utf8');
  if (availableParallelism() > 1) expect(facts.match(/^part /gm)?.length ?? 0).toBeGreaterThan(1);
  expect(front.starts(sandbox)).toBe(false);
  const at = (path: string) => join(sandbox, path);
  const changes: Record<string, () => unknown> = {
    'deep in the last part': () => writeFileSync(at('src/d57/deep/er/new'), ''),
    'a file written in the first part': () => writeFileSync(at('src/d0/deep/er/f0'), 'x'),
    'beside the parts': () => writeFileSync(at('src/a'), 'x'),
    'the same file again': () => writeFileSync(at('src/a'), 'y'),
    'at the top': () => writeFileSync(at('x'), ''),
    'rights of a file at the top': () => chmodSync(at('x'), 0o700),
    'in another directory': () => writeFileSync(at('with space/x'), 'x'),
    'a new directory': () => mkdirSync(at('src/new')),
    'a part gone': () => rmSync(at('src/d7'), { recursive: true }),
    'a part moved': () => renameSync(at('src/d8'), at('src/e8')),
    'a part moved away': () => renameSync(at('src/d9'), join(repository, '..', 'd9')),
    'rights of a part': () => chmodSync(at('src/d10'), 0o700),
    'in xdg': () => write(join(folder, 'xdg/x'), ''),
    'beside the sandbox': () => writeFileSync(join(folder, 'x'), ''),
  };
  const count = place === 'in-place' ? 5 : undefined;
  for (const [name, change] of Object.entries(changes).slice(0, count)) {
    front.settle(sandbox);
    change();
    expect({ name, started: front.startsForTool(sandbox, 1) }).toEqual({ name, started: true });
    if (name === 'beside the parts') {
      front.settle(sandbox);
      expect(readFileSync(join(repository, '.git/agt/front/s1'), 'utf8')).toContain('\nlast sandbox/src/a\n');
    }
  }
});
