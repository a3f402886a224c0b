/** Random changes of the files in a session folder, as an agent makes them. Paths are latin1 and relative to it. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Facts } from './facts.ts';
import type { Random } from './random.ts';

export interface FileStep {
  readonly name: string;
  readonly weight?: number;
  /** Returns the path that it changed; undefined if it found nothing to do. */
  readonly act: (scene: FileScene) => string | undefined;
}

export class FileScene {
  readonly random: Random;
  readonly folder: string;
  private readonly facts: Facts;

  constructor(random: Random, folder: string, facts: Facts) {
    this.random = random;
    this.folder = folder;
    this.facts = facts;
  }

  absolute(path: string): Buffer {
    return Buffer.from(`${this.folder}/${path}`, 'latin1');
  }

  /** The paths whose facts begin so. */
  paths(kind: string): string[] {
    const found = [...this.facts].filter(([key, text]) => key.startsWith('file ') && text.startsWith(kind));
    return found.map(([key]) => key.slice('file '.length)).filter((path) => path.includes('/'));
  }

  /** A path for something new. Anything in the way is deleted. */
  room(names = PLAIN): string {
    const { random } = this;
    const top = random.chance(0.85) ? 'sandbox' : random.pick(['xdg', 'config']);
    const all = top === 'sandbox' ? names : [...names, ...ONLY_BESIDE];
    const path = `${top}/${random.pick(all)}`;
    this.clear(path);
    return path;
  }

  clear(path: string): void {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const above = parts.slice(0, depth).join('/');
      const stat = lstatSync(this.absolute(above), { throwIfNoEntry: false });
      if (stat !== undefined && !stat.isDirectory()) rmSync(this.absolute(above));
    }
    rmSync(this.absolute(path), { recursive: true, force: true });
    mkdirSync(Buffer.from(dirname(`${this.folder}/${path}`), 'latin1'), { recursive: true });
  }
}

const LONG = Array.from({ length: 8 }, (_, depth) => `${'long'.repeat(50)}${depth}`).join('/');
const PLAIN = [
  ...[
    'a',
    'b.txt',
    'c.txt',
    'src/main.c',
    'src/util.c',
    'src/deep/er/x',
    'docs/read me.md',
    'a.log',
    'build/out.o',
  ],
  ...['.hidden', 'lib/one', 'lib/two', 'c.txt/below', 'src/link'],
];
const ODD = [
  ...[
    'new\nline',
    'caf\xe9',
    '\xc3\xbcmlaut',
    '-dash',
    '--',
    'tab\there',
    'quo"te',
    'back\\slash',
    ' space ',
    '\xff\xfe',
  ],
  ...[
    ':(top)x',
    '*',
    '[a]',
    'HEAD',
    'main',
    '.gitkeep',
    'dir\n/x',
    '-d/-f',
    LONG,
    `${'l'.repeat(255)}`,
    '.agt-x.tmp',
  ],
];
/** git adds them: in the worktree they would come into commits of the agent. */
const REFUSED_BY_FSCK = ['.gitattributes/x', 'gi7eba~1', 'gi7eba~1/x'];
/** git refuses to add these; outside of the worktree they are ordinary. */
const ONLY_BESIDE = ['.GIT/config', 'git~1', '.gitmodules', '.git /x', 'sandbox/xdg/x'];

function text(random: Random): string {
  return Array.from({ length: 1 + random.below(9) }, (_, line) => `line ${line} ${random.below(50)}\n`).join(
    '',
  );
}

function content(random: Random): string | Buffer {
  if (random.chance(0.1)) return '';
  if (random.chance(0.1)) return Buffer.from(Array.from({ length: 700 }, () => random.below(256)));
  return random.chance(0.1) ? `${text(random)}no end` : text(random);
}

