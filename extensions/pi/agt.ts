/**
 * agt for pi: a snapshot of the files before each prompt and after each turn, and a way back to them. `/fork` and `/tree`
 * offer to bring the files back, `/agt-undo` and `/agt-redo` go by turns. `/agt-accept`, `/agt-reject`, `/agt-status` and
 * `/agt-list` are for sessions. It works in a session of agt, in a git checkout and in any other folder.
 *
 * An entry in the conversation names the tree of each new snapshot. There is no other state, so entries survive a fork, a
 * resume and a reload. Whatever goes wrong with agt, pi goes on.
 */

/** `agt hooks install pi` puts the absolute path here. */
const AGT = 'agt';

const CANNOT_RUN = `cannot run ${AGT}, so there are no snapshots`;

const ENTRY = 'agt';

/** As the prompts `agt accept` and so on of other agents. pi works in the sandbox, so the session goes on. */
const COMMANDS: Readonly<Record<string, { description: string; line: string[]; isAsked?: true }>> = {
  status: { description: 'Show the sessions here, and what is wrong', line: ['status'] },
  list: { description: 'List the sessions here', line: ['list'] },
  accept: { description: 'Bring the work onto your branch', line: ['accept', '--keep'], isAsked: true },
  reject: { description: 'End the session without its work', line: ['reject', '--running'], isAsked: true },
};

/** In milliseconds. The first snapshot of a large folder takes a while; nobody waits for it but the next prompt. */
const TIMEOUT = 600_000;
/** A prompt waits no longer for the snapshot before it. */
const LONGEST_PAUSE = 10_000;
const READ_ONLY = ['read', 'grep', 'find', 'ls'];
/** How many files a question lists. */
const LISTED = 12;
/** A label is the beginning of a prompt. */
const LABEL_LENGTH = 60;

/** The parts of pi's extension API that this file uses; pi 0.73 to 0.87 have them. */
interface Pi {
  on(event: string, handler: (event: never, context: Context) => unknown): unknown;
  registerCommand(
    name: string,
    command: { description: string; handler: (args: string, context: Context) => Promise<void> },
  ): void;
  appendEntry(type: string, data: unknown): void;
  exec(
    program: string,
    args: string[],
    options: { cwd: string; timeout: number },
  ): Promise<{ stdout: string; stderr: string; code: number }>;
}

interface Context {
  readonly cwd: string;
  readonly hasUI: boolean;
  readonly ui: {
    select(title: string, options: string[]): Promise<string | undefined>;
    notify(message: string, type: 'info' | 'warning'): void;
  };
  readonly sessionManager: {
    getSessionId(): string;
    getEntry(id: string): Entry | undefined;
    getEntries(): Entry[];
    getBranch(): Entry[];
  };
}

/** Where a snapshot is taken, and for which conversation. */
interface Place {
  readonly cwd: string;
  readonly session: string;
}

interface Entry {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly customType?: string;
  readonly data?: { readonly state?: string };
  readonly message?: { readonly role: string };
}

/** The answer of agt with --json. */
interface Answer {
  readonly tree?: string | null;
  readonly refused?: string | null;
  readonly hints?: readonly string[];
  readonly is_known?: boolean;
  readonly changes?: readonly Change[] | null;
  readonly position?: { readonly turns?: readonly string[] };
}

interface Change {
  readonly path: string;
  readonly status: string;
}

const MARKS: Readonly<Record<string, string>> = { added: '+', deleted: '-', blocked: '!' };

/** Problems that pi has shown. A fork or a reload begins with a new call of the function below. */
const told = new Set<string>();

