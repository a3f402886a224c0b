/** Two agents and a person in one sandbox: their turns and calls, one after the other and at the same time. */
import { agtOk, git } from '../../harness/world.ts';
import { agentIn } from '../../integrations/agent.ts';
import { type Author, type Files, PERSON, type Pen, type Place, textOf } from './pen.ts';

interface Agent {
  readonly name: string;
  readonly does: ReturnType<typeof agentIn>;
  turn: number;
}

export class Crew {
  turns = 0;
  /** As of the last commit in the sandbox. */
  committed: Files;
  readonly place: Place;
  readonly calls: string[] = [];
  readonly id: string;
  readonly pen: Pen;
  private readonly agents: readonly [Agent, Agent];

  constructor(pen: Pen, id: string, place: Place) {
    this.pen = pen;
    this.id = id;
    this.place = place;
    this.committed = new Map(place.files);
    const agent = (tool: string, name: string): Agent => ({
      ...{ name, does: agentIn(place.folder, tool, `${id}-${name}`), turn: 0 },
    });
    this.agents = [agent('claude-code', 'claude'), agent('codex', 'codex')];
  }

  act(): void {
    const { pen, place, agents } = this;
    const { random } = pen;
    const agent = random.pick(agents);
    const choice = random.below(20);
    if (agent.turn === 0 || choice < 4) this.says(agent);
    else if (choice < 12) this.call(agent, (author) => this.work(author));
    else if (choice === 12) this.twoCalls(agent);
    else if (choice < 15) this.bothAtWork(agent, agents[agent === agents[0] ? 1 : 0]);
    else if (random.chance(0.6)) pen.edit(place, PERSON);
    else if (random.chance(0.2)) this.stashAndPop();
    else {
      // As a step of its own: git sees a rename best by itself.
      agtOk(place.folder, 'autocommit', '--quiet');
      pen.act(place, PERSON);
      agtOk(place.folder, 'autocommit', '--quiet');
    }
  }

  /** A person; all is as in a snapshot again. Without one before, nobody can know the lines of the stash. */
  private stashAndPop(): void {
    const { folder } = this.place;
    if (git(folder, 'status', '--porcelain') === '') return;
    agtOk(folder, 'autocommit', '--quiet');
    for (const words of [
      ['-q', '-u'],
      ['pop', '-q'],
    ]) {
      git(folder, 'stash', ...words);
      agtOk(folder, 'autocommit', '--quiet');
    }
  }

  private says(agent: Agent): void {
    this.turns += 1;
    agent.turn = this.turns;
    agent.does.says(`prompt ${this.turns}`);
  }

  /** In a call of its own. */
  byAgent(work: (author: Author) => void): void {
    const agent = this.pen.random.pick(this.agents);
    if (agent.turn === 0) this.says(agent);
    this.call(agent, work);
  }

  private begin(agent: Agent): string {
    const call = `${this.id}-${this.pen.random.below(1e6)}`;
    agent.does.begins(call);
    return call;
  }

  private author({ name, turn }: Agent, call?: string): Author {
    return { by: `${this.id} ${name} ${turn}`, call };
  }

  private call(agent: Agent, work: (author: Author) => void): void {
    const call = this.begin(agent);
    const before = this.content();
    work(this.author(agent, call));
    agent.does.ends(call);
    // A call that has changed nothing has no snapshot, so nobody can accept it.
    if (this.content() !== before) this.calls.push(call);
  }

  private content(): string {
    return [...this.place.files].map(([name, lines]) => `${name}\0${textOf(lines)}`).join('');
  }

  private work(author: Author): void {
    const { pen, place } = this;
    pen.act(place, author);
    if (pen.random.chance(0.3)) pen.edit(place, author);
    if (pen.random.chance(0.15)) this.commit();
  }

  commit(): void {
    git(this.place.folder, 'add', '-A');
    git(this.place.folder, 'commit', '-q', '--allow-empty', '-m', 'in the sandbox');
    this.committed = new Map(this.place.files);
  }

  /** Of one agent: the turn is known, and of the second one also the call. */
  private twoCalls(agent: Agent): void {
    const { pen, place } = this;
    const [first, second] = [this.begin(agent), this.begin(agent)];
    pen.act(place, this.author(agent));
    agent.does.ends(first);
    if (pen.random.chance(0.5)) pen.edit(place, this.author(agent, second));
    agent.does.ends(second);
  }

  /** Each has a time for itself; in the time of both nobody can know who writes. */
  private bothAtWork(one: Agent, other: Agent): void {
    const { pen, place } = this;
    if (other.turn === 0) this.says(other);
    const first = this.begin(one);
    pen.edit(place, this.author(one));
    const second = this.begin(other);
    if (pen.random.chance(0.08)) pen.edit(place, { by: 'unknown' });
    one.does.ends(first);
    pen.edit(place, this.author(other, second));
    other.does.ends(second);
  }
}
