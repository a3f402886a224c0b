/** In a repository with agt's refs, git mode prints what real git prints in its twin without them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { compareLines, describeDifference } from './compare.ts';
import { LINES } from './lines.ts';
import { buildTwin, SHAPE_NAMES, type Twin, WRITTEN_SHAPES } from './shapes.ts';

describe.each(SHAPE_NAMES)('%s', (name) => {
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

function linesFor(shape: string, family: string): string[] {
  return (LINES[family] ?? []).filter((line) => !line.startsWith('!') || WRITTEN_SHAPES.includes(shape));
}
