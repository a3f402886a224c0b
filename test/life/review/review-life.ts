/**
 * A life of agt review: an agent edits, moves and deletes files whose lines are all different, a person on the branch does
 * so, and a reviewer marks, rejects and accepts. The life keeps what was seen as sets of lines, which shares no code with
 * src, and no git.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sessionInRepository } from '../../../src/agtmode/command-line/command.ts';
import { openContext } from '../../../src/agtmode/context.ts';
import { displayPath } from '../../../src/disk/path-bytes.ts';
import { listHunks } from '../../../src/review/review.ts';
import { newSession, type TestSession } from '../../harness/session.ts';
import { agt, agtOk, git, type Outcome, REAL_GIT, run } from '../../harness/world.ts';
import { Random } from '../random.ts';

const KILLABLE = join(import.meta.dirname, '../../../dist/failure-points/main.cjs');
const MARKING = ['review: written#1', 'review: marked#1'];
const RESTORING = ['restore: captured before#1', 'checkout: file written#1', 'restore: compared#1'];
/** Where each command may be killed, by what it does. */
const POINTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /--seen .*-m/,
    ['branch locked', 'branch moved', 'recorded', 'source kept'].map((name) => `landing: ${name}#1`),
  ],
  [/--now|--settle/, [...MARKING, 'review: marked#2', ...RESTORING]],
  [/review/, MARKING],
  [/sync/, ['sync: git has ended#1']],
];

const NAMES = ['a', 'b', 'sub dir', 'ü'];

type Files = Map<string, readonly string[]>;

export interface Hunk {
  readonly id: string;
  readonly path: string;
  readonly state: 'new' | 'seen' | 'rejected';
  readonly lines: readonly string[];
}

/** `+a one`: the file has a line that was not seen; `-a one`: it has lost one. */
type Fact = string;

export const factsOf = ({ path, lines }: Pick<Hunk, 'path' | 'lines'>): Fact[] =>
  lines.filter((line) => /^[+-]/.test(line)).map((line) => `${line[0]}${path} ${line.slice(1)}`);

