/** Git mode beside agt's refs prints what real git prints without them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { compareLines, describeDifference } from './compare.ts';
import { LINES } from './lines.ts';
import { buildTwin, SHAPE_NAMES, type Twin } from './shapes.ts';

describe.each(SHAPE_NAMES)('%s', (name) => {
  let twin: Twin;
  beforeAll(() => {
    twin = buildTwin(name);
  });

  test.each(Object.keys(LINES))(
    '%s',
    async (family) => {
      const differences = await compareLines(twin, LINES[family] ?? []);
      expect(differences.map(describeDifference).join('\n')).toBe('');
    },
    300_000,
  );
});