export default function agt(pi: Pi): void {
  /** Snapshots are taken one after the other, and nobody waits for them but who needs one. */
  let queue: Promise<unknown> = Promise.resolve();
  /** agt does not take snapshots here: this was said once. */
  let isRefused = false;

  function warnOnce(context: Context, problem: string): void {
    if (told.has(problem)) return;
    told.add(problem);
    if (context.hasUI) context.ui.notify(`agt: ${problem}`, 'warning');
  }

  /** If there is no such program, pi either throws or reports a failure without a word. */
  function call({ cwd }: Place, args: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
    const failed = { stdout: '', stderr: '', code: 1 };
    return pi.exec(AGT, args, { cwd, timeout: TIMEOUT }).catch(() => failed);
  }

  async function run(place: Place, args: string[]): Promise<{ answer: Answer; problem: string | undefined }> {
    const { stdout, stderr, code } = await call(place, args);
    const answer = parse(stdout);
    if (code === 0) return { answer, problem: undefined };
    const line = stderr.split('\n').find((text) => text.startsWith('error: '));
    return {
      answer,
      problem: line?.replace('error: ', '') ?? CANNOT_RUN,
    };
  }

  /** Adds a snapshot and, if the files are other ones than in the last entry, an entry. */
  async function take(context: Context, place: Place, why: string, more: string[]): Promise<void> {
    if (isRefused) return;
    const about = ['--agent', 'pi', '--conversation', place.session];
    const { answer, problem } = await run(place, [
      'snapshot',
      '.',
      '--json',
      '--wait',
      '30',
      ...about,
      ...more,
    ]);
    if (answer.refused) {
      isRefused = true;
      if (answer.is_known !== true) warnOnce(context, [answer.refused, ...(answer.hints ?? [])].join('; '));
      return;
    }
    if (problem !== undefined) warnOnce(context, problem);
    const state = answer.tree;
    if (!state || context.sessionManager.getBranch().findLast(isState)?.data?.state === state) return;
    pi.appendEntry(ENTRY, { state, session: place.session, why });
  }

  function enqueue(context: Context, why: string, more: string[] = []): Promise<unknown> {
    // By then pi may have replaced the conversation, and the context with it. The snapshot is taken all the same.
    const place = placeOf(context);
    queue = queue.then(() => take(context, place, why, more)).catch(() => undefined);
    return queue;
  }

  pi.on('session_start', (event: { readonly reason: string }, context) => {
    void enqueue(context, event.reason);
    const place = placeOf(context);
    queue = queue.then(() => run(place, ['gc', '--folders', '--daily', '-q'])).catch(() => undefined);
  });

  pi.on('input', async (event: { readonly text?: string }, context) => {
    const text = (event.text ?? '').replace(/\s+/g, ' ').trim();
    if (text.startsWith('/')) return;
    const label = text === '' ? [] : ['--label', `prompt: ${text.slice(0, LABEL_LENGTH)}`];
    await atMost(LONGEST_PAUSE, enqueue(context, 'prompt', label));
  });

  // pi tells of no end of a call before the next one begins, so the changes may be those of the call before.
  pi.on('tool_call', async ({ toolName }: { readonly toolName: string }, context) => {
    if (!READ_ONLY.includes(toolName))
      await atMost(LONGEST_PAUSE, enqueue(context, 'tool', ['--if-changed']));
  });

  pi.on('turn_end', (event: { readonly toolResults?: readonly { readonly toolName: string }[] }, context) => {
    const calls = Object.entries(Object.groupBy(event.toolResults ?? [], ({ toolName }) => toolName));
    const tools = calls.map(([name, of = []]) => (of.length > 1 ? `${name} ×${of.length}` : name));
    if (tools.length > 0) void enqueue(context, 'turn', ['--tool', tools.join(', '), '--if-changed']);
  });

  // A run can go on after agent_end, by retries; pi before 0.87 has no agent_settled.
  for (const name of ['agent_end', 'agent_settled'])
    pi.on(name, (_event, context) => void enqueue(context, 'run', ['--if-changed']));

  pi.on('session_shutdown', () => queue);

  pi.on('session_before_fork', async (event: { readonly entryId: string }, context) => {
    await enqueue(context, 'fork');
    return offer(context, stateAt(context.sessionManager.getEntries(), event.entryId));
  });

  pi.on(
    'session_before_tree',
    async (event: { readonly preparation: { readonly targetId: string } }, context) => {
      await enqueue(context, 'tree');
      return offer(context, stateAt(context.sessionManager.getEntries(), event.preparation.targetId));
    },
  );

  /** Offers to bring the files back to a state. Without somebody to answer, the files stay. */
  async function offer(context: Context, state: string | undefined): Promise<{ cancel: true } | undefined> {
    if (state === undefined || isRefused || !context.hasUI) return undefined;
    const { answer, problem } = await run(placeOf(context), [
      'snapshot',
      'restore',
      state,
      '--dry-run',
      '--json',
    ]);
    if (problem !== undefined) {
      context.ui.notify(`agt: the files stay as they are: ${problem}`, 'warning');
      return undefined;
    }
    const changes = answer.changes ?? [];
    if (changes.length === 0) return undefined;
    const restore = `Restore ${files(changes)}`;
    const keep = 'Keep the files as they are';
    const choice = await context.ui.select(`Bring the files back, too?\n${list(changes)}`, [
      restore,
      keep,
      'Cancel',
    ]);
    if (choice === restore) await bringBack(context, state);
    return choice === restore || choice === keep ? undefined : { cancel: true };
  }

  async function bringBack(context: Context, state: string): Promise<void> {
    const { answer, problem } = await run(placeOf(context), ['snapshot', 'restore', state, '--json']);
    if (problem !== undefined) context.ui.notify(`agt: ${problem}`, 'warning');
    else context.ui.notify(`agt: restored ${files(answer.changes ?? [])}; /agt-undo takes that back`, 'info');
  }

  for (const step of ['undo', 'redo'])
    pi.registerCommand(`agt-${step}`, {
      description: `${step === 'undo' ? 'Take back the last turn' : 'Take back /agt-undo'}; "2": two turns; "step": one snapshot`,
      handler: async (args, context) => {
        await enqueue(context, step);
        const { isStep, count } = distanceOf(args);
        const words = [step, ...(isStep ? [] : ['--turn']), ...count, '--json'];
        const { answer, problem } = await run(placeOf(context), words);
        const turns = (answer.position?.turns ?? []).map((turn) => `"${turn}"`).join(', ');
        const of = turns === '' ? '' : ` of ${turns}`;
        const changes = answer.changes ?? [];
        if (problem !== undefined) context.ui.notify(`agt: ${problem}`, 'warning');
        else context.ui.notify(`agt: restored ${files(changes)}${of}\n${list(changes)}`.trim(), 'info');
        await enqueue(context, step);
      },
    });

  for (const [name, { description, line, isAsked }] of Object.entries(COMMANDS))
    pi.registerCommand(`agt-${name}`, {
      description,
      handler: async (_args, context) => {
        if (isAsked && !(await isConfirmed(context, name, [...line, '--dry-run']))) return;
        await show(context, line);
      },
    });

  async function isConfirmed(context: Context, name: string, plan: string[]): Promise<boolean> {
    const { stdout, stderr, code } = await call(placeOf(context), plan);
    if (code !== 0 || !context.hasUI)
      context.ui.notify(`${stdout}${stderr}`, code === 0 ? 'info' : 'warning');
    if (code !== 0 || !context.hasUI) return false;
    const yes = `Yes, ${name}`;
    return (await context.ui.select(`${stdout}${stderr}`, [yes, 'Cancel'])) === yes;
  }

  async function show(context: Context, line: string[]): Promise<void> {
    const { stdout, stderr, code } = await call(placeOf(context), line);
    context.ui.notify(`${stdout}${stderr}`.trim() || CANNOT_RUN, code === 0 ? 'info' : 'warning');
  }
}

