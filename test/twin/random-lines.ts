/** Random command lines of git's own options, and recipes for random repositories. */
import fc from 'fast-check';
import type { Recipe } from './random-twin.ts';

const words = (text: string) => fc.constantFrom(...text.trim().split(/\s+/));

const SETS =
  '--all --branches --tags --remotes --glob=heads --branches=m* --tags=v* --glob=refs/* --not --exclude=main';
const REVISIONS = 'main HEAD HEAD~1 main~2 ^main~3 main~2..main main...HEAD~1 nonexistent';
const WALK = `--oneline --graph --decorate --decorate=full --no-decorate --source --reverse --topo-order --date-order
  --first-parent --merges --no-merges --boundary --left-right --parents --children --simplify-by-decoration --no-walk
  --skip=1 --max-count=3 -n2 -3 --grep=commit --author=Ann --author=Robo -i --invert-grep --since=2020-01-01
  --format=%h%d --pretty=fuller --abbrev-commit --abbrev=9 --color=always --stat --name-only --clear-decorations
  --decorate-refs=refs/heads --decorate-refs-exclude=refs/tags -- --end-of-options`;

/** Per command: options to choose from, and arguments. */
const COMMANDS: Record<string, readonly [options: string, args: string]> = {
  branch: [
    `-a -r -v -vv -l --list -i --contains --no-contains --merged --no-merged --points-at=HEAD --sort=-refname
     --sort=committerdate --format=%(refname) --column --no-column --color=always --abbrev=5 -q --all --remo --verb -av --`,
    `main HEAD 'm*' '*' 'a*' agt/* nothing`,
  ],
  tag: [
    '-l --list -n -n2 -i --contains --merged --no-merged --sort=-refname --format=%(refname) --column --',
    `'v*' '*' main v1`,
  ],
  'for-each-ref': [
    `--count=3 --sort=-refname --sort=objectname --format=%(refname) --shell --merged --contains --no-contains=main
     --points-at=HEAD --ignore-case --`,
    `refs/heads refs/tags refs/ 'refs/heads/*' 'refs/*/a*' refs/heads/main refs/heads/agtx refs/nothing`,
  ],
  'show-ref': ['-d -s --heads --tags --head --hash=7 --abbrev -q --', 'main HEAD v1 heads/main nothing'],
  log: [`${SETS} ${WALK}`, REVISIONS],
  'rev-list': [
    `${SETS} --count --objects --parents --max-count=2 -n1 --reverse --timestamp --left-right --no-walk --`,
    REVISIONS,
  ],
  shortlog: [`${SETS} -s -n -e -sn --group=author --format=%s -c`, 'main HEAD main~2..main'],
  'rev-parse': [`${SETS} --symbolic --symbolic-full-name --abbrev-ref --short --verify -q`, REVISIONS],
  describe: [
    '--tags --all --always --long --abbrev=4 --contains --exact-match --first-parent',
    'main HEAD~1 v1',
  ],
  'name-rev': ['--tags --name-only --always --no-undefined --refs=refs/heads/*', 'HEAD main~1 main~3'],
  'show-branch': ['-a -r --list --sha1-name --topo-order --no-name --current --more=1', `main HEAD 'm*'`],
  worktree: ['-v --porcelain -z', 'list list list list extra'],
};

export const line = fc.constantFrom(...Object.keys(COMMANDS)).chain((command) => {
  const [options, args] = COMMANDS[command] as readonly [string, string];
  const parts = fc.array(
    fc.oneof({ weight: 3, arbitrary: words(options) }, { weight: 1, arbitrary: words(args) }),
    {
      maxLength: 5,
    },
  );
  // `--list` is not an option of worktree, and shortlog without a revision reads standard input.
  const lead = command === 'worktree' ? 'worktree list' : command === 'shortlog' ? 'shortlog HEAD' : command;
  return parts.map((chosen) => [lead, ...chosen].join(' '));
});

const refName = fc
  .stringMatching(/^[agtsx][agtsx/-]{0,6}[agtsx0-9]$/)
  .filter((name) => !name.includes('//') && !/^agt(sessions)?\//.test(name));
export const recipe: fc.Arbitrary<Recipe> = fc.record({
  commits: fc.integer({ min: 1, max: 6 }),
  branches: fc.array(fc.record({ name: refName, at: fc.nat(5) }), { maxLength: 6 }),
  tags: fc.array(
    fc.record({ name: fc.oneof(refName, fc.constant('v1')), at: fc.nat(5), annotated: fc.boolean() }),
    { maxLength: 3 },
  ),
  sessions: fc.uniqueArray(
    fc.record({ id: fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,6}$/), at: fc.nat(5), worktree: fc.boolean() }),
    { minLength: 1, maxLength: 3, selector: ({ id }) => id },
  ),
  merge: fc.boolean(),
  detached: fc.boolean(),
  packed: fc.boolean(),
});
