/** By git's matching rules, the globs match every ref outside the prefixes and no other. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { globsExcept, globsOutside, pathGlobsOutside } from '../../src/filter/globs.ts';

/** wildmatch for agt's globs. With `paths`, `*` and `?` stop at a slash, and a word without wildcards is a directory. */
function matches(word: string, name: string, paths: boolean): boolean {
  const any = paths ? '[^/]' : '[^]';
  const source = word.replace(
    /\/\*\*|\\(.)|\[!((?:\\.|[^\]])*)\]|[*?]|./gs,
    (part, escaped: string, set: string) => {
      if (part === '/**') return '/[^]*';
      if (escaped !== undefined) return `\\u{${escaped.codePointAt(0)?.toString(16)}}`;
      if (set !== undefined) {
        const chars = set.replace(/\\(.)/g, '$1');
        return `[^${[...chars, ...(paths ? ['/'] : [])].map((c) => `\\u{${c.codePointAt(0)?.toString(16)}}`).join('')}]`;
      }
      if (part === '*') return `${any}*`;
      if (part === '?') return any;
      return `\\u{${part.codePointAt(0)?.toString(16)}}`;
    },
  );
  const literal = !/[*?[]/.test(word);
  return new RegExp(`^${source}${paths && literal ? '(/[^]*)?' : ''}$`, 'u').test(name);
}

const prefix = fc.stringMatching(/^[agt.x_-]{1,4}(\/[ag-]{1,3})?\/$/);
const name = fc.stringMatching(/^[agt.x_-]{1,5}(\/[agx]{1,4}){0,2}$/);

describe('globs', () => {
  test('globsOutside match every name outside the prefixes, and none inside', () => {
    fc.assert(
      fc.property(fc.uniqueArray(prefix, { minLength: 1, maxLength: 4 }), name, (prefixes, ref) => {
        const hidden = prefixes.some((p) => ref.startsWith(p));
        expect(globsOutside(prefixes).some((word) => matches(word, ref, false))).toBe(!hidden);
      }),
      { numRuns: 3000 },
    );
  });

  test('pathGlobsOutside do so path by path, for names that can exist beside the prefixes', () => {
    fc.assert(
      fc.property(fc.uniqueArray(prefix, { minLength: 1, maxLength: 4 }), name, (prefixes, short) => {
        const ref = `refs/heads/${short}`;
        const namespaces = prefixes.map((p) => `refs/heads/${p}`);
        // A ref cannot have the name of a directory of refs.
        fc.pre(!namespaces.some((namespace) => namespace.startsWith(`${ref}/`)));
        const hidden = namespaces.some((namespace) => ref.startsWith(namespace));
        expect(pathGlobsOutside(namespaces, 'refs/heads/').some((word) => matches(word, ref, true))).toBe(
          !hidden,
        );
        expect(pathGlobsOutside(namespaces, 'refs/').some((word) => matches(word, ref, true))).toBe(!hidden);
      }),
      { numRuns: 3000 },
    );
  });

  test('globsExcept match every name below a prefix but one', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ag.-]{1,4}$/), fc.stringMatching(/^[ag.-]{1,5}$/), (kept, other) => {
        const words = globsExcept(`agt/${kept}`, 'agt/');
        expect(words.some((word) => matches(word, `agt/${other}`, false))).toBe(kept !== other);
      }),
      { numRuns: 2000 },
    );
  });
});
