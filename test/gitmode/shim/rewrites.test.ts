/** The shim changes usual lines by itself: it prints what real git prints in the twin, and starts no executable. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { AGT, git, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';
import { compareLine, compareLines, describeDifference, type Subject } from '../../twin/compare.ts';
import { expand } from '../../twin/lines/expand.ts';
import { buildTwin, SIDES, type Twin } from '../../twin/shapes.ts';

/** Without the variables that make the shim start the executable for every line. */
const env = {
  AGT_GIT_PATH: undefined,
  GIT_CONFIG_GLOBAL: undefined,
  GIT_CONFIG_NOSYSTEM: undefined,
  PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}`,
};

const SHELLS = ['dash', 'bash', 'busybox'].flatMap((name) => {
  const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
  return path === '' ? [] : [{ name, interpreter: name === 'busybox' ? `${path} ash` : path }];
});

let dir: string;
const calls = () => join(dir, 'calls');

/** In place of the executable, the shim starts a script that notes the line, and then the executable. */
beforeAll(() => {
  dir = makeTempDir('shim');
  expect(run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env }).exitCode).toBe(0);
  const text = readFileSync(join(dir, 'git'), 'utf8');
  for (const { name, interpreter } of SHELLS)
    write(join(dir, name), text.replace('#!/bin/sh', `#!${interpreter}`), 0o755);
  const executable = join(dir, '.agt/git');
  renameSync(executable, join(dir, '.agt/executable'));
  write(
    executable,
    `#!/bin/sh\nprintf '%s\\n' "$*" >>'${calls()}'\nexec '${join(dir, 'executable/git')}' "$@"\n`,
    0o755,
  );
  run('mkdir', [join(dir, 'executable')], { cwd: '/' });
  renameSync(join(dir, '.agt/executable'), join(dir, 'executable/git'));
  utimesSync(executable, 0, 0);
});

const LISTS = [
  ...expand(
    'branch',
    `-
    -a
    -r
    -v
    -vv
    -avv
    -va
    -rv
    -l
    --list
    --list --all
    --list -r
    --all --verbose
    --remotes
    -a -r
    -r -a
    -q
    --contains
    --contains HEAD
    --contains=main
    --contains main --all
    --no-contains main
    --merged
    --merged main
    --merged -v
    --no-merged main -r
    --points-at HEAD
    --points-at=main -a
    --sort=-committerdate
    --sort -refname -v
    --format=%(refname)
    --format '%(refname:short) %(objectname:short) %(HEAD)' -a
    --column
    --column=row,dense -a
    --no-column
    --color=always -vv
    --no-color
    --abbrev=4 -v
    --no-abbrev -v
    --list main
    --list 'f*' main
    --list topic/a
    --list nothing
    !new
    !new main
    !new nowhere`,
  ),
  '-C . branch -a',
  '--no-pager branch',
  '-P branch --list',
  ...expand(
    'tag',
    `-
    -l
    --list
    -n
    -n2
    -n 2
    -l 'v*'
    --list v1 v2
    -l nothing
    -l -n99 v2
    --contains
    --contains HEAD~2
    --no-contains HEAD~2
    --merged main
    --points-at HEAD
    --points-at
    --sort=-version:refname
    --sort -creatordate
    --format='%(refname:short) %(subject)'
    --column=always
    --color=always
    !new
    !new HEAD~1
    !v1`,
  ),
  ...expand(
    'for-each-ref',
    `-
    --count=2
    --count 2 --sort=-refname
    --sort=committerdate
    --format=%(refname)
    --format '%(refname:short) %(upstream:short)'
    --format='%(objecttype) %(refname:lstrip=2)' refs/heads
    --shell --format=%(refname)
    refs/heads
    refs/heads/
    refs/heads refs/tags
    refs/heads/main
    refs/heads/feature refs/tags/v1
    refs/tags refs/heads/main
    refs/remotes
    refs/remotes refs/heads
    --points-at=HEAD
    --merged
    --merged main
    --merged=main refs/heads
    --merged main refs/heads --sort=-refname
    --no-contains HEAD refs/tags`,
  ),
];

const SETS = [
  ...expand(
    'log',
    `--all --oneline
    --all --graph --oneline
    --graph --all --decorate
    --oneline --decorate=full --all
    --oneline --no-decorate --all
    --color=always --oneline --graph --all --decorate
    --branches --oneline
    --branches=f* --oneline
    --tags --oneline
    --tags=v* --oneline
    --remotes --oneline
    --remotes=origin --oneline
    --remotes=upstream --oneline
    main --not --branches=feature --oneline
    --not --remotes --not --all --oneline
    --branches --tags --remotes --oneline --source
    --all --source --oneline
    --all --format='%h %d %s'
    --grep --all --oneline
    --all-match --grep=on --grep=topic --all --oneline
    -S --all --oneline
    -n 2 --all --oneline
    --max-count 2 --all --oneline
    --no-walk --all --oneline
    -g --all --oneline --decorate
    --oneline --all -- file.txt
    --oneline -- --all
    --all --oneline --end-of-options main
    --alll
    --author=agt --oneline --all
    --author=Robo --oneline --all`,
  ),
  '-C . log --all --oneline',
  '--no-pager log --branches --oneline',
  'show --all -s --oneline --decorate',
  'whatchanged --all --oneline',
  ...expand(
    'rev-list',
    `--all
    --all --count
    --branches --not main
    --tags
    --remotes
    --objects --all
    --no-walk --all
    --all --max-count=2`,
  ),
  ...expand(
    'shortlog',
    `-s --all
    -sn --branches
    -n --all
    --group --all --all`,
  ),
  ...expand(
    'rev-parse',
    `--all
    --branches
    --branches=f*
    --tags
    --remotes
    --symbolic --all
    --symbolic-full-name --branches --tags
    -- --all`,
  ),
];