export const FILE_STEPS: readonly FileStep[] = [
  { name: 'create', weight: 4, act: (scene) => create(scene, PLAIN) },
  { name: 'create an odd name', weight: 2, act: (scene) => create(scene, ODD) },
  {
    name: 'names that fsck refuses',
    weight: 0.3,
    act: (scene) => {
      const path = `${scene.random.pick(['xdg', 'config'])}/${scene.random.pick(REFUSED_BY_FSCK)}`;
      scene.clear(path);
      writeFileSync(scene.absolute(path), content(scene.random));
      return path;
    },
  },
  { name: 'change a line', weight: 8, act: changeLine },
  {
    name: 'rewrite with the same size',
    weight: 2,
    act: (scene) =>
      onAny(scene, 'file', (path) => {
        const bytes = readFileSync(scene.absolute(path));
        if (bytes.length > 0) bytes[scene.random.below(bytes.length)] = 65 + scene.random.below(26);
        writeFileSync(scene.absolute(path), bytes);
      }),
  },
  { name: 'delete', weight: 3, act: (scene) => onAny(scene, 'file', (path) => rmSync(scene.absolute(path))) },
  {
    name: 'delete a directory',
    weight: 0.7,
    act: (scene) => onAny(scene, 'directory', (path) => rmSync(scene.absolute(path), { recursive: true })),
  },
  {
    name: 'rename',
    weight: 3,
    act: (scene) =>
      onAny(scene, 'file', (path) => {
        const to = `sandbox/renamed-${scene.random.below(9)}`;
        if (path === to) return;
        scene.clear(to);
        renameSync(scene.absolute(path), scene.absolute(to));
      }),
  },
  {
    name: 'rename a directory',
    act: (scene) =>
      onAny(scene, 'directory', (path) => {
        const to = `${path.split('/')[0]}/moved-${scene.random.below(4)}`;
        if (path === to || to.startsWith(`${path}/`) || path.startsWith(`${to}/`)) return;
        scene.clear(to);
        renameSync(scene.absolute(path), scene.absolute(to));
      }),
  },
  {
    name: 'chmod',
    weight: 3,
    act: (scene) =>
      onAny(scene, 'file', (path) =>
        chmodSync(
          scene.absolute(path),
          scene.random.pick([0o755, 0o755, 0o644, 0o600, 0o700, 0o444, 0o664, 0o640]),
        ),
      ),
  },
  {
    name: 'chmod a directory',
    act: (scene) =>
      onAny(scene, 'directory', (path) =>
        chmodSync(scene.absolute(path), scene.random.pick([0o755, 0o700, 0o775, 0o750, 0o2755, 0o1777])),
      ),
  },
  {
    name: 'link',
    weight: 2,
    act: (scene) => {
      const path = scene.room([...PLAIN, 'link', 'other-link']);
      const target = scene.random.pick([
        'a',
        'src',
        '../../outside',
        'nowhere',
        '/etc',
        '\xff',
        'new\nline',
        '.',
      ]);
      symlinkSync(Buffer.from(target, 'latin1'), scene.absolute(path));
      return path;
    },
  },
  {
    name: 'empty directory',
    weight: 2,
    act: (scene) => {
      const path = scene.room(['empty', 'empty/er', 'src/empty', 'docs', 'x/y/z', 'lib']);
      mkdirSync(scene.absolute(path));
      return path;
    },
  },
  {
    name: 'ignore',
    weight: 0.5,
    act: (scene) => {
      scene.clear('sandbox/.gitignore');
      writeFileSync(
        scene.absolute('sandbox/.gitignore'),
        scene.random.pick(['*.log\n', 'build/\n*.log\n', 'c*\n', '']),
      );
      return 'sandbox/.gitignore';
    },
  },
  {
    name: 'attributes',
    weight: 0.3,
    act: (scene) => {
      scene.clear('sandbox/.gitattributes');
      const lines = scene.random.pick(['* text=auto\n', '*.txt eol=crlf\n', '*.txt ident\n', '* -text\n']);
      writeFileSync(scene.absolute('sandbox/.gitattributes'), lines);
      return 'sandbox/.gitattributes';
    },
  },
  {
    name: 'mode of the sandbox folder',
    weight: 0.3,
    act: (scene) => {
      chmodSync(scene.absolute('sandbox'), scene.random.pick([0o755, 0o700, 0o750]));
      return 'sandbox';
    },
  },
  {
    name: 'folder replaced by a link',
    weight: 0.2,
    act: (scene) => {
      rmSync(scene.absolute('config'), { recursive: true, force: true });
      symlinkSync('xdg', scene.absolute('config'));
      return 'config';
    },
  },
  {
    name: 'files beside the sandbox',
    weight: 0.2,
    act: (scene) => {
      writeFileSync(scene.absolute('beside'), text(scene.random));
      return 'beside';
    },
  },
];

function create(scene: FileScene, names: readonly string[]): string {
  const path = scene.room([...names]);
  writeFileSync(scene.absolute(path), content(scene.random));
  return path;
}

function changeLine(scene: FileScene): string | undefined {
  const { random } = scene;
  return onAny(scene, 'file', (path) => {
    const lines = readFileSync(scene.absolute(path), 'latin1').split('\n');
    lines[random.below(lines.length)] = `changed ${random.below(1000)}`;
    writeFileSync(scene.absolute(path), lines.join('\n'), 'latin1');
  });
}

function onAny(scene: FileScene, kind: string, act: (path: string) => void): string | undefined {
  const paths = scene.paths(kind);
  if (paths.length === 0) return undefined;
  const path = scene.random.pick(paths);
  act(path);
  return path;
}
