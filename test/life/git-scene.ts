/** The names that a random git command can use: paths, branches, commits. */
import type { Facts, Refs } from './facts.ts';
import type { Random } from './random.ts';

export interface GitCommand {
  readonly args: readonly string[];
  readonly input?: string | Buffer;
  readonly env?: NodeJS.ProcessEnv;
}

export interface GitStep {
  readonly name: string;
  readonly weight?: number;
  /** The commands, one after the other; undefined if there is nothing to do. */
  readonly make: (scene: GitScene) => readonly GitCommand[] | undefined;
}

const BRANCHES = ['topic', 'side', 'other', 'stack/one', 'feature'];

export class GitScene {
  readonly random: Random;
  readonly cwd: string;
  /** Asks the real git, which changes nothing. Undefined if it fails. */
  readonly ask: (args: readonly string[], input?: string | Buffer) => string | undefined;
  private readonly facts: Facts;
  private readonly refs: Refs;

  constructor(random: Random, cwd: string, facts: Facts, refs: Refs, ask: GitScene['ask']) {
    this.random = random;
    this.cwd = cwd;
    this.facts = facts;
    this.refs = refs;
    this.ask = ask;
  }

  /** Paths in the index, in latin1. */
  tracked(): string[] {
    const keys = [...this.facts.keys()].filter((key) => key.startsWith('index '));
    return [...new Set(keys.map((key) => key.slice('index 0 '.length)))];
  }

  /** Files and links on disk, relative to the sandbox. */
  present(): string[] {
    const files = [...this.facts].filter(
      ([key, what]) => key.startsWith('file sandbox/') && !/^dir/.test(what),
    );
    return files.map(([key]) => key.slice('file sandbox/'.length));
  }

  /** A command with some of the paths, given as `--pathspec-from-file` so that every byte arrives. */
  withPaths(args: readonly string[], from: readonly string[]): GitCommand[] | undefined {
    if (from.length === 0) return undefined;
    const paths = this.random.some(from, 3).map((path) => `:(literal,top)${path}`);
    return [
      {
        args: [...args, '--pathspec-from-file=-', '--pathspec-file-nul'],
        input: Buffer.from(paths.join('\0'), 'latin1'),
      },
    ];
  }

  /** `update-index` with a flag and one path. */
  flag(...flags: string[]): GitCommand[] | undefined {
    const path = this.plainTracked();
    return path === undefined ? undefined : [{ args: ['update-index', ...flags, '--', path] }];
  }

  /** A tracked path that can be an argument. */
  plainTracked(): string | undefined {
    const plain = this.tracked().filter((path) => /^[\x20-\x7e]+$/.test(path) && path.length < 100);
    return plain.length === 0 ? undefined : this.random.pick(plain);
  }

  /** A new name or that of an existing branch. */
  branch(): string {
    return this.random.pick(BRANCHES);
  }

  /** An existing branch that is not agt's. */
  existing(): string {
    const all = [...this.refs.keys()].filter((ref) => /^refs\/heads\/(?!agt)/.test(ref));
    return this.random.pick(all).replace('refs/heads/', '');
  }

  commit(): string {
    const near = ['HEAD', 'HEAD~1', 'HEAD~2', 'HEAD^', 'HEAD~3', 'ORIG_HEAD'];
    return this.random.chance(0.6) ? this.random.pick(near) : this.existing();
  }

  tag(): string {
    return this.random.pick(['v1', 'v2', 'v3']);
  }

  message(): string {
    return `message ${this.random.below(1000)}`;
  }
}

/** A step with one command. */
export function one(name: string, weight: number, make: (scene: GitScene) => readonly string[]): GitStep {
  return { name, weight, make: (scene) => [{ args: make(scene) }] };
}
