/** git show-branch sorts names in a way of its own. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareVersions } from '../../../src/gitmode/rules/show-branch.ts';
import { git, makeRepository, REAL_GIT, run } from '../../harness/world.ts';

test('names are in the order of real git', () => {
  const repository = makeRepository();
  git(repository, 'checkout', '-q', '--detach');
  const letters = fc.constantFrom(...'ab/-.é0129');
  const name = fc.string({ unit: letters, minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 4, maxLength: 8 }), (names) => {
      const head = git(repository, 'rev-parse', 'HEAD');
      const existing = git(repository, 'for-each-ref', '--format=delete %(refname)', 'refs/heads');
      if (existing !== '')
        run(REAL_GIT, ['update-ref', '--stdin'], { cwd: repository, input: `${existing}\n` });
      for (const each of names)
        run(REAL_GIT, ['update-ref', `refs/heads/${each}`, head], { cwd: repository });
      const made = git(repository, 'for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads');
      if (made === '') return;
      const shown = git(repository, 'show-branch', '--no-color', '--list').split('\n');
      const utf8 = (text: string) => Buffer.from(text, 'latin1').toString();
      expect(made.split('\n').map(utf8).sort(compareVersions)).toEqual(
        shown.map((line) => utf8(/\[(.*?)\] /.exec(line)?.[1] ?? '')),
      );
    }),
    { numRuns: 40 },
  );
});
