/** A worktree in which somebody works: files, and git commands that may fail. Paths are latin1 and relative to it. */
import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Outcome, REAL_GIT, run } from './programs.ts';
import type { Random } from './random.ts';

type Kind = 'file' | 'directory' | 'link' | 'repository';

export class Worktree {
  readonly random: Random;
  readonly root: string;
  private readonly note: (line: string) => void;
  private readonly program: () => string;

  constructor(random: Random, root: string, note: (line: string) => void, program = () => REAL_GIT) {
    this.random = random;
    this.root = root;
    this.note = note;
    this.program = program;
  }

  /** Somebody's git command; it may fail. `below` is a repository inside. */
  git(args: readonly string[], input: string | Buffer = '', below = ''): Outcome {
    const cwd = below === '' ? this.root : `${this.root}/${below}`;
    const outcome = run(this.program(), args, cwd, input, INSIDE);
    const words = args.map((arg) => JSON.stringify(arg)).join(' ');
    const stdin = input.length > 0 ? ` < ${JSON.stringify(input.toString('latin1'))}` : '';
    this.note(
      `  (cd ${JSON.stringify(cwd)}; git ${words}${stdin}) -> ${outcome.exitCode} ${outcome.stderr.trim()}`,
    );
    return outcome;
  }

  /** A command on these paths, whatever bytes they have. */
  gitPaths(args: readonly string[], paths: readonly string[]): void {
    if (paths.length === 0) return;
    const specs = paths.map((path) => `:(literal,top)${path}`).join('\0');
    this.git([...args, '--pathspec-from-file=-', '--pathspec-file-nul'], Buffer.from(specs, 'latin1'));
  }

  /** Asks the real git, which changes nothing. Undefined if it fails. */
  ask(args: readonly string[], below = ''): string | undefined {
    const cwd = below === '' ? this.root : `${this.root}/${below}`;
    const { exitCode, stdout } = run(REAL_GIT, args, cwd, '', { ...INSIDE, GIT_OPTIONAL_LOCKS: '0' });
    return exitCode === 0 ? stdout : undefined;
  }

  tracked(): string[] {
    return zeroed(this.ask(['ls-files', '-z']) ?? '');
  }

  absolute(path: string): Buffer {
    return Buffer.from(`${this.root}/${path}`, 'latin1');
  }

  /** Those outside of repositories inside. */
  list(kind: Kind): string[] {
    const found: string[] = [];
    const walk = (below: string) => {
      for (const name of readdirSync(this.absolute(below), 'latin1').sort()) {
        if (name === '.git') continue;
        const path = below === '' ? name : `${below}/${name}`;
        const stat = lstatSync(this.absolute(path));
        const isRepository = stat.isDirectory() && this.kindOf(`${path}/.git`) !== undefined;
        const is = isRepository ? 'repository' : kindOf(stat);
        if (is === kind) found.push(path);
        if (is === 'directory') walk(path);
      }
    };
    walk('');
    return found;
  }

  kindOf(path: string): Kind | undefined {
    const stat = lstatIn(this.absolute(path));
    return stat === undefined ? undefined : kindOf(stat);
  }

  pick(kind: Kind): string | undefined {
    const all = this.list(kind);
    return all.length === 0 ? undefined : this.random.pick(all);
  }

  /** Deletes what is in the way, and makes the directories above. */
  clear(path: string): void {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const above = parts.slice(0, depth).join('/');
      const kind = this.kindOf(above);
      if (kind !== undefined && kind !== 'directory') rmSync(this.absolute(above));
    }
    rmSync(this.absolute(path), { recursive: true, force: true });
    mkdirSync(Buffer.from(dirname(`${this.root}/${path}`), 'latin1'), { recursive: true });
  }

  put(path: string, content: string | Buffer): void {
    this.clear(path);
    writeFileSync(this.absolute(path), content);
  }
}

/** No repository around is taken for one inside, and submodules may come from a path. */
export const INSIDE = { GIT_ALLOW_PROTOCOL: 'file' };

export function zeroed(text: string): string[] {
  return text.split('\0').filter((part) => part !== '');
}

function kindOf(stat: { isSymbolicLink(): boolean; isDirectory(): boolean }): Kind {
  if (stat.isSymbolicLink()) return 'link';
  return stat.isDirectory() ? 'directory' : 'file';
}

function lstatIn(path: Buffer) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // below a file
  }
}
