/** Two columns: a command line, and the line that git gets for it, often "unchanged". */
import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../../src/gitmode/command-line/parse.ts';
import { planCommand } from '../../../src/gitmode/plan.ts';
import { type Facts, stubView } from '../view/stub-view.ts';

/** Globs for everything outside `agt/` and `agtsessions/`, written out once. */
const OUTSIDE =
  '[!a]* a a[!g]* ag ag[!t]* agt agt[!/s]* agts agts[!e]* agtse agtse[!s]* agtses agtses[!s]* agtsess agtsess[!i]* agtsessi agtsessi[!o]* agtsessio agtsessio[!n]* agtsession agtsession[!s]* agtsessions agtsessions[!/]*';
const ALL = '--exclude=refs/heads/agt/* --exclude=refs/heads/agtsessions/*';
const SHORT = '--exclude=agt/* --exclude=agtsessions/*';
const DECORATIONS =
  '--decorate-refs-exclude=refs/heads/agt --decorate-refs-exclude=refs/heads/agtsessions --decorate-refs=HEAD --decorate-refs=refs/heads/ --decorate-refs=refs/tags/ --decorate-refs=refs/remotes/ --decorate-refs=refs/stash --decorate-refs=refs/replace/';
const EXCLUDED = DECORATIONS.split(' ').slice(0, 2).join(' ');

function rewritten(line: string, facts: Facts = {}): string {
  const words = line.split(' ').filter(Boolean);
  const parsed = parseCommandLine(words);
  if (parsed === undefined) return 'unchanged';
  const plan = planCommand(parsed, stubView(facts));
  if ('filtered' in plan) return 'filtered';
  return plan.words.join(' ') === line ? 'unchanged' : plan.words.join(' ');
}

const remote: Facts = {
  refs: ['refs/heads/agt/s1', 'refs/heads/main', 'refs/remotes/origin/agt/s1', 'refs/remotes/origin/main'],
  remotes: ['origin'],
  config: { 'remote.origin.fetch': ['+refs/heads/*:refs/remotes/origin/*'] },
};
/** Two commits to rebase; the first is the hidden branch agt/s1. */
const moving: Facts = {
  config: { 'rebase.updaterefs': ['true'] },
  answers: {
    'rev-parse --verify --quiet HEAD^{commit}': '2',
    'rev-parse --verify --quiet main^{commit}': '0',
    'for-each-ref --format=%(refname) --merged=2 --no-merged=0 refs/heads/':
      'refs/heads/agt/s1\nrefs/heads/x\n',
  },
};
const sandbox: Facts = {
  refs: ['refs/heads/agt/ab', 'refs/heads/agt/s2', 'refs/heads/main'],
  head: 'refs/heads/agt/ab',
};

test.each<[string, string, Facts?]>([
  ['branch', `branch --list -- ${OUTSIDE}`],
  ['branch -vv', `branch -vv --list -- ${OUTSIDE}`],
  ['branch --contains', `branch --contains=HEAD --list -- ${OUTSIDE}`],
  ['branch --contains main', `branch --contains main --list -- ${OUTSIDE}`],
  ['branch --merg', `branch --merg=HEAD --list -- ${OUTSIDE}`],
  ['branch --sort -refname', `branch --sort -refname --list -- ${OUTSIDE}`],
  ['branch --list *', `branch --list --list -- ${OUTSIDE}`],
  ['branch -r', 'unchanged'],
  ['branch new', 'unchanged'],
  ['branch -d agt/s1', 'unchanged'],
  ['branch -D x', 'unchanged'],
  ['branch -m a b', 'unchanged'],
  ['branch -v name', 'unchanged'],
  ['branch --show-current', 'unchanged'],
  ['branch --bogus', 'unchanged'],
  ['branch --c', 'unchanged'],
  ['branch -h', 'unchanged'],
  ['branch --edit-description', 'unchanged'],
  ['branch', 'branch --list -- [!a]* a a[!g]* ag ag[!t]* agt agt[!/]* agt/ab', sandbox],
  ['tag', 'unchanged'],
  ['tag -d x', 'unchanged', { refs: ['refs/tags/agtsessions/x'] }],
  ['tag name', 'unchanged', { refs: ['refs/tags/agtsessions/x'] }],
  ['tag -n2', 'tag -n2 --list -- [!a]* a a[!g]* ag', { refs: ['refs/tags/agtsessions/x'] }],
])('%s → %s', (line, expected, facts) => {
  const got = rewritten(line, facts);
  expect(expected.startsWith('tag -n2') ? got.slice(0, expected.length) : got).toBe(expected);
});

