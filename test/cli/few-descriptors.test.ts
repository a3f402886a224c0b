/** With too few file descriptors a command ends with one line, lets go of its lock and leaves nothing behind. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtWithOpenFiles } from '../harness/privileges.ts';
import { makeSession } from '../harness/session.ts';
import { ofToday } from '../harness/today.ts';
import { agtOk, git, write } from '../harness/world.ts';

/** With fewer, Node does not start. */
const FEWEST = 23;
const ENOUGH = 60;

const LEFTOVERS = /\.lock$|\.tmp$|\.keep$|\/tmp_[^/]*$|fast_import_crash|agt\/locks\/./;

const COMMANDS = [
  ['autocommit', '--session-id', 's1'],
  ['session', 'undo', 's1'],
  ['session', 'restore', 's1', '--to', '@{2}'],
  ['session', 'fork', '--from', 's1', '--id', 's2'],
  ['session', 'diff', 's1'],
  ['session', 'remove', 's1'],
  ['gc', '--prune=now'],
];

test.each(ofToday(COMMANDS))('agt %s %s', { timeout: 120_000 }, (...command) => {
  const { repository, sandbox } = makeSession({ a: '0\n' });
  for (const state of [1, 2, 3]) {
    write(join(sandbox, 'a'), `${state}\n`);
    for (let file = 0; file < 10; file++) write(join(sandbox, `d/${state}/${file}`), `${state} ${file}\n`);
    agtOk(repository, 'autocommit', '--session-id', 's1');
  }
  write(join(sandbox, 'new'), 'not captured\n');
  let limit = FEWEST;
  for (; limit < ENOUGH; limit++) {
    const { exitCode, stderr } = agtWithOpenFiles(limit, repository, ...command);
    if (exitCode === 0) break;
    expect(stderr, `${limit} open files`).toMatch(/^error: .*too many open files\n(hint: .*\n)*$/);
    const all = readdirSync(join(repository, '.git'), { recursive: true, encoding: 'utf8' });
    expect(all.filter((path) => LEFTOVERS.test(path))).toEqual([]);
  }
  expect(limit).toBeGreaterThan(FEWEST);
  expect(limit).toBeLessThan(ENOUGH);
  expect(git(repository, 'fsck', '--strict')).toBe('');
  expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
});
