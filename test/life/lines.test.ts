/**
 * A life of lines: two agents and a person write in a session, and a person on the branch. Each line is unique, and the life
 * notes who wrote it last. After every way home, agt blame has to say the same; and the undo of one turn has to leave every
 * line of others as it is.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { Random } from './random.ts';
import { seedsOfLives } from './seeds.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 14);

/** `claude 2`: agent and turn; `person`: anybody who is no agent. */
interface Line {
  readonly text: string;
  readonly by: string;
}
type Files = Map<string, readonly Line[]>;

const NAMES = ['a', 'b', 'c'];
const text = (lines: readonly Line[]) => lines.map((line) => `${line.text}\n`).join('');

class Life {
  private count = 0;
  readonly random: Random;

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  fresh(by: string, most: number): Line[] {
    return Array.from({ length: 1 + this.random.below(most) }, () => {
      this.count += 1;
      return { text: `line ${this.count} by ${by.replace(/\d+/g, '')} ${this.random.below(1e6)}`, by };
    });
  }

  /** Adds, changes, indents or deletes a few lines. */
  edit(files: Files, by: string, name = this.random.pick(NAMES)): string {
    const lines = files.get(name) ?? [];
    const at = this.random.below(lines.length + 1);
    const count = Math.min(lines.length - at, 1 + this.random.below(3));
    const act = this.random.below(4);
    const old = lines.slice(at, at + count);
    const indented = old.map((line) => ({ text: `  ${line.text}`, by }));
    const put =
      act === 0 ? this.fresh(by, 4) : act === 1 ? [...this.fresh(by, 2)] : act === 2 ? indented : [];
    files.set(name, lines.toSpliced(at, act === 0 ? 0 : count, ...put));
    return name;
  }
}

function write(folder: string, files: Files, name: string) {
  writeFileSync(join(folder, name), text(files.get(name) ?? []));
}

let [known, unknown] = [0, 0];

/** Every line of agt blame against the life. */
function check(cwd: string, files: Files, when: string) {
  for (const [name, lines] of files) {
    if (lines.length === 0) continue;
    const blamed = JSON.parse(agtOk(cwd, 'blame', '--json', name)) as {
      content: string;
      origin: { by: string; agent: string; turn: number } | null;
    }[];
    const said = blamed.map(({ content, origin }) => {
      const by = origin?.by === 'agent' ? `${origin.agent} ${origin.turn}` : 'person';
      return { text: content, by: origin?.by === 'unknown' ? 'unknown' : by };
    });
    known += said.length;
    unknown += said.filter(({ by }) => by === 'unknown').length;
    const expected = lines.map((line, i) => (said[i]?.by === 'unknown' ? { ...line, by: 'unknown' } : line));
    expect({ when, name, said }).toEqual({ when, name, said: expected });
  }
}