test.each<[string, string, Facts?]>([
  ['log', `log ${DECORATIONS}`],
  ['log --oneline -3', `log --oneline ${DECORATIONS} -3`],
  ['log --all', `log ${ALL} ${DECORATIONS} --all`],
  ['log --branches', `log ${SHORT} ${DECORATIONS} --branches`],
  ['log --branches=f*', `log ${SHORT} ${DECORATIONS} --branches=f*`],
  ['log --remotes --tags', `log --remotes ${DECORATIONS} --tags`],
  ['log --glob heads', `log ${ALL} --glob heads ${DECORATIONS}`],
  ['log --grep --all', `log --grep --all ${DECORATIONS}`],
  ['log -n --all', `log -n --all ${DECORATIONS}`],
  ['log -- --all', `log ${DECORATIONS} -- --all`],
  ['log --all --end-of-options x', `log ${ALL} ${DECORATIONS} --all --end-of-options x`],
  ['log --clear-decorations', `log --clear-decorations ${EXCLUDED}`],
  ['log --decorate-refs=refs/tags', `log ${EXCLUDED} --decorate-refs=refs/tags`],
  ['log', `log ${EXCLUDED}`, { config: { 'log.excludedecoration': ['refs/x'] } }],
  ['log', `log ${EXCLUDED}`, { config: { 'log.initialdecorationset': ['all'] } }],
  ['log --no-decorate', 'unchanged'],
  ['log --all --no-decorate', `log ${ALL} --all --no-decorate`],
  [
    'log --all --no-decorate',
    `log ${ALL} --exclude=worktrees/w/HEAD --all --no-decorate`,
    { hiddenWorktrees: ['w'] },
  ],
  ['log --no-decorate --remotes', 'log --no-decorate --exclude=origin/agt/* --remotes', remote],
  ['log --all', 'unchanged', { refs: ['refs/heads/main'] }],
  ['rev-list --all', `rev-list ${ALL} --all`],
  [
    'log --all',
    'log --exclude=worktrees/w/HEAD --all',
    { refs: ['refs/heads/main'], hiddenWorktrees: ['w'] },
  ],
  ['rev-list --not --branches', `rev-list --not ${SHORT} --branches`],
  ['rev-list HEAD', 'unchanged'],
  ['rev-list -n 2 HEAD', 'unchanged'],
  ['shortlog -n --all', `shortlog -n ${ALL} --all`],
  ['shortlog --group --all', 'unchanged'],
  ['rev-parse --all', `rev-parse ${ALL} --all`],
  ['rev-parse --sq-quote --all', 'unchanged'],
  ['rev-parse HEAD -- --all', 'unchanged'],
  ['reflog expire --all', 'unchanged'],
  ['reflog delete x', 'unchanged'],
  ['bundle create f --all', `bundle create f ${ALL} --all`],
  ['bundle verify f', 'unchanged'],
  ['fast-export --refspec --all', 'unchanged'],
  ['fast-export --all', `fast-export ${ALL} --all`],
  ['format-patch -o --all', 'unchanged'],
  ['format-patch main', 'unchanged'],
])('%s → %s', (line, expected, facts) => expect(rewritten(line, facts)).toBe(expected));

const NO_BRANCHES = '^refs/heads/agt/* ^refs/heads/agtsessions/*';