const TRANSFERS = [
  'push --dry-run',
  'push --dry-run origin main',
  ...[
    '',
    ' origin',
    ' --all',
    ' --prune',
    ' -p origin',
    ' --tags',
    ' origin main',
    ' upstream',
    ' --dry-run',
    ' -v',
  ].map((words) => `!fetch${words}`),
  '!pull',
  '!pull --rebase',
  '!pull origin main',
  ...[
    '',
    ' origin main',
    ' origin HEAD',
    ' origin main:main',
    ' -u origin feature',
    ' -q origin main feature',
  ]
    .concat([' --force origin main', ' --follow-tags origin main', ' nowhere', ' origin nothing'])
    .map((words) => `!push${words}`),
];

/** Makes the files that the shim compares older than the facts. */
function age(twin: Twin): void {
  const past = new Date(Date.now() - 60_000);
  const files = globSync('with/project/.git/{,worktrees/*/}{config,packed-refs,HEAD,gitdir}', {
    cwd: twin.root,
  });
  for (const file of files) utimesSync(join(twin.root, file), past, past);
}

/** Compares the lines in the twin, and returns those for which the shim started the executable. */
async function startedFor(shell: string, twin: Twin, lines: readonly string[]): Promise<string[]> {
  const subject: Subject = { program: join(dir, shell), env };
  age(twin);
  await compareLine(twin, 'log -1', subject);
  rmSync(calls(), { force: true });
  const differences = await compareLines(twin, lines, subject);
  expect(differences.map(describeDifference).join('\n')).toBe('');
  return existsSync(calls()) ? readFileSync(calls(), 'utf8').trimEnd().split('\n') : [];
}

const withRemote = (twin: Twin): Twin => {
  for (const side of SIDES) {
    const project = join(twin.root, side, 'project');
    git(project, 'remote', 'add', 'origin', '../server.git');
    git(project, 'update-ref', 'refs/remotes/origin/main', 'main~1');
    git(project, 'update-ref', 'refs/remotes/origin/agx', 'main');
    git(project, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  }
  const project = join(twin.root, 'with/project');
  git(project, 'update-ref', 'refs/remotes/origin/agt/s1', 'refs/heads/agt/s1');
  git(project, 'update-ref', 'refs/remotes/origin/agtsessions/s1', 'refs/heads/agt/s1');
  return twin;
};
const twoRemotes = (): Twin => {
  const twin = buildTwin('remote');
  for (const side of SIDES)
    git(join(twin.root, side, 'project'), 'remote', 'rename', 'up/stream', 'upstream');
  git(join(twin.root, 'with/project'), 'update-ref', '-d', 'refs/remotes/gone/agt/x');
  return twin;
};
const inLinkedWorktree = (twin: Twin): Twin => ({ ...twin, cwd: 'mine' });

/** The first of the shells runs everything, the others what has the most parts. */
const [FIRST = '', ...OTHERS] = SHELLS.map(({ name }) => name);

test.each([
  ['linear', 'no remote', (twin: Twin) => twin],
  ['many branches', 'packed', (twin: Twin) => twin],
  ['detached', 'no branch', (twin: Twin) => twin],
  ['worktrees', 'a detached sandbox', (twin: Twin) => twin],
  ['worktrees', "the user's linked worktree", inLinkedWorktree],
  ['merges', 'a remote', withRemote],
  ['inside a sandbox', 'no remote', (twin: Twin) => twin],
] as const)(
  'lists and sets of refs: %s, %s',
  async (name, _difference, change) => {
    const twin = change(buildTwin(name));
    expect(await startedFor(FIRST, twin, [...LISTS, ...SETS])).toEqual([]);
  },
  600_000,
);

test('fetch, pull and push', async () => {
  expect(await startedFor(FIRST, twoRemotes(), TRANSFERS)).toEqual([]);
}, 600_000);

test.each([FIRST, ...OTHERS])(
  '%s: lists and sets of refs inside a sandbox, with a remote',
  async (shell) => {
    const twin = withRemote(buildTwin('inside a sandbox'));
    expect(await startedFor(shell, twin, [...LISTS, ...SETS])).toEqual([]);
  },
  600_000,
);

test.each([FIRST, ...OTHERS])(
  '%s: two remotes',
  async (shell) => {
    const lines = [...LISTS, ...SETS].filter((line) => /^branch|^for-each-ref|--all|--remotes/.test(line));
    expect(await startedFor(shell, twoRemotes(), lines)).toEqual([]);
  },
  600_000,
);
