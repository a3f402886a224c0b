/** The stores of folders that were moved. */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGT, agtOk, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

describe('the place of the stores', () => {
  it('follows a folder that was moved; a copy and a new folder in its place have none', () => {
    const parent = makeTempDir('moved');
    const [old, moved, copy] = ['old', 'new', 'copy'].map((name) => join(parent, name)) as [
      string,
      string,
      string,
    ];
    write(join(old, 'a'), 'one\n');
    agtOk(old, 'snapshot');
    write(join(old, 'a'), 'two\n');
    write(join(old, 'b'), 'b\n');
    agtOk(old, 'snapshot');
    cpSync(old, copy, { recursive: true });
    renameSync(old, moved);
    expect(agtOk(moved, 'undo')).toMatch(/^new: restored 2 paths, verified\n/);
    expect(agtOk(moved, 'session', 'log', 'new')).toBe(agtOk(moved, 'session', 'log', 'old'));
    expect(readFileSync(join(moved, 'a'), 'utf8')).toBe('one\n');
    expect(agtOk(moved, 'snapshot', 'status')).toContain(moved);
    write(join(old, 'a'), 'another\n');
    expect(agtOk(old, 'snapshot')).toContain('first snapshot');
    expect(agtOk(copy, 'snapshot')).toContain('first snapshot');
    expect(agtOk(moved, 'redo')).toContain('verified');
    expect(readFileSync(join(moved, 'a'), 'utf8')).toBe('two\n');
    expect(agtOk(moved, 'doctor')).toContain('nothing is wrong');
    const again = join(parent, 'again');
    renameSync(moved, again);
    symlinkSync('again', moved);
    expect(agtOk(moved, 'undo')).toContain('verified');
    expect(readFileSync(join(again, 'a'), 'utf8')).toBe('one\n');
    expect(agtOk(again, 'snapshot', 'status')).toContain(again);
  });
});

it('a folder that was moved aside and a new one at its path each have their own snapshots', () => {
  const parent = makeTempDir('aside');
  const [old, moved] = [join(parent, 'old'), join(parent, 'moved')];
  write(join(old, 'a'), 'one\n');
  agtOk(old, 'snapshot');
  write(join(old, 'a'), 'two\n');
  write(join(old, 'b'), 'b\n');
  agtOk(old, 'snapshot');
  const before = agtOk(old, 'session', 'log', '--json');
  renameSync(old, moved);
  write(join(old, 'z'), 'other\n');
  expect(agtOk(old, 'snapshot')).toContain('first snapshot');
  expect(agtOk(moved, 'snapshot')).toContain('nothing changed');
  expect(agtOk(moved, 'session', 'log', '--json')).toBe(before);
  expect(agtOk(moved, 'undo')).toContain('verified');
  expect([readdirSync(moved), readFileSync(join(moved, 'a'), 'utf8')]).toEqual([['a'], 'one\n']);
  write(join(old, 'y'), 'y\n');
  agtOk(old, 'snapshot');
  expect(agtOk(old, 'undo')).toContain('verified');
  expect(readdirSync(old)).toEqual(['z']);
  rmSync(old, { recursive: true });
  mkdirSync(old);
  expect(agtOk(old, 'snapshot', 'restore', '@')).toContain('verified');
  expect(readFileSync(join(old, 'z'), 'utf8')).toBe('other\n');
});

it.each(['1', '2', 'never', 'never, two agts at once'])(
  'two folders that were swapped (killed at step: %s): each has its snapshots',
  (step) => {
    const parent = makeTempDir('swapped');
    const [one, other, aside] = [join(parent, 'one'), join(parent, 'other'), join(parent, 'aside')];
    // agt does not tell a folder from others until it is older than its first file.
    for (const name of ['a', 'b'])
      for (const folder of [one, other]) {
        write(join(folder, name), folder);
        agtOk(folder, 'snapshot');
      }
    renameSync(one, aside);
    renameSync(other, one);
    renameSync(aside, other);
    const env = { AGT_TEST_KILL_AT: `snapshot: move written#${step}`, AGT_GIT_PATH: REAL_GIT };
    if (step.includes('at once')) {
      const both = `for folder in '${one}' '${other}'; do '${AGT}' -C "$folder" snapshot list & done; wait`;
      run('sh', ['-c', both], { cwd: parent });
    } else {
      const killed = run(process.execPath, [KILLABLE, 'snapshot', 'list'], { cwd: one, env });
      expect(killed.stdout === '').toBe(step !== 'never');
    }
    for (const folder of step === '1' ? [one, other] : [other, one]) {
      expect(agtOk(folder, 'snapshot', 'list').split('\n')).toHaveLength(3);
      expect(agtOk(folder, 'snapshot')).toContain('nothing changed');
    }
  },
);