describe('push', () => {
  test.each<[string, string, Facts?]>([
    ['push origin main', 'unchanged'],
    ['push origin agt/s1', 'unchanged'],
    ['push origin HEAD', 'unchanged'],
    ['push origin --delete agt/s1', 'unchanged'],
    ['push origin :agt/s1', 'unchanged'],
    ['push', 'unchanged'],
    ['push --all', 'unchanged'],
    ['push --all origin', `push -- origin refs/heads/*:refs/heads/* ${NO_BRANCHES}`],
    ['push --branches origin', `push -- origin refs/heads/*:refs/heads/* ${NO_BRANCHES}`],
    ['push --al -f origin', `push -f -- origin refs/heads/*:refs/heads/* ${NO_BRANCHES}`],
    ['push -nf --all origin', `push -nf -- origin refs/heads/*:refs/heads/* ${NO_BRANCHES}`],
    ['push -o x=y --all origin', `push -o x=y -- origin refs/heads/*:refs/heads/* ${NO_BRANCHES}`],
    ['push --all --no-all origin', 'unchanged'],
    ['push --all origin main', 'unchanged'],
    ['push --all --tags origin', 'unchanged'],
    ['push --all --mirror origin', 'unchanged'],
    ['push --bogus --all origin', 'unchanged'],
    ['push --mirror origin', `push --prune --force -- origin refs/*:refs/* ${NO_BRANCHES} ^refs/agt/*`],
    [
      'push origin',
      `-c remote.origin.mirror=false push --prune --force -- origin refs/*:refs/* ${NO_BRANCHES} ^refs/agt/*`,
      { config: { 'remote.origin.mirror': ['true'] } },
    ],
    ['push --tags origin', 'unchanged'],
    ['push origin refs/heads/*', `push -- origin refs/heads/* ${NO_BRANCHES}`],
    [
      'push origin refs/heads/*:refs/heads/old/*',
      'push -- origin refs/heads/*:refs/heads/old/* ^refs/heads/old/agt/* ^refs/heads/old/agtsessions/*',
    ],
    [
      'push origin refs/heads/ag*:refs/heads/x*',
      'push -- origin refs/heads/ag*:refs/heads/x* ^refs/heads/xt/* ^refs/heads/xtsessions/*',
    ],
    ['push origin refs/heads/agt/*', 'push -- origin refs/heads/agt/* ^refs/heads/agt/*'],
    ['push origin refs/tags/*', 'unchanged'],
    ['push origin :', `push -- origin : ${NO_BRANCHES}`],
    ['push origin +:', `push -- origin +: ${NO_BRANCHES}`],
    ['push origin', `push -- origin : ${NO_BRANCHES}`, { config: { 'push.default': ['matching'] } }],
    [
      'push origin',
      '-c remote.origin.push=^refs/heads/agt/* -c remote.origin.push=^refs/heads/agtsessions/* push -- origin',
      { config: { 'remote.origin.push': ['refs/heads/*:refs/heads/*'] } },
    ],
    ['push origin', 'unchanged', { config: { 'remote.origin.push': ['HEAD'] } }],
    ['push --all origin', 'push -- origin refs/heads/*:refs/heads/* ^refs/heads/agt/s2', sandbox],
  ])('%s → %s', (line, expected, facts) => expect(rewritten(line, facts)).toBe(expected));
});

test.each<[string, string, Facts?]>([
  [
    'fetch',
    '-c remote.origin.fetch=^refs/heads/agtsessions/* -c remote.origin.fetch=^refs/heads/agt/* -c remote.origin.fetch=^refs/tags/agtsessions/* -c remote.origin.fetch=^refs/agt/* fetch',
    remote,
  ],
  ['fetch', 'unchanged', { ...remote, config: {} }],
  ['remote -v', 'unchanged', remote],
  ['remote add x y', 'unchanged', remote],
  ['ls-remote origin', 'filtered', remote],
  ['ls-remote --get-url', 'unchanged', remote],
  ['worktree add x', 'unchanged', { hiddenWorktrees: ['w'] }],
  ['rebase main', 'unchanged'],
  ['rebase main', 'unchanged', { config: { 'rebase.updaterefs': ['true'] } }],
  [
    'rebase main',
    '-c advice.waitingForEditor=false rebase --interactive --empty=drop --no-autosquash -- main',
    moving,
  ],
  ['rebase -q --exec true main x', 'unchanged', moving],
  ['rebase --no-update-refs main', 'unchanged', moving],
  ['rebase --apply main', 'unchanged', moving],
  ['rebase --continue', 'unchanged', moving],
  ['describe', 'unchanged'],
  ['describe --tags', 'describe --exclude=agtsessions/* --tags', { refs: ['refs/tags/agtsessions/x'] }],
  ['name-rev HEAD', `name-rev ${ALL} HEAD`],
  ['name-rev --all', 'unchanged'],
  ['status', 'unchanged'],
  ['show-ref --verify refs/heads/agt/s1', 'unchanged'],
  ['show-ref', 'show-ref -- refs/heads/main'],
  ['show-ref --tags', 'unchanged'],
  ['for-each-ref refs/tags', 'unchanged'],
  ['for-each-ref refs/heads/main', 'unchanged'],
  ['for-each-ref --stdin', 'unchanged'],
  ['for-each-ref --start-after=refs/heads/a', 'unchanged'],
  ['for-each-ref --include-root-refs', 'unchanged'],
  [
    'for-each-ref --stdin',
    'for-each-ref --exclude=refs/heads/agt/ --exclude=refs/heads/agtsessions/ --stdin',
    { gitVersion: { major: 2, minor: 42 } },
  ],
])('%s → %s', (line, expected, facts) => expect(rewritten(line, facts)).toBe(expected));
