/** Random changes of the files in a worktree, by a user or an agent. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Worktree } from './worktree.ts';

export interface WorktreeStep {
  readonly name: string;
  readonly weight?: number;
  /** Returns the path that it changed, for a report. */
  readonly act: (tree: Worktree) => unknown;
}

const PLAIN = [
  ...['a', 'b.txt', 'c.txt', 'src/main.c', 'src/util.c', 'src/deep/er/x', 'docs/read me.md', 'lib/one'],
  ...['lib/two', '.hidden', 'c.txt/below', 'tool.sh', 'windows.crlf', 'src'],
];
const ODD = [
  ...['new\nline', 'caf\xe9', '\xc3\xbcmlaut', '-dash', 'tab\there', 'quo"te', 'back\\slash', ' space '],
  ...['\xff\xfe', ':(top)x', '*', '[a]', 'HEAD', 'dir\n/x', '-d/-f', `${'l'.repeat(255)}`],
];
/** The first rules of a life ignore these. */
const IGNORED = ['a.log', 'src/b.log', '.env', 'build/out.o', 'build/deep/x', 'secret.key', 'lib/cache/z'];
const RULES = [
  '*.log',
  'build/',
  '.env',
  '*.key',
  'cache/',
  'lib/',
  'c*',
  '*.txt',
  '!keep.log',
  '/src/*.c',
  '*',
];

export const FILE_CHANGES: readonly WorktreeStep[] = [
  { name: 'create', weight: 4, act: (tree) => create(tree, PLAIN) },
  { name: 'create an odd name', weight: 2, act: (tree) => create(tree, ODD) },
  { name: 'create an ignored file', weight: 3, act: (tree) => create(tree, IGNORED) },
  { name: 'change a line', weight: 6, act: changeLine },
  { name: 'rewrite with the same size', weight: 2, act: rewrite },
  { name: 'delete', weight: 2, act: (tree) => on(tree, 'file', (path) => rmSync(tree.absolute(path))) },
  {
    name: 'delete a directory',
    weight: 0.4,
    act: (tree) => on(tree, 'directory', (path) => rmSync(tree.absolute(path), { recursive: true })),
  },
  {
    name: 'rename',
    weight: 1.5,
    act: (tree) =>
      on(tree, 'file', (path) => {
        const to = tree.random.pick([`renamed-${tree.random.below(5)}`, `moved/${tree.random.below(3)}`]);
        if (related(path, to)) return;
        tree.clear(to);
        renameSync(tree.absolute(path), tree.absolute(to));
      }),
  },
  {
    name: 'rename a directory',
    weight: 0.5,
    act: (tree) =>
      on(tree, 'directory', (path) => {
        const to = `directory-${tree.random.below(3)}`;
        if (related(path, to)) return;
        tree.clear(to);
        renameSync(tree.absolute(path), tree.absolute(to));
      }),
  },
  {
    name: 'chmod',
    weight: 2,
    act: (tree) =>
      on(tree, 'file', (path) =>
        chmodSync(tree.absolute(path), tree.random.pick([0o755, 0o755, 0o644, 0o600, 0o700, 0o444])),
      ),
  },
  {
    name: 'chmod a directory',
    weight: 0.5,
    act: (tree) =>
      on(tree, 'directory', (path) =>
        chmodSync(tree.absolute(path), tree.random.pick([0o755, 0o700, 0o775])),
      ),
  },
  {
    name: 'link',
    weight: 1.5,
    act: (tree) => {
      const path = tree.random.pick([...PLAIN, 'link', 'other-link']);
      tree.clear(path);
      // Below a link to itself git finds no difference at all.
      const targets = ['a', 'src', 'nowhere', '\xff', 'new\nline', '.'].filter((one) => one !== path);
      const target = tree.random.pick(targets);
      symlinkSync(Buffer.from(target, 'latin1'), tree.absolute(path));
      return path;
    },
  },
  {
    name: 'empty directory',
    act: (tree) => {
      const path = tree.random.pick(['empty', 'empty/er', 'src/empty', 'docs', 'lib']);
      tree.clear(path);
      mkdirSync(tree.absolute(path));
      return path;
    },
  },
  {
    name: 'file becomes a directory',
    act: (tree) =>
      on(tree, 'file', (path) => {
        tree.put(`${path}/below`, text(tree));
      }),
  },
  {
    name: 'directory becomes a file',
    act: (tree) => on(tree, 'directory', (path) => tree.put(path, text(tree))),
  },
  { name: 'directory becomes a link', weight: 0.3, act: becomesLink },
  {
    name: 'other ends of lines',
    weight: 0.6,
    act: (tree) =>
      on(tree, 'file', (path) => {
        const now = readFileSync(tree.absolute(path), 'latin1');
        const next = now.includes('\r\n') ? now.replaceAll('\r\n', '\n') : now.replaceAll('\n', '\r\n');
        writeFileSync(tree.absolute(path), next, 'latin1');
      }),
  },
  {
    name: 'attributes',
    weight: 0.3,
    act: (tree) => {
      tree.put('.gitattributes', tree.random.pick(['* text=auto\n', '*.txt eol=crlf\n', '*.c ident\n', '']));
      return '.gitattributes';
    },
  },
];