export class ReviewLife {
  readonly random: Random;
  readonly session: TestSession;
  readonly counts = { steps: 0, marked: 0, rejected: 0, landed: 0, synced: 0, kills: 0, again: 0 };
  /** As a person has seen them, and as the branch has them where the session left it. */
  seen: Files;
  base: Files;
  /** Rejected, and still there. */
  rejected = new Set<Fact>();
  private readonly told: string[] = [];
  private last = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    const start = NAMES.slice(0, 3).map((name) => [name, this.fresh('base', 25)] as const);
    this.base = new Map(start);
    this.seen = new Map(start);
    this.session = newSession(
      Object.fromEntries(start.map(([name, lines]) => [name, lines.map((line) => `${line}\n`).join('')])),
    );
  }

  tell(what: string): void {
    this.told.push(what);
  }

  story(): string {
    return this.told.join('\n');
  }

  private fresh(by: string, most: number): string[] {
    return Array.from({ length: 1 + this.random.below(most) }, () => `${by} ${this.next()}`);
  }

  private next(): number {
    this.last += 1;
    return this.last;
  }

  read(folder: string): Files {
    const names = readdirSync(folder).filter((name) => name !== '.git');
    return new Map(
      names.map((name) => [name, readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1)]),
    );
  }

  /** Adds, replaces or deletes lines, or moves or deletes a file. */
  edit(folder: string, by: string): void {
    const { random } = this;
    const files = this.read(folder);
    const name = random.pick(NAMES);
    const lines = files.get(name);
    const act = random.below(12);
    this.tell(`${by} ${act} ${name}`);
    const free = NAMES.find((other) => !files.has(other));
    if (lines !== undefined && act < 2) {
      rmSync(join(folder, name));
      // In another file each line is another one.
      const moved = lines.map((line) => `${line} moved ${this.next()}\n`);
      if (act === 1 && free !== undefined) writeFileSync(join(folder, free), moved.join(''));
      return;
    }
    const old = lines ?? [];
    const at = random.below(old.length + 1);
    const count = act < 5 ? 0 : Math.min(old.length - at, 1 + random.below(3));
    const put = act < 9 ? this.fresh(by, 3) : [];
    const text = old.toSpliced(at, count, ...put).map((line) => `${line}\n`);
    writeFileSync(join(folder, name), text.join(''));
  }

  /** Kills agt now and then, mends that, and says whether it was killed. */
  act(...words: string[]): Outcome {
    const { repository, sandbox } = this.session;
    this.tell(`agt ${words.join(' ')}`);
    if (!this.random.chance(0.25)) return agt(repository, ...words);
    const [, points = []] = POINTS.find(([pattern]) => pattern.test(words.join(' '))) ?? [];
    const point = this.random.pick(points);
    const env = { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT };
    const outcome = run(process.execPath, [KILLABLE, '-C', sandbox, ...words], { cwd: repository, env });
    if (outcome.exitCode !== null) return outcome;
    this.counts.kills += 1;
    this.tell(`killed at ${point}`);
    agtOk(repository, 'doctor', '--fix');
    return outcome;
  }

  /** In this process, which takes a third of the time. */
  async list(): Promise<Hunk[]> {
    const context = openContext(this.session.sandbox, process.env);
    const session = await sessionInRepository(context, {});
    const hunks = await listHunks(session, { now: new Date(), withSeen: true });
    return hunks.map((hunk) => ({
      ...hunk,
      path: displayPath(hunk.path),
      lines: hunk.lines.map(displayPath),
    }));
  }

  /** What is not seen, by sets. */
  open(): Set<Fact> {
    const now = this.read(this.session.sandbox);
    const names = new Set([...now.keys(), ...this.seen.keys()]);
    const facts = [...names].flatMap((name) => {
      const [here, known] = [now.get(name) ?? [], this.seen.get(name) ?? []];
      return [
        ...here.filter((line) => !known.includes(line)).map((line) => `+${name} ${line}`),
        ...known.filter((line) => !here.includes(line)).map((line) => `-${name} ${line}`),
      ];
    });
    return new Set(facts);
  }

  /** Every changed line is shown exactly once, and as what it is. */
  async check(): Promise<Hunk[]> {
    const hunks = await this.list();
    const shown = hunks.filter(({ state }) => state !== 'seen').flatMap(factsOf);
    expect(shown.toSorted(), this.story()).toEqual([...this.open()].toSorted());
    const rejected = hunks.filter(({ state }) => state === 'rejected').flatMap(factsOf);
    for (const fact of rejected) expect(this.rejected, this.story()).toContain(fact);
    this.rejected = new Set(rejected);
    return hunks;
  }

  /** Takes hunks into what was seen. */
  see(hunks: readonly Hunk[]): void {
    for (const hunk of hunks) {
      const facts = factsOf(hunk);
      const gone = new Set(
        facts.filter((fact) => fact[0] === '-').map((fact) => fact.slice(hunk.path.length + 2)),
      );
      const came = facts.filter((fact) => fact[0] === '+').map((fact) => fact.slice(hunk.path.length + 2));
      const lines = [...(this.seen.get(hunk.path) ?? []).filter((line) => !gone.has(line)), ...came];
      const isGone = lines.length === 0 && !existsSync(join(this.session.sandbox, hunk.path));
      if (isGone) this.seen.delete(hunk.path);
      else this.seen.set(hunk.path, lines);
    }
  }

  /** What was seen, from what is shown as not seen. */
  takeAsShown(shown: ReadonlySet<Fact>): void {
    const now = this.read(this.session.sandbox);
    for (const name of new Set([...now.keys(), ...this.seen.keys()])) {
      const gone = [...shown].filter((fact) => fact.startsWith(`-${name} `));
      const here = (now.get(name) ?? []).filter((line) => !shown.has(`+${name} ${line}`));
      this.seen.set(name, [...here, ...gone.map((fact) => fact.slice(name.length + 2))]);
    }
  }

  main(): Files {
    const { repository } = this.session;
    expect(git(repository, 'status', '--porcelain'), this.story()).toBe('');
    return this.read(repository);
  }
}

/** Sets of lines; a file without lines is like none. */
export function asSets(files: Files): Record<string, string[]> {
  return Object.fromEntries(
    [...files].filter(([, lines]) => lines.length > 0).map(([name, lines]) => [name, lines.toSorted()]),
  );
}

/** What one side changed, on top of another one. */
export function withChanges(files: Files, from: Files, to: Files): Files {
  const names = new Set([...files.keys(), ...from.keys(), ...to.keys()]);
  return new Map(
    [...names].map((name) => {
      const [here, before, after] = [files.get(name) ?? [], from.get(name) ?? [], to.get(name) ?? []];
      const kept = here.filter((line) => after.includes(line) || !before.includes(line));
      return [name, [...kept, ...after.filter((line) => !before.includes(line) && !here.includes(line))]];
    }),
  );
}
