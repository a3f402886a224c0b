/** In a life of lines: one thing goes, and comes back. No line of anybody else changes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { agt, agtOk } from '../../harness/world.ts';
import { type Line, type Pen, type Place, textOf } from './pen.ts';
import { turnNumber } from './turn-number.ts';

function onDisk(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/.git') && entry.name !== '.git')
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(names.sort().map((name) => [name.slice(folder.length + 1), readFileSync(name, 'utf8')]));
}

const expectedOnDisk = ({ files }: Place) =>
  new Map([...files.keys()].sort().map((name) => [name, textOf(files.get(name) ?? [])]));

export function undoOneThing(place: Place, pen: Pen, turns: number): void {
  const { folder, files } = place;
  const { random } = pen;
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
  for (const { text } of left) {
    const others = left.filter((line) => line.text === text).length;
    expect([text, (count.get(text) ?? 0) >= others]).toEqual([text, true]);
  }
  // A file that is back may be a copy: its lines are of the one who copied them.
  const own = [...now].flatMap(([name, text]) => pen.lines(name, text));
  expect(own.filter(({ by, from }) => from === undefined && isUndone(by))).toEqual([]);
  if (outcome.stdout.includes('nothing of')) return;
  agtOk(folder, 'undo');
  expect(onDisk(folder)).toEqual(expectedOnDisk(place));
}