/** Changes of the rules by which git ignores files. */
export const RULE_CHANGES: readonly WorktreeStep[] = [
  { name: 'other rules', weight: 2, act: (tree) => rules(tree, '.gitignore') },
  {
    name: 'rules below',
    act: (tree) => rules(tree, tree.random.pick(['src', 'build', 'lib']).concat('/.gitignore')),
  },
  { name: 'rules in info/exclude', act: (tree) => rules(tree, '.git/info/exclude') },
  {
    name: 'rules deleted',
    act: (tree) => {
      const all = tree.list('file').filter((path) => path.endsWith('.gitignore'));
      for (const path of all) rmSync(tree.absolute(path));
      return all;
    },
  },
  {
    name: 'rules moved',
    act: (tree) => {
      if (tree.kindOf('.gitignore') !== 'file') return;
      const content = readFileSync(tree.absolute('.gitignore'));
      rmSync(tree.absolute('.gitignore'));
      tree.put('src/.gitignore', content);
    },
  },
];

export function text({ random }: Worktree): string {
  if (random.chance(0.05)) return '';
  return Array.from({ length: 1 + random.below(9) }, (_, line) => `line ${line} ${random.below(50)}\n`).join(
    '',
  );
}

function rules(tree: Worktree, path: string): string {
  if (path.startsWith('.git/') && tree.kindOf('.git') !== 'directory') return '';
  tree.put(path, tree.random.some(RULES, 4).join('\n').concat('\n'));
  return path;
}

function create(tree: Worktree, names: readonly string[]): string {
  const path = tree.random.pick(names);
  tree.put(path, text(tree));
  return path;
}

function changeLine(tree: Worktree): string | undefined {
  return on(tree, 'file', (path) => {
    const lines = readFileSync(tree.absolute(path), 'latin1').split('\n');
    lines[tree.random.below(lines.length)] = `changed ${tree.random.below(1000)}`;
    writeFileSync(tree.absolute(path), lines.join('\n'), 'latin1');
  });
}

function rewrite(tree: Worktree): string | undefined {
  return on(tree, 'file', (path) => {
    const bytes = readFileSync(tree.absolute(path));
    if (bytes.length > 0) bytes[tree.random.below(bytes.length)] = 65 + tree.random.below(26);
    writeFileSync(tree.absolute(path), bytes);
  });
}

function becomesLink(tree: Worktree): string | undefined {
  return on(tree, 'directory', (path) => {
    rmSync(tree.absolute(path), { recursive: true });
    symlinkSync('elsewhere', tree.absolute(path));
  });
}

/** `.gitmodules` stays as git writes it. */
function on(tree: Worktree, kind: 'file' | 'directory', act: (path: string) => void): string | undefined {
  const paths = tree.list(kind).filter((path) => path !== '.gitmodules');
  if (paths.length === 0) return undefined;
  const path = tree.random.pick(paths);
  act(path);
  return path;
}

function related(a: string, b: string): boolean {
  return `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);
}
