/** agt undo of one turn, where somebody has renamed the file since, step by step. */
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, makeRepository } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

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
