/**
 * Undo step by step in a checkout, as a property: an agent and a person edit, delete and commit the same files. An undo
 * leaves each file as the last commit has it, if no change of the agent is in it, and moves no commit of the person. The dry
 * run names the same files, and the way back that agt prints leads back.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, git, makeRepository, REAL_GIT, run, write } from '../../harness/world.ts';
import { agentIn } from '../../integrations/agent.ts';
import { Random } from '../random.ts';
import { seedsOfLives } from '../seeds.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 30);
const FILES = ['a', 'b', 'c', 'd/x', 'd/new'];

test.each(seedsOfLives(9000))('life %i of undone steps', { timeout: 600_000 }, (seed) => {
  const life = new Life(seed);
  for (let step = 0; step < STEPS; step++) life.step();
});

class Life {
  private readonly random: Random;
  private readonly folder: string;
  private readonly agent: ReturnType<typeof agentIn>;
  /** Those that hold a change of the agent, and all versions of a file without one. */
  private readonly ofAgent = new Set<string>();
  private readonly own: ReadonlyMap<string, Set<string | undefined>>;
  private readonly story: string[];
  private edits = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.story = [`life ${seed}`];
    this.folder = makeRepository(Object.fromEntries(FILES.slice(0, -1).map((file) => [file, `${file}\n`])));
    this.own = new Map(FILES.map((file) => [file, new Set([this.read(file)])]));
    this.agent = agentIn(this.folder, 'claude-code', 'c-1');
    this.agent.says('first');
  }

  step(): void {
    const choice = this.random.below(12);
    if (choice < 4) this.call();
    else if (choice < 6) this.edit('person');
    else if (choice < 8) this.commit('person', this.random.chance(0.5));
    else this.goBack(this.random.pick([['undo'], ['undo'], ['undo', '2'], ['undo', '--turn'], ['redo']]));
  }

  private read(file: string): string | undefined {
    const path = join(this.folder, file);
    return existsSync(path) ? readFileSync(path, 'latin1') : undefined;
  }

  private committed(file: string): string | undefined {
    const { exitCode, stdout } = run(REAL_GIT, ['show', `HEAD:${file}`], { cwd: this.folder });
    return exitCode === 0 ? stdout : undefined;
  }

  private call(): void {
    const { agent, random } = this;
    if (random.chance(0.3)) {
      agent.stops();
      agent.says('next');
      this.story.push('next prompt');
    }
    const id = `${++this.edits}`;
    agent.begins(id);
    for (let i = 1 + random.below(2); i > 0; i--) this.edit('agent');
    if (random.chance(0.15)) this.commit('agent', false);
    agent.ends(id);
  }

  private edit(by: 'agent' | 'person'): void {
    const file = this.random.pick(FILES);
    const isDeleted = this.random.chance(0.1);
    if (isDeleted) rmSync(join(this.folder, file), { force: true });
    else write(join(this.folder, file), `${this.read(file) ?? ''}${by} ${++this.edits}\n`);
    this.story.push(`${by} ${isDeleted ? 'deletes' : 'edits'} ${file}`);
    if (by === 'agent') this.ofAgent.add(file);
    else if (!this.ofAgent.has(file)) this.own.get(file)?.add(this.read(file));
  }

  private commit(by: string, isOwnAlone: boolean): void {
    const isChanged = (file: string) => this.read(file) !== this.committed(file);
    const own = FILES.filter((file) => isChanged(file) && !this.ofAgent.has(file));
    if (isOwnAlone && own.length === 0) return;
    git(this.folder, 'add', '-A', '--', ...(isOwnAlone ? own : ['.']));
    git(this.folder, 'commit', '-q', '--allow-empty', '-m', by, ...(isOwnAlone ? ['--', ...own] : []));
    this.story.push(`${by} commits ${isOwnAlone ? own : 'all'}`);
  }

  private goBack(words: readonly string[]): void {
    const before = new Map(FILES.map((file) => [file, this.read(file)]));
    const staying = FILES.filter(
      (file) => !this.ofAgent.has(file) && before.get(file) === this.committed(file),
    );
    const head = git(this.folder, 'rev-parse', 'HEAD');
    const planned = agt(this.folder, ...words, '-n').stdout;
    const { exitCode, stdout, stderr } = agt(this.folder, ...words);
    this.story.push(`agt ${words.join(' ')}: ${exitCode}\n${stdout}${stderr}`);
    const told = this.story.join('\n');
    expect(exitCode, told).toBeLessThan(2);
    const changed = FILES.filter((file) => this.read(file) !== before.get(file));
    const lines = [...planned.matchAll(/^[AMD] (.*)$/gm)].map(([, path]) => path);
    expect(lines.filter((path = '') => FILES.includes(path)).sort(), told).toEqual(changed.sort());
    const [, back] = /^to take this back: agt (.*)$/m.exec(stdout) ?? [];
    if (back !== undefined && this.random.chance(0.3)) {
      const { stdout: done } = agt(this.folder, ...back.split(' '));
      this.story.push(`agt ${back}: ${done}`);
      const now = FILES.map((file) => [file, this.read(file)]);
      expect(now, this.story.join('\n')).toEqual([...before]);
      return;
    }
    // Otherwise it took back a commit of the agent.
    const isThere = git(this.folder, 'rev-parse', 'HEAD') === head;
    if (!isThere) expect(git(this.folder, 'log', '-1', '--format=%s', head), told).toBe('agent');
    else if (words[0] === 'undo')
      for (const file of staying) expect([file, this.read(file)], told).toEqual([file, before.get(file)]);
    for (const file of FILES) {
      if (this.read(file) === before.get(file)) continue;
      if (this.own.get(file)?.has(this.read(file))) this.ofAgent.delete(file);
      else this.ofAgent.add(file);
    }
  }
}