function files({ length }: readonly Change[]): string {
  return length === 1 ? '1 file' : `${length} files`;
}

/** `step 2`, `2 turns`. */
function distanceOf(args: string): { isStep: boolean; count: string[] } {
  return { isStep: /\bsteps?\b/.test(args), count: /\d+/.exec(args)?.slice(0, 1) ?? [] };
}

function placeOf({ cwd, sessionManager }: Context): Place {
  return { cwd, session: sessionManager.getSessionId() };
}

/** Empty if it is cut off or none. */
function parse(text: string): Answer {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return {};
  }
}

function isState({ type, customType, data }: Entry): boolean {
  return type === 'custom' && customType === ENTRY && data?.state !== undefined;
}

/**
 * The state of the files at an entry. Before a prompt of the user: the last one above it. At another entry, which may be in
 * the middle of a run: the first one below it that belongs to the same run, or else the last one above.
 */
function stateAt(entries: readonly Entry[], id: string): string | undefined {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const target = byId.get(id);
  if (target === undefined) return undefined;
  const below = isPrompt(target) ? undefined : firstBelow(entries, target);
  if (below !== undefined) return below.data?.state;
  for (let at: Entry | undefined = target; at !== undefined; at = byId.get(at.parentId ?? ''))
    if (isState(at)) return at.data?.state;
  return undefined;
}

function firstBelow(entries: readonly Entry[], target: Entry): Entry | undefined {
  if (isState(target)) return target;
  const waiting = [target.id];
  for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
    const children = entries.filter((entry) => entry.parentId === id && !isPrompt(entry));
    const state = children.find(isState);
    if (state !== undefined) return state;
    waiting.push(...children.map((child) => child.id));
  }
  return undefined;
}

function isPrompt({ type, message }: Entry): boolean {
  return type === 'message' && message?.role === 'user';
}

function list(changes: readonly Change[]): string {
  const shown = changes.slice(0, LISTED).map(({ path, status }) => `${MARKS[status] ?? '~'} ${path}`);
  const more = changes.length - shown.length;
  return [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

function atMost(milliseconds: number, work: Promise<unknown>): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout>;
  const end = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  return Promise.race([work, end]).finally(() => clearTimeout(timer));
}
