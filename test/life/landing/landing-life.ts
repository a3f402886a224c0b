/** The state of a life of landing: a user's repository, and a session in a sandbox. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGT, GIT_MODE, makeDirectory, type Outcome, ok, parseJson, REAL_GIT, run } from '../programs.ts';
import { Random } from '../random.ts';
import { commitOf } from '../squash.ts';
import { INSIDE, Worktree } from '../worktree.ts';
import { makeOrigin } from '../worktree-git.ts';

export interface Session {
  readonly id: string;
  readonly sandbox: string;
  readonly agent: Worktree;
  /** After accept --keep: the commit that has landed, and the content of the sandbox then, as a commit. */
  landed?: Acceptance;
  /** All that has landed as a whole of this one, and of those that share commits with it by forks; the newest first. */
  readonly family: (Acceptance & { readonly id: string; readonly branch: string })[];
}

interface Acceptance {
  readonly commit: string;
  readonly source: string;
}

/** An acceptance that may be taken back. */
export interface Landed {
  readonly id: string;
  readonly branch: string;
  readonly from: string;
  readonly commit: string;
  /** Digests of what the sandbox had. */
  readonly content: ReadonlyMap<string, string>;
  /** Uncommitted in the checkout before, with the content that was accepted. */
  readonly own: readonly string[];
}

export class LandingLife {
  readonly seed: number;
  readonly random: Random;
  readonly root: string;
  readonly user: Worktree;
  readonly counts = {
    ...{ steps: 0, sessions: 0, accepted: 0, conflicts: 0, overlaps: 0, refused: 0, synced: 0 },
    ...{ syncConflicts: 0, unaccepted: 0, rejected: 0, forked: 0, goneOn: 0 },
  };
  session: Session | undefined;
  /** The session, or its fork, that waits. */
  other: Session | undefined;
  last: Landed | undefined;
  /** `start`: the content of the sandbox then, as a commit. */
  readonly forks: { readonly ids: readonly string[]; readonly start: string }[] = [];
  private agentProgram = REAL_GIT;
  private readonly log: string[] = [];

  constructor(seed: number) {
    this.seed = seed;
    this.random = new Random(seed);
    this.root = makeRepository(this.random);
    this.user = new Worktree(this.random, this.root, (line) => this.note(line));
    // The names of some files look like keys and logins.
    this.agtOk('config', 'set', 'agt.untracked', 'all');
  }

  note(line: string): void {
    this.log.push(line);
  }

  /** The last steps, for a report. */
  story(): string {
    return this.log.slice(-150).join('\n');
  }

  /** Half of an agent's git commands go through git mode. */
  chooseProgram(): void {
    this.agentProgram = this.random.chance(0.5) ? GIT_MODE : REAL_GIT;
  }

  agt(...args: string[]): Outcome {
    const outcome = run(AGT, args, this.root, '', INSIDE);
    const words = args.map((arg) => JSON.stringify(arg)).join(' ');
    this.note(`  agt ${words} -> ${outcome.exitCode} ${outcome.stdout.slice(0, 300)}${outcome.stderr}`);
    return outcome;
  }

  agtOk(...args: string[]): string {
    const { exitCode, stdout, stderr } = this.agt(...args);
    if (exitCode !== 0) throw new Error(`agt ${args.join(' ')}: exit code ${exitCode}\n${stdout}${stderr}`);
    return stdout;
  }

  git(...args: string[]): string {
    return ok(REAL_GIT, args, this.root).trim();
  }

  commit(name: string): string {
    return this.git('rev-parse', '--verify', `${name}^{commit}`);
  }

  newSession(): Session {
    const id = `s${++this.counts.sessions}`;
    const words = ['session', 'new', id, '--from', 'main', '--working-copy', 'worktree', '--json'];
    return this.enter(id, this.agtOk(...words), []);
  }

  /** The session goes on, or its fork does, and the other one waits. */
  fork(session: Session): void {
    const id = `s${++this.counts.sessions}`;
    const start = commitOf({ worktree: session.sandbox, notTheirs: new Set(), committedOnly: false });
    const { exitCode, stdout } = this.agt('fork', session.id, '--id', id, '--json');
    if (exitCode !== 0) return;
    this.counts.forked++;
    if (start !== undefined) this.forks.unshift({ ids: [session.id, id], start });
    this.enter(id, stdout, session.family);
    this.other = session;
    if (this.random.chance(0.5)) this.change();
  }

  change(): void {
    [this.session, this.other] = [this.other ?? this.session, this.other && this.session];
  }

  /** The session has ended. */
  leave(): void {
    [this.session, this.other] = [this.other, undefined];
  }

  private enter(id: string, json: string, family: Session['family']): Session {
    const { sandbox } = parseJson<{ sandbox: string }>(json);
    const agent = new Worktree(
      this.random,
      sandbox,
      (line) => this.note(line),
      () => this.agentProgram,
    );
    this.session = { id, sandbox, agent, family };
    return this.session;
  }

  /** Commits with which its work may have begun. A session that is removed tells no more. */
  startsOf(id: string): string[] {
    if (!existsSync(join(this.root, '.git/agt/sessions', `${id}.json`))) return [];
    const { from, from_commit: began, synced = [] } = this.recordOf(id);
    return [...(from ? this.startsOf(from) : [began]), ...synced.map(({ tip }) => tip)];
  }

  /** From its metadata: a start of agt takes long. */
  stateOf(id: string): string {
    return this.recordOf(id).state;
  }

  recordOf(id: string): Metadata {
    const file = join(this.root, '.git/agt/sessions', `${id}.json`);
    return parseJson(readFileSync(file, 'latin1'));
  }
}

interface Metadata {
  readonly state: string;
  readonly from?: string | null;
  readonly from_commit: string;
  readonly synced?: readonly { readonly tip: string }[];
}

function makeRepository(random: Random): string {
  const parent = makeDirectory('landing');
  makeOrigin(join(parent, 'origin'));
  const root = join(parent, 'project');
  mkdirSync(root);
  const git = (...args: string[]) => run(REAL_GIT, args, root, '', INSIDE);
  git('init', '-q', '-b', 'main');
  const tree = new Worktree(random, root, () => undefined);
  tree.put('.gitignore', '*.log\nbuild/\n.env\n');
  if (random.chance(0.5)) tree.put('.gitattributes', '*.crlf text eol=crlf\n*.union merge=union\n');
  for (const path of [
    'a',
    'b.txt',
    'src/main.c',
    'src/util.c',
    'lib/one',
    'windows.crlf',
    'caf\xe9',
    'lines.union',
  ])
    tree.put(path, `${path}\none\ntwo\nthree\nfour\nfive\nsix\n`);
  git('add', '-A');
  git('commit', '-q', '-m', 'one');
  git('branch', 'side');
  if (random.chance(0.4)) {
    git('submodule', '-q', 'add', '--name', 'sub', join(parent, 'origin'), 'sub');
    git('commit', '-q', '-m', 'sub');
  }
  return root;
}
