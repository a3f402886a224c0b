/** Of what git ignores in a folder without a session, a snapshot takes what no build makes again, as far as it is small. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { silent, toolOf } from '../integrations/hooks.ts';

const RULES = '.env*\n*.sqlite3\n.vscode/\nnode_modules/\ntarget/\n*.o\n*.bin\nmany/\nnotes\n';
const KEPT = { '.env': 'KEY=1\n', 'd/dev.sqlite3': 'rows\0', '.vscode/settings.json': '{}', notes: 'mine\n' };
const OUTPUT = { 'node_modules/x/index.js': 'x', 'target/debug/app': 'x', 'main.o': 'x' };

function makeFolder(): string {
  const folder = makeRepository({ a: 'a\n', '.gitignore': RULES });
  for (const [path, content] of Object.entries({ ...KEPT, ...OUTPUT })) write(join(folder, path), content);
  return folder;
}

interface Status {
  readonly store: string;
  readonly left_out: readonly { path: string; files: number | null; bytes: number | null }[];
}
const status = (folder: string) => JSON.parse(agtOk(folder, 'snapshot', 'status', '--json')) as Status;
const leftOut = (folder: string) => status(folder).left_out.map(({ path }) => path);

test('git clean -fdx of an agent, and an undo: what people keep is back, and what a build makes is not', () => {
  const folder = makeFolder();
  expect(toolOf(folder, 'Bash', { command: 'x' }, 'PreToolUse', '1')).toEqual(silent);
  git(folder, 'clean', '-q', '-fdx');
  write(join(folder, 'd/dev.sqlite3'), 'another\0');
  expect(toolOf(folder, 'Bash', { command: 'x' }, 'PostToolUse', '1')).toEqual(silent);
  agtOk(folder, 'undo');
  for (const [path, content] of Object.entries(KEPT))
    expect([path, readFileSync(join(folder, path), 'utf8')]).toEqual([path, content]);
  for (const path of Object.keys(OUTPUT))
    expect([path, existsSync(join(folder, path))]).toEqual([path, false]);
  agtOk(folder, 'redo');
  expect(readFileSync(join(folder, 'd/dev.sqlite3'), 'utf8')).toBe('another\0');
  expect(git(folder, 'status', '--porcelain')).toBe('');
  // It holds keys.
  expect(statSync(join(status(folder).store, '..')).mode & 0o077).toBe(0);
});

test('a restore deletes nothing that git ignores, also if the snapshot holds it', () => {
  const folder = makeFolder();
  rmSync(join(folder, 'notes'));
  agtOk(folder, 'snapshot');
  write(join(folder, 'notes'), 'new\n');
  write(join(folder, 'a'), 'b\n');
  agtOk(folder, 'snapshot');
  agtOk(folder, 'undo');
  expect([readFileSync(join(folder, 'a'), 'utf8'), readFileSync(join(folder, 'notes'), 'utf8')]).toEqual([
    'a\n',
    'new\n',
  ]);
});

test('status names what is left out, with its size; settings take more, or nothing', () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'large.bin'), Buffer.alloc(21 * 2 ** 20));
  mkdirSync(join(folder, 'many'));
  for (let i = 0; i < 520; i++) writeFileSync(join(folder, `many/${i}`), '');
  agtOk(folder, 'snapshot');
  expect(status(folder).left_out.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: 'large.bin', files: 1, bytes: 21 * 2 ** 20 },
    { path: 'main.o', files: 1, bytes: 1 },
    { path: 'many', files: 520, bytes: 0 },
    { path: 'node_modules', files: 1, bytes: 1 },
    { path: 'target', files: 1, bytes: 1 },
  ]);
  expect(agtOk(folder, 'snapshot', 'status')).toMatch(
    /^left out +large\.bin: 1 file, 21\.00 MiB\n(.*\n)* +git ignores these; to take them, name them in \.worktreeinclude; a larger agt\.ignoredFiles /m,
  );
  agtOk(folder, 'config', 'set', 'agt.ignoredSize', '1g');
  agtOk(folder, 'config', 'set', 'agt.ignoredFiles', '1000');
  agtOk(folder, 'snapshot');
  expect(leftOut(folder).sort()).toEqual(['main.o', 'node_modules', 'target']);
  expect(agtOk(folder, 'snapshot', 'status')).toMatch(/ name them in \.worktreeinclude$/m);
  agtOk(folder, 'config', 'set', 'agt.ignoredFiles', '0');
  agtOk(folder, 'snapshot');
  expect(leftOut(folder)).toContain('.env');
  const files = git(status(folder).store, 'ls-tree', '-r', '--name-only', 'refs/agt/tip/project', 'sandbox/');
  expect(files.split('\n')).toEqual(['sandbox/.gitignore', 'sandbox/a']);
  // The next one leaves the content of the last one where it is, and an undo brings it back.
  rmSync(join(folder, '.env'));
  agtOk(folder, 'undo');
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('KEY=1\n');
});

test('many small files keep out none of a few; what does not fit keeps out nothing smaller', () => {
  const folder = makeFolder();
  write(join(folder, '.gitignore'), `${RULES}empty*/\n`);
  for (const name of ['empty1', 'empty2']) {
    mkdirSync(join(folder, name));
    for (let i = 0; i < 300; i++) writeFileSync(join(folder, name, String(i)), '');
  }
  writeFileSync(join(folder, 'dump.bin'), Buffer.alloc(19 * 2 ** 20));
  writeFileSync(join(folder, 'other.bin'), Buffer.alloc(2 * 2 ** 20));
  agtOk(folder, 'snapshot');
  const left = leftOut(folder).sort();
  expect(left).toEqual(['dump.bin', 'empty2', 'main.o', 'node_modules', 'target']);
});

test('names that are no text, links, pipes, a repository inside, a folder without git', () => {
  const plain = makeTempDir();
  const folder = makeRepository({ '.gitignore': 'odd*/\nlink\n' });
  write(join(plain, '.gitignore'), 'odd*/\nlink\n');
  const secret = join(makeTempDir(), 'secret');
  write(secret, 'not in the folder');
  for (const top of [plain, folder]) {
    const odd = Buffer.from(`${top}/odd\n\xff`, 'latin1');
    mkdirSync(odd);
    const inside = (name: string) => Buffer.concat([odd, Buffer.from(`/${name}`)]);
    writeFileSync(inside(' '), 'blank');
    symlinkSync(secret, join(top, 'link'));
    run('sh', ['-c', 'cd odd* && mkfifo pipe'], { cwd: top });
    agtOk(top, 'snapshot');
    rmSync(odd, { recursive: true });
    rmSync(join(top, 'link'));
    agtOk(top, 'undo');
    expect(readFileSync(inside(' '), 'utf8')).toBe('blank');
    expect([lstatSync(join(top, 'link')).isSymbolicLink(), readlinkSync(join(top, 'link'))]).toEqual([
      true,
      secret,
    ]);
  }
  expect(readFileSync(secret, 'utf8')).toBe('not in the folder');
});

test('files that git ignores in a folder stay, and a second agt undo --turn of the turn makes no snapshot', () => {
  const folder = makeRepository({ '.gitignore': '*.log\n' });
  agtOk(folder, 'snapshot');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  for (const [prompt, files] of [
    ['1', ['f', 'f.log']],
    ['2', ['only.log']],
  ] as const) {
    agent.says(prompt);
    agent.begins(prompt);
    for (const file of files) writeFileSync(join(folder, file), 'of the agent\n');
    agent.ends(prompt);
  }
  agent.stops();
  const snapshots = () => JSON.parse(agtOk(folder, 'snapshot', 'list', '--json')).length;
  const before = snapshots();
  const ignored = agt(folder, 'undo', '--turn', '2');
  expect(ignored.stderr).toBe('warning: what git ignores stays: only.log\n');
  expect(ignored.stdout).toMatch(/: nothing has changed\n$/);
  expect(agt(folder, 'undo', '--turn', '1').stderr).toBe('warning: what git ignores stays: f.log\n');
  expect(agt(folder, 'undo', '--turn', '1').stdout).toMatch(/: turn 1 has been taken back already\n$/);
  expect(snapshots()).toBe(before + 1);
  expect(readdirSync(folder)).toEqual(['.git', '.gitignore', 'f.log', 'only.log']);
});
