/** Runs a real agent against the stand-in for the model, in a network of its own that has a loopback device alone. */
import { type SpawnOptionsWithStdioTuple, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { AGT, makeTempDir, type Outcome, REAL_GIT, run } from '../harness/world.ts';
import type { Recorded } from './model.ts';

const root = join(import.meta.dirname, '../..');
const nodeBin = join(root, 'node_modules/.bin');

/** In a network of its own each run has every port. */
const PORT = 8765;
export const MODEL = `http://127.0.0.1:${PORT}`;

const TIMEOUT_MS = 150_000;

export interface AgentSpec {
  /** As agt calls it. */
  readonly name: string;
  /** The executable, in the directory where scripts/install-agents.ts installs the agent. */
  readonly program: string;
  /** Writes the settings without which the agent does not start. */
  readonly prepare: (home: string) => void;
  readonly env: (home: string) => Record<string, string>;
  readonly args: (prompt: string) => readonly string[];
  /** The file with the hooks, in HOME. */
  readonly settings: string;
  /** Options for `agt hooks install`. */
  readonly install?: readonly string[];
}

export interface AgentRun extends Outcome {
  /** Requests for an answer of the model. */
  readonly asked: readonly Recorded[];
}

/** Why the agent cannot run here; undefined if it can. */
export function agentProblem({ program }: AgentSpec): string | undefined {
  const stamp = agentDirectory(join(program.split('/')[0] ?? '', '.installed'));
  if (!existsSync(stamp)) return 'it is not installed; scripts/test --agents installs it';
  const latest = Number(process.env['AGT_TEST_AGENTS_UNTIL'] ?? 'Infinity');
  if (Date.now() / 1000 > latest)
    return 'the other tests took too long; AGT_TEST_AGENTS_WITHIN sets the limit';
  const isolated = spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up']);
  return isolated.status === 0 ? undefined : 'unshare(1) and ip(8) cannot make a network of its own here';
}

/** Where scripts/install-agents.ts installs a package. */
export function agentDirectory(name: string): string {
  return join(root, 'node_modules/.agents', name);
}

function programPath(program: string): string {
  return agentDirectory(program);
}

/** An agent with a HOME of its own. */
export class TestAgent {
  readonly home = makeTempDir('home');
  readonly spec: AgentSpec;

  constructor(spec: AgentSpec) {
    this.spec = spec;
    spec.prepare(this.home);
  }

  run(cwd: string, prompt: string, ...more: string[]): AgentRun {
    const { program, args } = this.spec;
    return this.start(cwd, [programPath(program), ...more, ...args(prompt)]);
  }

  /** With `agt session run` and the profile of the agent. */
  runInSession(cwd: string, prompt: string): AgentRun {
    const { program, args, name } = this.spec;
    const words = [basename(program), ...args(prompt)];
    return this.start(cwd, [AGT, 'session', 'run', '--profile', name, '--every', '0', '--', ...words]);
  }

  /** With `agt session resume`. */
  resume(cwd: string, ...args: string[]): AgentRun {
    return this.start(cwd, [AGT, 'session', 'resume', '--', ...args]);
  }

  /** While the agent works, the caller goes on. */
  beside(
    cwd: string,
    prompt: string,
  ): Promise<{ readonly exitCode: number | null; readonly stdout: string }> {
    const { program, args } = this.spec;
    const { line } = this.commandFor([programPath(program), ...args(prompt)]);
    const child = spawn('unshare', line, { ...this.options(cwd), timeout: TIMEOUT_MS });
    let stdout = '';
    child.stdout.on('data', (text: Buffer) => {
      stdout += text;
    });
    return new Promise((resolve) => child.on('close', (exitCode) => resolve({ exitCode, stdout })));
  }

  private start(cwd: string, words: readonly string[]): AgentRun {
    const { line, log } = this.commandFor(words);
    const options = { ...this.options(cwd), encoding: 'utf8', timeout: TIMEOUT_MS } as const;
    const result = spawnSync('unshare', line, options);
    const requests = readFileSync(log, 'utf8').split('\n').filter(Boolean);
    const asked = requests.map((line) => JSON.parse(line) as Recorded).filter(isQuestion);
    return { exitCode: result.status, stdout: result.stdout, stderr: result.stderr, asked };
  }

  private commandFor(words: readonly string[]) {
    const log = join(makeTempDir(), 'requests');
    const inNetwork = ['-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
    const model = [join(nodeBin, 'node'), join(import.meta.dirname, 'in-network.ts'), `${PORT}`, log];
    return { line: [...inNetwork, ...model, ...words], log };
  }

  private options(cwd: string) {
    const env = { ...this.environment(), ...this.spec.env(this.home) };
    return { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] } satisfies SpawnOptionsWithStdioTuple<
      'ignore',
      'pipe',
      'pipe'
    >;
  }

  /** agt in the same HOME. */
  agt(cwd: string, ...args: string[]): string {
    const outcome = run(AGT, args, { cwd, env: { HOME: this.home, PATH: this.environment()['PATH'] } });
    if (outcome.exitCode !== 0) throw new Error(`agt ${args.join(' ')}: ${outcome.stdout}${outcome.stderr}`);
    return outcome.stdout;
  }

  /** Installs the hooks of agt. */
  install(cwd: string, ...options: string[]): void {
    this.agt(cwd, 'hooks', 'install', this.spec.name, ...(this.spec.install ?? []), ...options);
  }

  log(cwd: string): { tool: string | null; [name: string]: unknown }[] {
    return JSON.parse(this.agt(cwd, 'session', 'log', '--json'));
  }

  failures(): string {
    const log = join(this.home, '.local/state/agt/hooks.log');
    if (!existsSync(log)) return '';
    const text = readFileSync(log, 'utf8');
    rmSync(log);
    return text;
  }

  /** Nothing of the environment of the tests, such as GIT_CONFIG_GLOBAL. */
  private environment(): Record<string, string> {
    const path = [
      nodeBin,
      join(programPath(this.spec.program), '..'),
      join(REAL_GIT, '..'),
      process.env['PATH'],
    ];
    return { HOME: this.home, PATH: path.join(delimiter), LANG: 'C.UTF-8', TERM: 'dumb' };
  }
}

function isQuestion({ url }: Recorded): boolean {
  return /\/(messages|completions|responses)(\?|$)|enerateContent/.test(url);
}
