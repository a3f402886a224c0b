/**
 * Compares git mode with real git: `npm run bench`, after `npm run build`. Runs each command many times in turn with
 * real git, the shim and the executable, so that the machine's drift affects all of them alike. Prints medians in
 * milliseconds, differences and ratios, in the layouts that people work in. `--runs N` (default 40), `--loop N` (default
 * 1000), `--layout TEXT` (only layouts with the text in their names).
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { findGit } from '../../src/git/run/find-git.ts';

const root = join(import.meta.dirname, '..', '..');
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '40' },
    loop: { type: 'string', default: '1000' },
    layout: { type: 'string', default: '' },
  },
});
const runs = Number(options.runs);
const place = realpathSync(mkdtempSync(join(tmpdir(), 'agt-bench-')));
const home = join(place, 'home');
mkdirSync(home);
const real = findGit({ env: process.env, self: [join(root, 'dist', 'agt')] });
const env = { PATH: `${dirname(real)}:${process.env['PATH'] ?? ''}`, HOME: home, TERM: 'dumb' };
const executable = join(root, 'dist', 'git');
const shim = join(place, 'bin', 'git');

const COMMANDS = [
  'status',
  'diff',
  'add file-1.txt',
  'commit --allow-empty -q -m x',
  'rev-parse HEAD',
  'log -10',
  'log --oneline -1000',
  'branch',
  'branch -a',
  'branch -vv',
  'tag',
  'for-each-ref',
  'log --all --oneline -20',
  'log --oneline --graph --decorate --all -20',
  'rev-list --all --count',
  'shortlog -sn --all',
  'fetch',
  'push --dry-run origin main',
  'describe --always',
];

/** Passes through the loop that are timed together, before the other program's turn. */
const TURNS = 4;

try {
  main();
} finally {
  rmSync(place, { recursive: true, force: true });
}

function main(): void {
  git(home, 'config', '--global', 'user.name', 'Bench');
  git(home, 'config', '--global', 'user.email', 'bench@example.com');
  must(spawnSync(join(root, 'dist', 'agt'), ['shim', 'install', '--dir', join(place, 'bin')], { env }));
  console.log(
    `${process.platform} ${process.arch}, node ${process.version}, ${git(home, 'version')}, ${runs} runs each`,
  );
  console.log(
    `bare start of the same node (node -e 0): ${format(measure([[process.execPath, '-e', '0']], home)[0])} ms\n`,
  );
  for (const [name, directory] of layouts()) compare(name, directory);
  if (Number(options.loop) > 0) loop(makeRepository(5));
}

/** Name and directory of each layout. All but the first have five sessions; all but the clone have the same content. */
function* layouts(): Generator<[name: string, directory: string]> {
  const isWanted = (name: string) => name.includes(options.layout);
  if (isWanted('without sessions')) yield ['without sessions', makeRepository(0)];
  if (isWanted('ordinary repository')) yield ['ordinary repository', makeRepository(5)];
  if (isWanted('linked worktree')) {
    const repository = makeRepository(5);
    const worktree = `${repository}-linked`;
    git(repository, 'worktree', 'add', '-q', '-b', 'linked', worktree);
    yield ['linked worktree', worktree];
  }
  if (!isWanted('agt clone') && !isWanted('sandbox')) return;
  const parent = mkdtempSync(join(place, 'clone-'));
  agt(parent, 'clone', makeRepository(0));
  const area = join(parent, readdirSync(parent).find((name) => !name.endsWith('.git')) ?? '');
  const main = join(area, 'main');
  const sandboxes = [1, 2, 3, 4, 5].map(
    () => /^sandbox +(.*)$/m.exec(agt(main, 'session', 'new'))?.[1] ?? '',
  );
  age(git(main, 'rev-parse', '--path-format=absolute', '--git-common-dir'));
  if (isWanted('agt clone')) yield ['agt clone', main];
  if (isWanted('sandbox')) yield ['sandbox', sandboxes[0] ?? ''];
}

/** 2,000 commits, 200 files, 30 branches; sessions with shadow chains of 50 commits. */
function makeRepository(sessions: number): string {
  const dir = join(place, `with-${sessions}-sessions-${Math.random().toString(36).slice(2)}`);
  git(place, 'init', '-q', '-b', 'main', dir);
  const stream: string[] = [];
  const commit = (ref: string, n: number, author: string, from?: string) =>
    stream.push(
      `commit ${ref}\nmark :${stream.length + 1}\nauthor ${author} ${1_760_000_000 + n} +0000\ncommitter ${author} ${1_760_000_000 + n} +0000\n` +
        `data 8\nsubject\n${from === undefined ? '' : `from ${from}\n`}M 644 inline file-${n % 200}.txt\ndata 6\n${String(n).padStart(5, '0')}\n\n`,
    );
  for (let n = 0; n < 2000; n++) commit('refs/heads/main', n, 'Ann <ann@example.com>');
  for (let n = 0; n < 30; n++) stream.push(`reset refs/heads/topic-${n}\nfrom :${2000 - n * 7}\n\n`);
  for (let s = 0; s < sessions; s++) {
    stream.push(`reset refs/heads/agt/session-${s}\nfrom :${2000 - s}\n\n`);
    for (let n = 0; n < 50; n++) {
      commit(
        `refs/heads/agtsessions/session-${s}`,
        3000 + n,
        'agt <agt@local>',
        n === 0 ? `:${2000 - s}` : undefined,
      );
    }
  }
  must(spawnSync(real, ['fast-import', '--quiet'], { cwd: dir, env, input: stream.join('') }));
  git(dir, 'reset', '-q', '--hard');
  if (sessions > 0) mkdirSync(join(dir, '.git', 'agt', 'sessions'), { recursive: true });
  const server = `${dir}.git`;
  git(place, 'clone', '-q', '--bare', dir, server);
  git(dir, 'remote', 'add', 'origin', server);
  git(dir, 'fetch', '-q');
  for (let s = 0; s < sessions; s++) {
    git(dir, 'update-ref', `refs/agt/tip/session-${s}`, `agtsessions/session-${s}`);
    git(dir, 'worktree', 'add', '-q', `${dir}-sessions/session-${s}/sandbox`, `agt/session-${s}`);
  }
  git(dir, 'update-index', '--refresh');
  age(join(dir, '.git'));
  return dir;
}

