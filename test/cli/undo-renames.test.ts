/** agt undo of one turn, where somebody has renamed the file since, step by step, or a later turn has worked on it. */
import { appendFileSync, copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, makeRepository } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { makeFolder } from './turns-in-folder.ts';

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i}\n`);

// The second one is how git tells of a renamed file.
test.each(['f', 'f\x01\nR100'])(
  'the renamed file %j loses the line of the turn, and a later copy keeps it',
  (name) => {
    const cwd = makeRepository({ [name]: LINES.join('') });
    const at = (file: string) => join(cwd, file);
    const ofTurn = LINES.with(3, 'of turn 1\n');
    const agent = agentIn(cwd, 'claude-code', 'c-1');
    agent.says('first');
    agent.begins('1');
    writeFileSync(at(name), ofTurn.join(''));
    agent.ends('1');
    renameSync(at(name), at('now'));
    agtOk(cwd, 'snapshot');
    copyFileSync(at('now'), at('copy'));
    const later = ofTurn.with(20, 'of a person\n');
    writeFileSync(at('now'), later.join(''));
    agtOk(cwd, 'snapshot');
    agtOk(cwd, 'undo', '--turn', '1');
    expect(agt(cwd, 'redo').stderr).toMatch(/that undo is a step of its own\nhint: .* back: agt .*undo/);
    expect(readFileSync(at('now'), 'utf8')).toBe(later.with(3, 'line 3\n').join(''));
    expect(readFileSync(at('copy'), 'utf8')).toBe(ofTurn.join(''));
  },
);

test('a conflict of an undo names the turn that wrote the lines, not one that only renamed the file', () => {
  const { sandbox } = makeSession({ a: '1\n2\n3\n4\n5\n6\n7\n8\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  const turn = (name: string, work: () => void) => {
    agent.says(name);
    agent.begins(name);
    work();
    agent.ends(name);
  };
  const put = (name: string, line: number, text: string) => {
    const lines = readFileSync(join(sandbox, name), 'utf8').split('\n').with(line, text);
    writeFileSync(join(sandbox, name), lines.join('\n'));
  };
  const rename = (from: string, to: string) => renameSync(join(sandbox, from), join(sandbox, to));
  turn('writes', () => put('a', 3, 'four'));
  turn('renames', () => rename('a', 'b'));
  turn('writes beside it', () => put('b', 4, 'five'));
  turn('renames again', () => rename('b', 'c'));
  const by = (turns: string) =>
    `error: some of the later changes of c (by ${turns}) are in the same lines as turn 1`;
  expect(agt(sandbox, 'undo', '--turn', '1').stderr).toContain(by('turn 3'));
  turn('renames and writes', () => {
    put('c', 2, 'three');
    rename('c', 'd');
  });
  expect(agt(sandbox, 'undo', '--turn', '1').stderr).toContain(by('turn 3, turn 5').replace(' c ', ' d '));
});

test.each([
  ['renames', (file: string) => renameSync(file, `${file}.new`)],
  ['deletes', (file: string) => rmSync(file)],
  ['writes on', (file: string) => appendFileSync(file, 'more\n')],
])(
  'a turn that %s a file, taken back, stays so when the turn that made the file is taken back',
  (_, work) => {
    const { folder, turn, edit } = makeFolder();
    const newest = () => JSON.parse(agtOk(folder, 'snapshot', 'list', '--json'))[0].commit;
    const undone = (...words: string[]) => {
      agtOk(folder, ...words);
      const turns: { prompt: string; stands: boolean }[] = JSON.parse(
        agtOk(folder, 'log', '--turns', '--json'),
      );
      return turns.flatMap(({ prompt, stands }) => (stands ? [] : prompt));
    };
    turn('one', edit('t', 'test\n'));
    const before = newest();
    turn('two', () => work(join(folder, 't')));
    const after = newest();
    for (const first of [
      ['undo', '--turn', '2'],
      ['restore', before],
    ]) {
      expect(undone(...first)).toEqual(['two']);
      expect(undone('undo', '--turn', '1')).toEqual(['two', 'one']);
      expect(agtOk(folder, 'undo', '--turn', '2')).toMatch(/: turn 2 has been taken back already$/);
      expect(agt(folder, 'undo', '--turn').stderr).toBe('error: nothing to undo: every turn is taken back\n');
      expect(undone('undo')).toEqual(['two']);
      expect(undone('redo')).toEqual(['two', 'one']);
      expect(undone('undo', '2')).toEqual([]);
      expect(undone('redo', '2')).toEqual(['two', 'one']);
      agtOk(folder, 'undo');
      expect(undone('restore', after)).toEqual([]);
    }
  },
);
