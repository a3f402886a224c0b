/** pi over its RPC protocol, with the extension of agt, in a network of its own. The test answers pi's questions. */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { AGT, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { agentProblem, MODEL } from './agent.ts';
import { type Step, script } from './model.ts';

const root = join(import.meta.dirname, '../..');
const EXTENSION = join(root, 'extensions/pi/agt.ts');
export const PROGRAM = 'pi-coding-agent/node_modules/.bin/pi';
const TIMEOUT_MS = 60_000;

/** Why pi cannot run here; undefined if it can. */
export const piProblem = agentProblem({ program: PROGRAM } as Parameters<typeof agentProblem>[0]);

// biome-ignore lint/suspicious/noExplicitAny: the protocol of another program
type Message = any;

/** A command that only the interactive pi has. */
const TREE = `export default (pi) => pi.registerCommand('test-tree', { description: '', handler: async (id, context) => {
  const { cancelled } = await context.navigateTree(id, { summarize: false });
  context.ui.notify('tree ' + (cancelled ? 'cancelled' : 'done'), 'info');
} });`;

/** The stand-in as a provider of models. */
export function writeModels(home: string): void {
  const models = [{ id: 'stub' }];
  const stub = { baseUrl: `${MODEL}/v1`, api: 'openai-completions', apiKey: 'none', models };
  write(join(home, '.pi/agent/models.json'), JSON.stringify({ providers: { stub } }));
}

export class Pi {
  readonly home: string;
  /** Questions with the answers that the test gave, and what pi told. */
  readonly questions: string[] = [];
  readonly notes: string[] = [];
  /** The beginning of the option to choose. */
  answer = 'Restore';
  private readonly cwd: string;
  private readonly child: ChildProcess;
  private readonly waiting: {
    readonly wants: (message: Message) => boolean;
    readonly take: (message: Message) => void;
  }[] = [];
  private lastId = 0;

  /** `agt`: the directory on PATH that has agt. */
  constructor(cwd: string, { home = makeTempDir('home'), agt = dirname(AGT) } = {}) {
    this.home = home;
    this.cwd = cwd;
    const settings = join(home, '.pi/agent');
    mkdirSync(join(settings, 'extensions'), { recursive: true });
    if (agt === dirname(AGT)) run(AGT, ['hooks', 'install', 'pi'], { cwd: home, env: { HOME: home } });
    else copyFileSync(EXTENSION, join(settings, 'extensions/agt.ts'));
    write(join(settings, 'extensions/tree.js'), TREE);
    writeModels(home);
    const nodeBin = join(root, 'node_modules/.bin');
    const path = [agt, nodeBin, dirname(REAL_GIT), process.env['PATH']].join(delimiter);
    const model = [
      join(nodeBin, 'node'),
      join(import.meta.dirname, 'in-network.ts'),
      '8765',
      join(makeTempDir(), 'log'),
    ];
    const pi = [
      join(root, 'node_modules/.agents', PROGRAM),
      '--mode',
      'rpc',
      '--provider',
      'stub',
      '--model',
      'stub',
    ];
    this.child = spawn(
      'unshare',
      ['-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...model, ...pi],
      {
        cwd,
        env: { HOME: home, PATH: path, PI_OFFLINE: '1', LANG: 'C.UTF-8', TERM: 'dumb' },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) =>
      this.hear(JSON.parse(line)),
    );
  }

  /** Lets the agent work; resolves when it has settled. */
  async prompt(text: string, ...steps: Step[]): Promise<void> {
    const settled = this.next(({ type }) => type === 'agent_settled');
    await this.ask({ type: 'prompt', message: `${text} ${script([...steps, { text: 'done' }])}` });
    await settled;
  }

  /** Runs a command of an extension; returns what it tells. */
  async command(line: string, wants = /./): Promise<string> {
    const told = this.next(({ method, message }) => method === 'notify' && wants.test(message));
    await this.ask({ type: 'prompt', message: line });
    return (await told).message;
  }

  /** Forks before the prompt that begins so. */
  async fork(text: string): Promise<boolean> {
    const { messages } = (await this.ask({ type: 'get_fork_messages' })).data;
    const { entryId } = messages.find((message: Message) => message.text.startsWith(text));
    return !(await this.ask({ type: 'fork', entryId })).data.cancelled;
  }

  async entries(): Promise<Message[]> {
    return (await this.ask({ type: 'get_entries' })).data.entries;
  }

  agt(...args: string[]): string {
    const outcome = run(AGT, args, { cwd: this.cwd, env: { HOME: this.home } });
    if (outcome.exitCode !== 0) throw new Error(`agt ${args.join(' ')}: ${outcome.stderr}`);
    return outcome.stdout;
  }

  read(path: string): string {
    return readFileSync(join(this.cwd, path), 'utf8');
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.child.on('close', resolve));
    this.child.stdin?.end();
    await closed;
  }

  private async ask(command: Message): Promise<Message> {
    const id = `${++this.lastId}`;
    const answered = this.next((message) => message.type === 'response' && message.id === id);
    this.send({ id, ...command });
    const response = await answered;
    if (response.success !== true) throw new Error(JSON.stringify(response));
    return response;
  }

  private send(message: Message): void {
    this.child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  private next(wants: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`pi has not answered: ${wants}`)), TIMEOUT_MS);
      this.waiting.push({
        wants,
        take: (message) => {
          clearTimeout(late);
          resolve(message);
        },
      });
    });
  }

  private hear(message: Message): void {
    if (message.method === 'select') {
      this.questions.push(message.title);
      const value = message.options.find((option: string) => option.startsWith(this.answer));
      this.send({
        type: 'extension_ui_response',
        id: message.id,
        ...(value === undefined ? { cancelled: true } : { value }),
      });
    }
    if (message.method === 'notify') this.notes.push(message.message);
    for (const one of this.waiting.filter(({ wants }) => wants(message))) {
      this.waiting.splice(this.waiting.indexOf(one), 1);
      one.take(message);
    }
  }
}
