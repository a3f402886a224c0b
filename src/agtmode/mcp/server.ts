/**
 * `agt mcp`: a server of the Model Context Protocol over standard input and output. Each tool is a command of agt, which
 * another agt runs in the current directory: git may write on standard output, which belongs to the protocol here.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { EXIT } from '../../errors.ts';
import { ownCommand, ownVersion } from '../../process/invocation.ts';

/** Bytes of one answer. */
const MOST_BYTES = 48_000;
/** Plans that can still be carried out; the oldest goes first. */
const MOST_PLANS = 20;

// A word that begins with a dash would be an option.
const step = z
  .string()
  .regex(/^[^-]/, 'a step does not begin with "-"')
  .describe('a commit of list_steps; names such as @{2} move with each new step');
const paths = z.array(z.string().min(1)).optional().describe('only these files and directories');

/** The command line of a plan. */
const plans = new Map<string, readonly string[]>();

/** Ends with standard input. */
export async function runAgtMode(): Promise<number> {
  const server = new McpServer({ name: 'agt', version: ownVersion() });
  addReadingTools(server);
  addRestore(server);
  const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve));
  await server.connect(new StdioServerTransport());
  await ended;
  return EXIT.done;
}

function addReadingTools(server: McpServer): void {
  const add = <S extends z.ZodRawShape>(
    name: string,
    description: string,
    own: S,
    wordsFor: (args: z.output<z.ZodObject<S>>) => readonly string[],
  ) => {
    const offset = z
      .number()
      .int()
      .min(0)
      .default(0)
      .describe('go on at this byte of an answer that was cut');
    const annotations = { readOnlyHint: true, openWorldHint: false };
    const inputSchema: z.ZodRawShape = { ...own, offset };
    server.registerTool(name, { description, inputSchema, annotations }, (args, { signal }) =>
      read(wordsFor(args as never), args['offset'] as number, signal),
    );
  };
  add(
    'list_steps',
    'List the steps that agt has recorded in this folder, newest first: commit, time, prompt or tool, changed files.',
    {
      count: z.number().int().min(1).max(500).default(20),
      since: z.string().default('1970-01-01').describe('for example "2 hours ago"'),
      paths,
    },
    ({ count, since, paths }) => [
      ...['snapshot', 'list', '--stat', `--number=${count}`, `--since=${since}`],
      ...rest(paths),
    ],
  );
  add(
    'read_file',
    'Read a file as it was at a step.',
    { step, path: z.string().min(1) },
    ({ step, path }) => ['session', 'cat', `${step}:${path}`],
  );
  add(
    'compare',
    'Show a diff of two steps, or of a step and the files as they are now.',
    { from: step, to: step.optional(), stat: z.boolean().default(false), paths },
    ({ from, to = [], stat, paths }) =>
      ['snapshot', 'diff', from, to, stat ? '--stat' : [], rest(paths)].flat(),
  );
}

function addRestore(server: McpServer): void {
  server.registerTool(
    'propose_restore',
    {
      description:
        'Plan to bring files back to a step. Changes no file. Returns each file and ref that would change, and a token ' +
        'for restore. Show the plan to the user before you carry it out.',
      inputSchema: { step, paths },
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    async ({ step, paths }) => {
      const restore = ['snapshot', 'restore'];
      // First the snapshot: one that is taken now moves names such as @{2}.
      const found = await runJson([...restore, `--to=${step}`, '--dry-run', '--json', ...rest(paths)]);
      const now = await runJson(['snapshot', '--if-changed', '--json']);
      const plan = [...restore, `--to=${found['snapshot']}`, `--unchanged-since=${now['commit']}`];
      const { output, isCut } = await runAgt([...plan, '--dry-run', ...rest(paths)]);
      const token = randomUUID();
      plans.set(token, [...plan, ...rest(paths)]);
      for (const oldest of [...plans.keys()].slice(0, -MOST_PLANS)) plans.delete(oldest);
      const count = (found['changes'] as unknown[]).length;
      const more = isCut ? `[cut; ${count} paths would change: agt ${plan.join(' ')} -n lists them]\n` : '';
      return answer(`${output}${more}to do that: restore with the token ${token}\n`);
    },
  );
  server.registerTool(
    'restore',
    {
      description:
        'Carry out a plan of propose_restore, if nothing has changed since. agt first takes a snapshot, so the user can ' +
        'take it back with agt undo.',
      inputSchema: { token: z.string().describe('of propose_restore; it counts once') },
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    async ({ token }) => {
      const plan = plans.get(token);
      if (plan === undefined) throw new Error('there is no plan of this token: call propose_restore first');
      plans.delete(token);
      const done = await read(plan);
      // Otherwise the next prompt would tell the agent that the user has taken its files back.
      await runAgt(['session', 'record', '--tool', 'restore']).catch(() => {});
      return done;
    },
  );
}

async function runJson(words: readonly string[]): Promise<Record<string, unknown>> {
  const { output } = await runAgt(words, { most: Number.MAX_SAFE_INTEGER });
  return JSON.parse(output.toString()) as Record<string, unknown>;
}

async function read(words: readonly string[], offset = 0, signal?: AbortSignal) {
  const { output, isCut, errors } = await runAgt(words, { offset, signal });
  if (output.includes(0)) return answer('a binary file\n');
  const more = isCut ? `[cut; for more, call it with offset ${offset + output.length}, or with paths]\n` : '';
  return answer(`${output}${more}${errors}`);
}

function answer(text: string) {
  return { content: [{ type: 'text' as const, text: text === '' ? 'nothing\n' : text }] };
}

function rest(paths: readonly string[] = []): readonly string[] {
  return paths.length === 0 ? [] : ['--', ...paths];
}

interface Limits {
  /** Bytes of output to pass over, and to keep at the most. */
  readonly offset?: number;
  readonly most?: number;
  /** Ends a command that only reads. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns whole lines of its output. @throws Error with one line, of which the SDK makes an answer */
async function runAgt(words: readonly string[], { offset = 0, most = MOST_BYTES, signal }: Limits = {}) {
  const [program = '', ...args] = [...ownCommand(), ...words];
  const env = { ...process.env, FORCE_COLOR: undefined, NO_COLOR: '1' };
  // In a group of its own: Ctrl-C of the agent's user is not for a restore.
  const child = spawn(program, args, { env, detached: true, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  const kept: Buffer[] = [];
  let seen = 0;
  let errors = '';
  child.stdout.on('data', (bytes: Buffer) => {
    kept.push(bytes.subarray(Math.max(0, offset - seen), Math.max(0, offset + most - seen)));
    seen += bytes.length;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(0, most);
  });
  const exitCode = await new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  if (exitCode !== EXIT.done) {
    const said = errors
      .trimEnd()
      .replace(/^error: /, '')
      .replaceAll('\n', '; ');
    throw new Error(said || `agt ${words[0]} ${words[1]}: exit code ${exitCode}`);
  }
  const output = Buffer.concat(kept);
  const isCut = seen > offset + most;
  const end = output.lastIndexOf('\n') + 1;
  return { output: isCut && end > 0 ? output.subarray(0, end) : output, isCut, errors };
}
