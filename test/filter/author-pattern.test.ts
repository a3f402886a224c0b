/** Git mode excludes agents' commits from a visible history by author, with every option of the user. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  escapePcre,
  notByAgentWithoutPcre,
  type PatternType,
  toPcre,
} from '../../src/filter/author-pattern.ts';
import { AGT, GIT_MODE, git, makeRepository, REAL_GIT, run } from '../harness/world.ts';
import { words } from '../twin/compare.ts';

test.each<[string, PatternType, string | undefined]>([
  ['plain', 'basic', 'plain'],
  ['a+b', 'basic', 'a\\+b'],
  ['a\\+b', 'basic', 'a+b'],
  ['*a', 'basic', '\\*a'],
  ['^a.*b$', 'basic', '^a.*b$'],
  ['a^b', 'basic', undefined],
  ['(a|b)', 'basic', '\\(a\\|b\\)'],
  ['\\(a\\|b\\)', 'basic', '(a|b)'],
  ['(a|b)+', 'extended', '(a|b)+'],
  ['a{2}', 'extended', undefined],
  ['a{2}', 'basic', 'a\\{2\\}'],
  ['[a-z]x', 'basic', '[a-z]x'],
  ['[]x]', 'basic', '[\\]x]'],
  ['[[:alpha:]]', 'basic', undefined],
  ['\\d', 'basic', undefined],
  ['\\<w', 'extended', undefined],
  ['a**', 'extended', undefined],
  ['a\nb', 'fixed', undefined],
  ['a.b*', 'fixed', 'a\\.b\\*'],
  ['(?=x)', 'perl', '(?=x)'],
])('the pattern %j of type %s is %j in PCRE', (pattern, type, pcre) =>
  expect(toPcre(pattern, type)).toBe(pcre),
);

test('without PCRE: the alternatives match every line but those that end in the address', () => {
  const all = notByAgentWithoutPcre('agt@local').map((pattern) => new RegExp(pattern));
  const visible = (author: string) => all.some((pattern) => pattern.test(author));
  for (const author of [
    'Ann <ann@example.com>',
    'X <xagt@local>',
    'X <agt@local.org>',
    'agt@local <a@b>',
    'X <a@l>',
  ]) {
    expect(visible(author)).toBe(true);
  }
  for (const author of ['agt <agt@local>', ' <agt@local>', 'Ann <ann@example.com> <agt@local>']) {
    expect(visible(author)).toBe(false);
  }
  expect(escapePcre('a.b@c')).toBe('a\\.b\\@c');
});

describe('after a shadow branch was merged', () => {
  let repository: string;
  beforeAll(() => {
    repository = makeRepository();
    const authors = [
      'Ann <ann@example.com>',
      'agt <agt@local>',
      'Bob <bob@example.com>',
      'X <xagt@local>',
      'agt <agt@local>',
      'Jörg <j@example.com>',
      'Local <user@local>',
    ];
    for (const [n, author] of [...authors, 'Bad <bad@example.com>'].entries()) {
      const message = `commit ${n} by ${author.split(' ')[0]}`;
      const env = { GIT_COMMITTER_DATE: `${1_770_000_000 + n * 60} +0000` };
      const made = run(REAL_GIT, ['commit', '-q', '--allow-empty', `--author=${author}`, '-m', message], {
        cwd: repository,
        env,
      });
      expect(made.exitCode).toBe(0);
    }
    git(repository, 'branch', 'agtsessions/s1', 'HEAD~3');
  });

  test.each([
    'log',
    'log --all',
    'log --author=ann',
    'log --author=agt',
    "log --author 'local>$'",
    'log --author=Ann --author=Bob',
    "log -E '--author=(Ann|agt)'",
    "log -F '--author=<agt@local>'",
    'log -P --author=^agt',
    'log -i --author=AGT',
    'log --committer=Carl',
    'log --grep=commit',
    "log -E '--grep=by (Ann|agt)'",
    "log --grep='by \\(Ann\\|agt\\)'",
    'log --invert-grep --grep=Ann',
    'log --all-match --grep=commit --grep=by',
    'log -F --grep=by',
    'log --grep=by --author=agt --committer=Carl',
    '-c grep.patternType=extended log --grep=(Ann|agt)',
    '-c grep.patternType=fixed log --grep=by',
    'log HEAD~2',
    'log -- .',
    'log --reverse',
    'log --all --not HEAD~4',
  ])('git %s shows the other commits alone', (line) => {
    const args = [...words(line)];
    args.splice(args.indexOf('log') + 1, 0, '--format=%H %ae');
    const real = run(REAL_GIT, args, { cwd: repository });
    const got = run(GIT_MODE, args, { cwd: repository });
    const expected = real.stdout
      .split('\n')
      .filter((text) => !text.endsWith(' agt@local'))
      .join('\n');
    expect(got).toEqual({ ...real, stdout: expected });
  });

  test('--max-count, --count and shortlog count the visible commits', () => {
    expect(run(GIT_MODE, ['log', '-4', '--format=%ae'], { cwd: repository }).stdout).toBe(
      'bad@example.com\nuser@local\nj@example.com\nxagt@local\n',
    );
    expect(run(GIT_MODE, ['rev-list', '--count', 'HEAD'], { cwd: repository }).stdout).toBe('7\n');
    expect(run(GIT_MODE, ['shortlog', '-s', 'HEAD'], { cwd: repository }).stdout).not.toContain('agt');
  });

  test('the filter colours nothing on a terminal', () => {
    const args = ['log', '--color=always', '--author=Ann', '--format=medium'];
    expect(run(GIT_MODE, args, { cwd: repository }).stdout).toBe(
      run(REAL_GIT, args, { cwd: repository }).stdout,
    );
  });

  test('a hidden branch or commit is shown to a user who names it', () => {
    const { stdout } = run(GIT_MODE, ['log', '--format=%ae', 'agtsessions/s1'], { cwd: repository });
    expect(stdout).toContain('agt@local');
    expect(run(GIT_MODE, ['show', '-s', '--format=%ae', 'HEAD~3'], { cwd: repository }).stdout).toBe(
      'agt@local\n',
    );
  });

  test('the shim prints what the executable prints', () => {
    run('mkdir', ['-p', '.git/agt'], { cwd: repository });
    run(GIT_MODE, ['log', '-1'], { cwd: repository });
    const dir = `${repository}-bin`;
    const env = { AGT_GIT_PATH: undefined, GIT_CONFIG_GLOBAL: undefined, GIT_CONFIG_NOSYSTEM: undefined };
    expect(run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env }).exitCode).toBe(0);
    for (const args of [
      ['log', '--format=%ae'],
      ['rev-list', '--count', 'HEAD'],
    ]) {
      expect(run(`${dir}/git`, args, { cwd: repository, env }).stdout).toBe(
        run(GIT_MODE, args, { cwd: repository }).stdout,
      );
    }
  });
});