test.each(seedsOfLives(4000))('life %i of lines', { timeout: 600_000 }, (seed) => {
  const life = new Life(seed);
  const { random } = life;
  const start: Files = new Map(NAMES.map((name) => [name, life.fresh('person', 30)]));
  const session = makeSession(Object.fromEntries([...start].map(([name, lines]) => [name, text(lines)])));
  const { repository, sandbox, id } = session;
  let turn = 0;
  const agents = ['claude-code', 'codex'].map((tool, i) => ({
    tool,
    does: agentIn(sandbox, tool, `c-${i}`),
    turn: 0,
  }));
  let files: Files = new Map(start);
  let main: Files = new Map(start);
  const act = () => {
    const choice = random.below(10);
    const agent = random.pick(agents);
    if (choice < 2 || agent.turn === 0) {
      agent.does.says(`prompt ${turn + 1}`);
      turn += 1;
      agent.turn = turn;
    } else if (choice < 7) {
      const call = `${random.below(1e6)}`;
      agent.does.begins(call);
      const by = `${agent.tool === 'codex' ? 'codex' : 'claude'} ${agent.turn}`;
      write(sandbox, files, life.edit(files, by));
      if (random.chance(0.3)) write(sandbox, files, life.edit(files, by));
      agent.does.ends(call);
    } else write(sandbox, files, life.edit(files, 'person'));
  };
  for (let step = 0; step < STEPS; step++) act();
  check(sandbox, files, 'in the sandbox');
  for (let i = 0; i < 2; i++) undoOneThing(sandbox, files, random, turn);
  check(sandbox, files, 'after undos, and their undos');
  if (random.chance(0.5)) {
    git(sandbox, 'add', '-A');
    git(sandbox, 'commit', '-qm', 'of the agent');
    check(sandbox, files, 'committed in the sandbox');
  }
  const partly = random.chance(0.3) ? random.pick(NAMES) : undefined;
  const ways = [['--untracked=all'], ['--untracked=all', '--keep'], ['--keep-commits']];
  const way = partly === undefined ? random.pick(ways) : ['--untracked=all', '--exclude', partly];
  const landed = agt(repository, 'accept', id, ...way);
  if (landed.exitCode !== 0) return expect(landed.stderr).toMatch(/nothing|no commits|uncommitted|--exclude/);
  main = new Map(
    [...files].map(([name, lines]) => [name, name === partly ? (start.get(name) ?? []) : lines]),
  );
  check(repository, main, `accepted ${way.join(' ')}`);
  if (way.includes('--keep')) {
    for (let step = 0; step < STEPS / 2; step++) act();
    write(repository, main, life.edit(main, 'person'));
    git(repository, 'commit', '-q', '--allow-empty', '-am', 'a person on the branch');
    check(repository, main, 'a person on the branch');
    if (agt(repository, 'sync', id).exitCode === 0) {
      files = new Map(NAMES.map((name) => [name, mergedLines(sandbox, name, files, main)]));
      agtOk(repository, 'accept', id, '--untracked=all');
      main = new Map(files);
      check(repository, main, 'accepted again, after a sync');
    } else agtOk(repository, 'reject', id);
  }
  for (let step = 0; step < 3; step++) {
    const choice = random.below(5);
    if (choice === 0) {
      write(repository, main, life.edit(main, 'person'));
      git(repository, 'commit', '-q', '--allow-empty', '-am', 'a person later');
    } else if (choice === 1) git(repository, 'commit', '-q', '--amend', '-m', 'another message');
    else if (choice === 2) git(repository, 'rebase', '-q', '-f', '--root');
    else if (choice === 3) {
      const count = Number(git(repository, 'rev-list', '--count', '--first-parent', 'HEAD'));
      if (count < 2) continue;
      git(repository, 'reset', '-q', '--soft', 'HEAD~1');
      git(repository, 'commit', '-q', '--allow-empty', '-m', 'in one');
    } else agtOk(repository, 'gc');
    check(repository, main, `rewritten, ${choice}`);
  }
  rmSync(join(repository, 'x'), { force: true });
});

const undos = { done: 0, refused: 0 };

/** A turn or all of an agent goes, and comes back: no line of anybody else changes. */
function undoOneThing(cwd: string, files: Files, random: Random, turns: number) {
  const number = 1 + random.below(turns);
  const agent = random.pick(['claude', 'codex']);
  const isTurn = random.chance(0.7);
  const isUndone = (by: string) => (isTurn ? by.endsWith(` ${number}`) : by.startsWith(agent));
  const outcome = agt(cwd, 'undo', ...(isTurn ? ['--turn', `${number}`] : ['--agent', agent]));
  const now = new Map(NAMES.map((name) => [name, readFileSync(join(cwd, name), 'utf8')]));
  const isAsBefore = NAMES.every((name) => now.get(name) === text(files.get(name) ?? []));
  if (outcome.exitCode !== 0) {
    expect([isAsBefore, outcome.stderr]).toEqual([
      true,
      expect.stringMatching(/same lines|no turn is of|changed nothing/),
    ]);
    if (outcome.stderr.includes('same lines')) undos.refused += 1;
    return;
  }
  undos.done += 1;
  for (const [name, lines] of files) {
    const left = (now.get(name) ?? '').split('\n').slice(0, -1);
    const others = lines.filter(({ by }) => !isUndone(by)).map((line) => line.text);
    expect(left.filter((line) => others.includes(line))).toEqual(others);
    const own = lines.filter(({ by }) => isUndone(by)).map((line) => line.text);
    expect(left.filter((line) => own.includes(line))).toEqual([]);
  }
  if (isAsBefore) return;
  agtOk(cwd, 'undo');
  for (const name of NAMES) expect(readFileSync(join(cwd, name), 'utf8')).toBe(text(files.get(name) ?? []));
}

/** A line keeps its author, wherever it came from. */
function mergedLines(folder: string, name: string, ...sides: readonly Files[]): Line[] {
  const by = new Map(
    sides.flatMap((files) => [...files.values()].flat()).map((line) => [line.text, line.by]),
  );
  const lines = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => ({ text: line, by: by.get(line) ?? 'nobody' }));
}

afterAll(() => expect(unknown / Math.max(known, 1)).toBeLessThanOrEqual(0.005));
