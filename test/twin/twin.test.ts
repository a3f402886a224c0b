/** In a repository with agt's refs, git mode prints what real git prints in its twin without them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ofToday } from '../harness/today.ts';
import { compareLines, describeDifference } from './compare.ts';
import { LINES, quarterOf } from './lines.ts';
import { buildTwin, SHAPE_NAMES, type Twin, WRITTEN_SHAPES } from './shapes.ts';

describe.each(ofToday(SHAPE_NAMES))('%s', (name) => {
  let twin: Twin;
  beforeAll(() => {
    twin = buildTwin(name);
  });

  test.each(Object.keys(LINES))(
    '%s',
    async (family) => {
      const differences = await compareLines(twin, linesFor(name, family));
      expect(differences.map(describeDifference).join('\n')).toBe('');
    },
    300_000,
  );
});

/** A quarter of the lines in each repository takes a quarter of the time: each line still runs in every fourth one. */
function linesFor(shape: string, family: string): string[] {
  const lines = LINES[family] ?? [];
  const chosen = quarterOf(lines, SHAPE_NAMES.indexOf(shape));
  return WRITTEN_SHAPES.includes(shape)
    ? lines.filter((line) => line.startsWith('!') || chosen.includes(line))
    : chosen.filter((line) => !line.startsWith('!'));
}
