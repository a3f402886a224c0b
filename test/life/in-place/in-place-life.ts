/** The state of a life in place: a user's checkout, and the session that works in it now. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCheckout, untracked } from '../checkout-facts.ts';
import type { Facts } from '../facts.ts';
import { AGT, GIT_MODE, makeDirectory, type Outcome, ok, parseJson, REAL_GIT, run } from '../programs.ts';
import { Random } from '../random.ts';
import { INSIDE, Worktree } from '../worktree.ts';
import { makeOrigin } from '../worktree-git.ts';

/** A session in the checkout, and what the user had before it. */
export interface Stay {
  readonly id: string;
  readonly start: Facts;
  /** Paths of files that git ignored at the start. */
  readonly ignored: ReadonlySet<string>;
  /** Those of them below a path that had another type: they came out of the way of what is committed there. */
  readonly setAside: ReadonlySet<string>;
  /** The commit of main at the start. */
  readonly base: string;
  /** Paths of the user's that git does not look at, and that the agent has changed. */
  readonly touched: Set<string>;
  /** After accept --keep: the commit on main, and the work that it took. */
  landed?: { readonly commit: string; readonly source: string };
}

export class InPlaceLife {
  readonly seed: number;
  readonly random: Random;
  readonly root: string;
  readonly user: Worktree;
  readonly agent: Worktree;
  readonly counts = {
    steps: 0,
    sessions: 0,
    refused: 0,
    removed: 0,
    accepted: 0,
    kept: 0,
    unaccepted: 0,
    apart: 0,
  };
  stay: Stay | undefined;
  private agentProgram = REAL_GIT;
  private readonly log: string[] = [];

  constructor(seed: number) {
    this.seed = seed;
    this.random = new Random(seed);
    this.root = makeCheckout(this.random);
    const note = (line: string) => this.note(line);
    this.user = new Worktree(this.random, this.root, note);
    this.agent = new Worktree(this.random, this.root, note, () => this.agentProgram);
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

  look(): Facts {
    return readCheckout(this.root);
  }

  untracked() {
    return untracked(this.root);
  }

  /** From its metadata: a start of agt takes long. */
  stateOf(id: string): string {
    const file = join(this.root, '.git/agt/sessions', `${id}.json`);
    return parseJson<{ state: string }>(readFileSync(file, 'latin1')).state;
  }
}

function makeCheckout(random: Random): string {
  const parent = makeDirectory('life');
  makeOrigin(join(parent, 'origin'));
  const root = join(parent, 'project');
  mkdirSync(root);
  const git = (...args: string[]) => run(REAL_GIT, args, root, '', INSIDE);
  git('init', '-q', '-b', 'main');
  if (random.chance(0.1)) {
    git('commit', '-q', '--allow-empty', '-m', 'no file');
    return root;
  }
  const tree = new Worktree(random, root, () => undefined);
  tree.put('.gitignore', '*.log\nbuild/\n.env\n*.key\ncache/\n');
  if (random.chance(0.4)) tree.put('.gitattributes', '*.crlf text eol=crlf\n');
  for (const path of ['a', 'b.txt', 'src/main.c', 'src/util.c', 'lib/one', 'windows.crlf', 'caf\xe9'])
    tree.put(path, `${path}\none\ntwo\nthree\nfour\n`);
  tree.put('tool.sh', '#!/bin/sh\n');
  git('add', '-A');
  git('update-index', '--chmod=+x', 'tool.sh');
  git('commit', '-q', '-m', 'one');
  git('checkout', '-q', '.');
  git('branch', 'side');
  if (random.chance(0.6)) {
    git('submodule', '-q', 'add', '--name', 'sub', join(parent, 'origin'), 'sub');
    git('commit', '-q', '-m', 'sub');
  }
  tree.put('a', 'a\none\nTWO\nthree\nfour\n');
  git('commit', '-q', '-a', '-m', 'two');
  if (random.chance(0.25)) git('config', 'core.fileMode', 'false');
  for (const path of ['a.log', '.env', 'build/out.o', 'build/deep/x'])
    tree.put(path, `${path} of the user\n`);
  return root;
}
