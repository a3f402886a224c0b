/** The state of a life: a repository, its sessions, and what each snapshot has to bring back. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Facts, type Refs, readFacts, readRefs } from './facts.ts';
import { AGT, makeDirectory, type Outcome, ok, parseJson, REAL_GIT, run } from './programs.ts';
import { Random } from './random.ts';

/** A snapshot of a session, in the order of its chain. */
export interface Link {
  readonly commit: string;
  readonly by?: 'undo' | 'redo';
  /** The snapshot that it brought back. */
  readonly restored?: string;
}

export interface LifeSession {
  readonly id: string;
  readonly folder: string;
  readonly sandbox: string;
  readonly workBranch: string;
  readonly chain: Link[];
  /** The tip before its first snapshot. */
  readonly base: string;
  /** How many snapshots of its chain are those of the session that it was forked from. */
  readonly forkedAt: number;
  isEnded: boolean;
  /** Before its first snapshot; undefined in a fork. */
  start: Facts | undefined;
  /** As last seen. */
  facts: Facts;
}

export class Life {
  readonly seed: number;
  readonly random: Random;
  readonly repository: string;
  readonly sessions: LifeSession[] = [];
  /** The content of the disk when agt made the snapshot. */
  readonly snapshots = new Map<string, Facts>();
  readonly counts = { steps: 0, snapshots: 0, restores: 0, guarded: 0, unchanged: 0, answered: 0 };
  refs: Refs = new Map();
  private readonly log: string[] = [];
  private ids = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.random = new Random(seed);
    this.repository = makeRepository();
    this.refs = readRefs(this.repository);
  }

  note(line: string): void {
    this.log.push(line);
  }

  /** The last steps, for a report. */
  story(): string {
    return this.log.slice(-40).join('\n');
  }

  active(): LifeSession[] {
    return this.sessions.filter(({ isEnded }) => !isEnded);
  }

  agt(args: readonly string[], cwd = this.repository): Outcome {
    const outcome = run(AGT, args, cwd);
    this.note(
      `  agt ${args.map((arg) => JSON.stringify(arg)).join(' ')} -> ${outcome.exitCode} ${outcome.stderr}`,
    );
    return outcome;
  }

  agtOk(args: readonly string[]): string {
    const { exitCode, stdout, stderr } = this.agt(args);
    if (exitCode !== 0) throw new Error(`agt ${args.join(' ')}: exit code ${exitCode}\n${stdout}${stderr}`);
    return stdout;
  }

  /** Reads the session from disk. */
  look(session: LifeSession): Facts {
    this.refs = readRefs(this.repository);
    session.facts = this.factsOf(session);
    return session.facts;
  }

  factsOf({ folder, sandbox, workBranch }: LifeSession): Facts {
    return readFacts({ folder, gitDir: gitDirectory(sandbox), workBranch }, this.refs);
  }

  addSession(id: string, sandbox: string, chain: readonly Link[] = []): LifeSession {
    this.refs = readRefs(this.repository);
    const session: LifeSession = {
      id,
      sandbox,
      folder: dirname(sandbox),
      workBranch: `refs/heads/agt/${id}`,
      chain: [...chain],
      base: this.tip({ id }),
      forkedAt: chain.length,
      isEnded: false,
      start: undefined,
      facts: new Map(),
    };
    this.sessions.push(session);
    // git leaves one in a new worktree, and agt knows none at the start.
    const gitDir = ok(REAL_GIT, ['rev-parse', '--absolute-git-dir'], sandbox).trim();
    if (chain.length === 0) rmSync(join(gitDir, 'ORIG_HEAD'), { force: true });
    const facts = this.look(session);
    if (chain.length === 0) session.start = facts;
    return session;
  }

  /** Also of those that a move has left behind. */
  nextId(): string {
    this.ids += 1;
    return `s${this.ids}`;
  }

  newSession(): LifeSession {
    const id = this.nextId();
    const { sandbox } = parseJson<{ sandbox: string }>(this.agtOk(['session', 'new', '--id', id, '--json']));
    return this.addSession(id, sandbox);
  }

  tip({ id }: Pick<LifeSession, 'id'>): string {
    const tip = this.refs.get(`refs/agt/tip/${id}`);
    if (tip === undefined) throw new Error(`refs/agt/tip/${id} is gone`);
    return tip;
  }

  /**
   * Adds the snapshots that the session has got to its chain. `known` has what they have to bring back, by commit;
   * `otherwise` is for all others.
   */
  takeIn(
    session: LifeSession,
    otherwise: Facts,
    known: ReadonlyMap<string, Facts> = new Map(),
    last?: Partial<Link>,
  ): void {
    const tip = this.tip(session);
    if (tip !== this.refs.get(`refs/heads/agtsessions/${session.id}`))
      throw new Error(`agtsessions/${session.id} is not at the tip`);
    const before = session.chain.at(-1)?.commit ?? session.base;
    if (tip === before) return;
    const args = ['rev-list', '--first-parent', '--reverse', `${before}..${tip}`, '--'];
    const commits = ok(REAL_GIT, args, this.repository).trim().split('\n');
    for (const commit of commits) {
      session.chain.push(commit === tip ? { ...last, commit } : { commit });
      this.snapshots.set(commit, known.get(commit) ?? otherwise);
      this.counts.snapshots++;
    }
  }
}

export function gitDirectory(sandbox: string): string {
  const file = join(sandbox, '.git');
  if (!existsSync(file)) throw new Error(`${file} is gone`);
  const path = /^gitdir: (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1];
  if (path === undefined) throw new Error(`${file} names no git directory`);
  return resolve(sandbox, path);
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const LINES = Array.from({ length: 8 }, (_, line) => `line ${line}\n`);

/** main with four commits, checked out; feature with three of its own that conflict. */
function makeRepository(): string {
  const repository = join(makeDirectory('life'), 'project');
  mkdirSync(repository);
  const git = (...args: string[]) => ok(REAL_GIT, args, repository);
  const commit = (message: string) => {
    git('add', '-A');
    git('commit', '-q', '-m', message);
  };
  git('init', '-q', '-b', 'main');
  for (const path of ['a', 'b.txt', 'src/main.c', 'src/util.c', 'lib/one'])
    put(join(repository, path), LINES.join(''));
  put(join(repository, '.gitignore'), '*.log\nbuild/\n');
  commit('one');
  git('branch', 'feature');
  for (const number of [1, 2, 3]) {
    put(join(repository, 'a'), LINES.with(number, `main ${number}\n`).join(''));
    put(join(repository, `main-${number}`), `${number}\n`);
    commit(`main ${number}`);
  }
  git('checkout', '-q', 'feature');
  for (const number of [2, 3, 5]) {
    put(join(repository, 'a'), LINES.with(number, `feature ${number}\n`).join(''));
    put(join(repository, 'src/main.c'), LINES.with(number, `feature ${number}\n`).join(''));
    commit(`feature ${number}`);
  }
  git('branch', 'other', 'feature~2');
  git('checkout', '-q', 'main');
  return repository;
}