/** Makes the configuration older than the facts that the executable leaves for the shim. */
function age(commonDir: string): void {
  const past = new Date(Date.now() - 60_000);
  const files = [join(home, '.gitconfig'), join(commonDir, 'config'), join(commonDir, 'packed-refs')];
  const states = globSync('worktrees/*/{HEAD,gitdir}', { cwd: commonDir }).map((file) =>
    join(commonDir, file),
  );
  for (const file of [...files, ...states].filter(existsSync)) utimesSync(file, past, past);
}

function compare(name: string, repository: string): void {
  console.log(`${name.padEnd(42)} real git    shim              executable`);
  spawnSync(shim, ['log', '-1'], { cwd: repository, env }); // leaves the facts
  for (const command of COMMANDS) {
    const words = command.split(' ');
    const [git = 0, sh = 0, exe = 0] = measure(
      [real, shim, executable].map((program) => [program, ...words]),
      repository,
    );
    const beside = (ms: number) =>
      `${format(ms)} +${(ms - git).toFixed(2)} ×${(ms / git).toFixed(2)}`.padEnd(18);
    console.log(`${command.padEnd(42)} ${format(git)}     ${beside(sh)} ${beside(exe)}`);
  }
  console.log('');
}

/** Times a shell script of mixed calls as a whole, in turn with real git and with the shim first on PATH. */
function loop(repository: string): void {
  const body = [
    'status --porcelain',
    'rev-parse HEAD',
    'diff --quiet',
    'log -1 --format=%H',
    'ls-files -m',
    'add file-1.txt',
    'show -s HEAD',
    'symbolic-ref HEAD',
    'log --oneline -20',
    'rev-list --count HEAD',
    'commit --allow-empty -q -m x',
    'branch --show-current',
  ];
  const rounds = Math.max(1, Math.round(Number(options.loop) / (body.length * TURNS)));
  const script = join(place, 'loop.sh');
  writeFileSync(
    script,
    `i=0; while [ $i -lt ${TURNS} ]; do i=$((i+1)); ${body.map((line) => `git ${line} >/dev/null`).join('; ')}; done\n`,
  );
  // Each run starts with the same repository, because the commits of one run would slow down the next.
  const begin = git(repository, 'rev-parse', 'HEAD');
  const milliseconds = (path: string) => {
    git(repository, 'reset', '-q', '--soft', begin);
    git(repository, 'reflog', 'expire', '--expire=now', '--all');
    git(repository, 'prune', '--expire=now');
    const start = process.hrtime.bigint();
    must(spawnSync('sh', [script], { cwd: repository, env: { ...env, PATH: path } }));
    return Number(process.hrtime.bigint() - start) / 1e6;
  };
  const paths = [env.PATH, `${join(place, 'bin')}:${env.PATH}`];
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0])
      times[which as 0 | 1].push(milliseconds(paths[which] as string));
  }
  const calls = TURNS * body.length;
  const [plain, shimmed] = times.map((list) => median(list) / calls) as [number, number];
  console.log(
    `${rounds * calls} mixed calls in a shell loop, a call: real git ${plain.toFixed(2)} ms, shim ${shimmed.toFixed(2)} ms, ×${(shimmed / plain).toFixed(2)}`,
  );
}

/** Runs several commands in turn and returns their medians in milliseconds. */
function measure(commands: readonly (readonly string[])[], cwd: string): number[] {
  const times = commands.map(() => [] as number[]);
  for (let run = 0; run < runs + 2; run++) {
    for (const [i, [program = '', ...args]] of commands.entries()) {
      const start = process.hrtime.bigint();
      spawnSync(program, args, { cwd, env, stdio: 'ignore' });
      if (run >= 2) times[i]?.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
  }
  return times.map(median);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function format(ms: number | undefined): string {
  return (ms ?? 0).toFixed(2).padStart(7);
}

function agt(cwd: string, ...args: string[]): string {
  const result = spawnSync(join(root, 'dist', 'agt'), args, { cwd, env, encoding: 'utf8' });
  must(result);
  return result.stdout;
}

function git(cwd: string, ...args: string[]): string {
  const result = spawnSync(real, args, { cwd, env, encoding: 'utf8' });
  must(result);
  return result.stdout.trim();
}

function must(result: { status: number | null; stderr: string | Buffer }): void {
  if (result.status !== 0) throw new Error(String(result.stderr));
}
