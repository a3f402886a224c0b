/**
 * The undo of one thing, as a property: two agents and a person edit files that they share and files of their own. What
 * agt undo leaves is, byte for byte, the sum of all other edits; a conflict is one, and changes nothing; undo and redo
 * bring each state back. Of the edits in lines that nobody else has changed since, 95 % go without a conflict.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeSession } from '../../harness/session.ts';
import { agt, agtOk, git } from '../../harness/world.ts';
import { agentIn } from '../../integrations/agent.ts';
import { Random } from '../random.ts';
import { seedsOfLives } from '../seeds.ts';
import { Documents, type Edit } from './document.ts';
import { turnNumber } from './turn-number.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 40);
const LINES = 200;
const SHARED = ['shared-1', 'shared-2', 'shared-3'];
const OWN: Readonly<Record<string, string>> = { claude: 'of-claude', codex: 'of-codex', person: 'of-person' };

const sums = { steps: 0, undone: 0, nothing: 0, conflicts: 0, inOtherLines: 0, conflictsInOtherLines: 0 };

test.each(seedsOfLives(7000))('life %i of undos of one thing', { timeout: 600_000 }, (seed) => {
  const life = new Life(seed);
  while (life.steps < STEPS) life.step();
  sums.steps += life.steps;
});

class Life {
  steps = 0;
  private turns = 0;
  private readonly random: Random;
  private readonly documents: Documents;
  private readonly folder: string;
  private readonly agents;

  constructor(seed: number) {
    const names = [...SHARED, ...Object.values(OWN)];
    const start = new Documents(new Random(1), names, LINES);
    const { sandbox } = makeSession(Object.fromEntries(names.map((name) => [name, start.text(name)])));
    this.folder = sandbox;
    this.random = new Random(seed);
    this.documents = new Documents(new Random(1), names, LINES);
    this.documents.random = this.random;
    this.agents = (['claude-code', 'codex'] as const).map((tool, i) => ({
      ...{ name: tool === 'codex' ? tool : 'claude', does: agentIn(sandbox, tool, `c-${i}`), turn: 0 },
    }));
  }

  step(): void {
    const { random, agents } = this;
    const agent = random.pick(agents);
    const choice = random.below(10);
    if (agent.turn === 0 || choice === 0) {
      this.turns += 1;
      agent.turn = this.turns;
      agent.does.says(`prompt ${this.turns}`);
    } else if (choice < 5) {
      const call = `${random.below(1e9)}`;
      agent.does.begins(call);
      this.edit(`${agent.name} ${agent.turn}`, call);
      agent.does.ends(call);
    } else if (choice < 8) this.edit('person', undefined);
    else this.undo();
  }

  private edit(by: string, call: string | undefined): void {
    const { random, documents } = this;
    for (let i = 1 + random.below(3); i > 0; i--) {
      const own = OWN[by.split(' ')[0] ?? ''] ?? '';
      const file = random.chance(0.1) ? `${own}-new` : random.chance(0.3) ? own : random.pick(SHARED);
      documents.change(file, by, call);
      writeFileSync(join(this.folder, file), documents.text(file));
      this.steps += 1;
    }
  }

  private expectFiles(when: string): void {
    for (const file of this.documents.files) {
      const path = join(this.folder, file);
      const now = existsSync(path) ? readFileSync(path, 'utf8') : '';
      expect(now, `${when}: ${file}`).toBe(this.documents.text(file));
    }
  }

  /** The words of the command, and the edits that are to go. Undefined: of those, some are gone already. */
  private choose(): { readonly words: readonly string[]; readonly edits: readonly Edit[] } | undefined {
    const { random, documents } = this;
    const ofAgents = documents.edits.filter(({ call }) => call !== undefined);
    if (ofAgents.length === 0) return undefined;
    const { by, call, file } = random.pick(ofAgents);
    const [agent = '', turn = ''] = by.split(' ');
    const choice = random.below(10);
    const isPart = random.chance(0.3);
    const isIn = (edit: Edit) => !isPart || edit.file === file;
    const path = isPart ? [random.pick(['--', '--path']), file] : [];
    const edits = ofAgents.filter(
      (edit) =>
        isIn(edit) &&
        (choice < 6 ? edit.by === by : choice < 9 ? edit.call === call : edit.by.startsWith(agent)),
    );
    if (edits.some(({ undoneAt }) => undoneAt !== undefined)) return undefined;
    const what =
      choice < 6
        ? ['--turn', turnNumber(this.folder, turn) ?? `no number of ${turn}`]
        : choice < 9
          ? ['--step', this.stepOf(call)]
          : ['--agent', agent];
    return { words: [...what, ...path], edits };
  }

  private stepOf(call: string | undefined): string {
    const log = JSON.parse(agtOk(this.folder, 'session', 'log', '--json')) as {
      name: string;
      call_id: string;
      before: unknown;
    }[];
    return (
      log.find(({ call_id, before }) => call_id === call && before === null)?.name ?? `no step of ${call}`
    );
  }

  private undo(): void {
    const { documents, folder, random } = this;
    const chosen = this.choose();
    if (chosen === undefined) return;
    const { words, edits } = chosen;
    const when = words.join(' ');
    const { same, beside } = documents.touched(edits);
    const isNew = edits.some(({ file }) => file.endsWith('-new'));
    const before = git(folder, 'ls-files', '--stage') + git(folder, 'rev-parse', 'HEAD');
    const outcome = agt(folder, 'undo', ...words);
    this.steps += 1;
    sums.inOtherLines += edits.length - same;
    if (outcome.exitCode !== 0) {
      expect(outcome.stderr, when).toContain('same lines');
      expect([when, same + beside > 0 || isNew]).toEqual([when, true]);
      sums.conflicts += 1;
      sums.conflictsInOtherLines += beside;
      this.expectFiles(`${when}, refused`);
    } else {
      const wasThere = documents.files.map((file) => documents.text(file));
      documents.undo(edits);
      this.expectFiles(when);
      const isAsBefore = documents.files.every((file, i) => documents.text(file) === wasThere[i]);
      if (isAsBefore) sums.nothing += 1;
      else this.backAndForth(edits, when);
      if (isAsBefore || random.chance(0.6)) this.takeBack(edits, when, isAsBefore);
    }
    expect(git(folder, 'ls-files', '--stage') + git(folder, 'rev-parse', 'HEAD'), when).toBe(before);
  }

  private backAndForth(edits: readonly Edit[], when: string): void {
    sums.undone += 1;
    this.takeBack(edits, when, false);
    agtOk(this.folder, 'redo');
    this.steps += 1;
    this.documents.undo(edits);
    this.expectFiles(`${when}, redone`);
  }

  private takeBack(edits: readonly Edit[], when: string, isNothing: boolean): void {
    this.documents.redo(edits);
    if (isNothing) return;
    agtOk(this.folder, 'undo');
    this.steps += 1;
    this.expectFiles(`${when}, taken back`);
  }
}

afterAll(() => {
  console.log(`undos of one thing: ${JSON.stringify(sums)}`);
  const log = process.env['AGT_TEST_LIVES_LOG'];
  if (log !== undefined) appendFileSync(log, `undos ${JSON.stringify(sums)}\n`);
  // A few lives are no measure.
  expect(sums.conflictsInOtherLines / Math.max(200, sums.inOtherLines)).toBeLessThanOrEqual(0.05);
});
