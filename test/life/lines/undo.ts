/** In a life of lines: one thing goes, and comes back. No line of anybody else changes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { agt, agtOk } from '../../harness/world.ts';
import type { Random } from '../random.ts';
import { type Line, type Place, textOf } from './pen.ts';
import { turnNumber } from './turn-number.ts';

function onDisk(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/.git') && entry.name !== '.git')
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(names.sort().map((name) => [name.slice(folder.length + 1), readFileSync(name, 'utf8')]));
}

const expectedOnDisk = ({ files }: Place) =>
  new Map([...files.keys()].sort().map((name) => [name, textOf(files.get(name) ?? [])]));

export function undoOneThing(place: Place, random: Random, turns: number): void {
  const { folder, files } = place;
  const number = 1 + random.below(turns);
  const agent = random.pick(['claude', 'codex']);
  const turn = turnNumber(folder, number);
  const isTurn = random.chance(0.7) && turn !== undefined;
  const isUndone = (by: string) => (isTurn ? by.endsWith(` ${number}`) : by.includes(` ${agent} `));
  const outcome = agt(folder, 'undo', ...(isTurn ? ['--turn', turn] : ['--agent', agent]));
  const now = onDisk(folder);
  if (outcome.exitCode !== 0) {
    expect(outcome.stderr).toMatch(/same lines|no turn is of|changed nothing/);
    expect(now).toEqual(expectedOnDisk(place));
    return;
  }
  const count = new Map<string, number>();
  for (const line of [...now.values()].flatMap((text) => text.split('\n')))
    count.set(line, (count.get(line) ?? 0) + 1);
  const lines = [...files.values()].flat();
  // A line that the undone work had only indented is there again as it was.
  const under = (line: Line): Line =>
    isUndone(line.by) && line.under !== undefined ? under(line.under) : line;
  const left = lines.map(under).filter(({ by }) => !isUndone(by));
  for (const { text, by, from } of lines) {
    const others = left.filter((line) => line.text === text).length;
    if (!isUndone(by)) expect([text, (count.get(text) ?? 0) >= others]).toEqual([text, true]);
    else if (from === undefined) expect([text, count.get(text) ?? 0]).toEqual([text, others]);
  }
  if (outcome.stdout.includes('nothing of')) return;
  agtOk(folder, 'undo');
  expect(onDisk(folder)).toEqual(expectedOnDisk(place));
}
