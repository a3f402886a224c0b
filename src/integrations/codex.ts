/** Codex CLI. Its events are nearly those of Claude Code. Its documentation: https://developers.openai.com/codex/hooks */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { AgtError, attempt } from '../errors.ts';
import { likeClaude, readClaudeEvent } from './claude-events.ts';
import { jsonHooks } from './install/json-hooks.ts';
import { tomlServer } from './install/mcp-server.ts';
import { callsHook } from './install/settings.ts';
import type { Integration, Trust } from './integration.ts';

function home(env: NodeJS.ProcessEnv): string {
  return env['CODEX_HOME'] || join(env['HOME'] ?? '', '.codex');
}

interface Hook {
  readonly key: string;
  readonly command?: string;
  readonly sourcePath: string;
  readonly currentHash: string;
  readonly trustStatus: string;
}

async function listOurs(call: Call, path: string): Promise<readonly Hook[]> {
  const answer = (await call('hooks/list', { cwds: ['/'] })) as { data?: { hooks?: Hook[] }[] };
  const hooks = answer.data?.flatMap(({ hooks = [] }) => hooks) ?? [];
  return hooks.filter(({ command, sourcePath }) => sourcePath === path && callsHook(command, codex.name));
}

async function areTrusted(call: Call, path: string): Promise<boolean> {
  const hooks = await listOurs(call, path);
  return hooks.length > 0 && hooks.every(({ trustStatus }) => trustStatus === 'trusted');
}

/**
 * Codex skips hooks that the user has not reviewed, without a word. Its own server says which hooks there are, with the
 * digest to trust, and stores it in config.toml. agt never computes a digest itself.
 */
const trust: Trust = {
  file: (env) => join(home(env), 'config.toml'),
  isTrusted: (env, path) => withAppServer(env, (call) => areTrusted(call, path)),
  grant: (env, path) =>
    withAppServer(env, async (call) => {
      const hooks = await listOurs(call, path);
      const value = Object.fromEntries(
        hooks.map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]),
      );
      await call('config/batchWrite', {
        edits: [{ keyPath: 'hooks.state', mergeStrategy: 'upsert', value }],
      });
      if (!(await areTrusted(call, path))) throw new AgtError('Codex does not trust the hooks yet');
    }),
  revoke: (env, path) =>
    withAppServer(env, async (call) => {
      const edits = (await listOurs(call, path)).map(({ key }) => ({
        ...{ keyPath: `hooks.state.${JSON.stringify(key)}`, mergeStrategy: 'replace', value: null },
      }));
      if (edits.length > 0) await call('config/batchWrite', { edits });
    }),
};

export const codex: Integration = {
  name: 'codex',
  title: 'Codex',
  program: 'codex',
  readEvent: (json, _env, cwd) => readClaudeEvent(json, {}, cwd),
  ...likeClaude,
  home,
  file: 'hooks.json',
  projectFile: '.codex/hooks.json',
  settings: jsonHooks({
    events: [
      ...['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse'],
      ...['PermissionRequest', 'SubagentStop', 'Stop', 'SessionEnd'],
    ],
    // Seconds. Codex allows no more at the end of a session.
    fields: (event: string) => ({ timeout: event === 'SessionEnd' ? 3 : 30 }),
  }),
  mcp: { file: trust.file, projectFile: '.codex/config.toml', settings: tomlServer },
  plugin: { directory: '.codex-plugin', home: `\${CODEX_HOME:-$HOME/.codex}` },
  resume: {
    words: (id) => ['resume', id],
    transcript: {
      directory: (env) => join(home(env), 'sessions'),
      // Codex speaks as the user, too: of the environment, and of AGENTS.md.
      prompt: /"role":"user","content":\[\{"type":"input_text","text":"(?!<\w+>|# AGENTS\.md)/,
      result: /"type":"(function|custom_tool)_call_output"/,
    },
  },
  trust,
  isolation: { variable: 'CODEX_HOME', login: ['auth.json'] },
  copiesTranscript: true,
  // Its shell makes a PATH of its own. A commit writes into the repository, which is not in the sandbox.
  injectPlace: ({ path, commonDir }) => ({
    words: ['-c', `shell_environment_policy.set.PATH=${JSON.stringify(path)}`, '--add-dir', commonDir],
    variables: {},
  }),
};

/** A message of `codex app-server`: one JSON text a line, over standard input and output. */
interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

type Call = (method: string, params: unknown) => Promise<unknown>;

const LONGEST_ANSWER_MS = 30_000;

/** @throws AgtError if it cannot be started, refuses a call, or takes too long. */
async function withAppServer<T>(env: NodeJS.ProcessEnv, action: (call: Call) => Promise<T>): Promise<T> {
  const server = spawn('codex', ['app-server'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const fail = (why: string) => reject(new AgtError(`codex app-server ${why}`));
  const timer = setTimeout(fail, LONGEST_ANSWER_MS, 'does not answer');
  server.on('error', (error) => fail(`cannot be started: ${error.message}`));
  server.on('exit', () => fail('has ended'));
  server.stdin.on('error', () => {});
  const waiting = new Map<number | undefined, (message: Message) => void>();
  let rest = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const message of lines.flatMap((line) => attempt(() => JSON.parse(line) as Message) ?? []))
      waiting.get(message.id)?.(message);
  });
  const send = (message: object) => server.stdin.write(`${JSON.stringify(message)}\n`);
  const call: Call = async (method, params) => {
    const id = waiting.size + 1;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    const { result, error } = await Promise.race([answer, failed]);
    if (error !== undefined) throw new AgtError(`codex app-server refuses ${method}: ${error.message}`);
    return result;
  };
  try {
    await call('initialize', { clientInfo: { name: 'agt', version: '1' } });
    send({ method: 'initialized' });
    return await action(call);
  } finally {
    clearTimeout(timer);
    server.kill();
  }
}
