/** A repository with four sessions, as agents leave it: their events are those of Claude Code. For pictures and tests. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Scene {
  readonly project: string;
  readonly agt: (cwd: string, ...args: string[]) => string;
  readonly agent: (id: string) => Agent;
  /** One that works in any folder. */
  readonly agentIn: (folder: string) => Agent;
}

/** An agent in its sandbox, or in a folder without a session. */
export interface Agent {
  readonly sandbox: string;
  readonly event: (name: string, fields?: object) => void;
  readonly prompt: (words: string) => void;
  /** A call of a tool: what it writes, or undefined for a file that it deletes. */
  readonly edit: (path: string, content: string | Buffer | undefined) => void;
  readonly bash: (command: string, failed?: boolean) => void;
}

const LOGIN = `import { createHash } from 'node:crypto';

export interface User {
  name: string;
  password: string;
}

export function login(user: User, password: string): boolean {
  return user.password === password;
}
`;

const FILES = {
  'README.md': '# Shop\n\nA small shop.\n',
  'src/login.ts': LOGIN,
  'src/cart.ts': 'export const total = (prices: number[]) => prices.reduce((a, b) => a + b, 0);\n',
  'src/old.ts': 'export const old = true;\n',
  'docs/api.md': '# API\n\n- `GET /cart`\n',
};

const SAFE = LOGIN.replace(
  'return user.password === password;',
  'return user.password === hashOf(password);',
);
const HASHED = `${SAFE}\nfunction hashOf(text: string): string {\n  return createHash('sha256').update(text).digest('hex');\n}\n`;
const LIMITED = HASHED.replace(
  '): boolean {\n',
  '): boolean {\n  if (attempts(user.name) > 5) throw new Error("too many attempts");\n',
);
const TEST = `import { login } from './login.ts';

test('a wrong password is refused', () => {
  expect(login({ name: 'ann', password: 'x' }, 'y')).toBe(false);
});
`;

/** One red point. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** `program`: agt. `project`: a directory that is not there yet. */
export function makeScene(program: string, project: string, env: NodeJS.ProcessEnv): Scene {
  const call = (cwd: string, name: string, args: readonly string[], input = '') =>
    execFileSync(name, args, { cwd, env, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
  const agt = (cwd: string, ...args: string[]) => call(cwd, program, args);
  const git = (...args: string[]) => call(project, 'git', args);
  const save = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  for (const [path, content] of Object.entries(FILES)) save(join(project, path), content);
  git('init', '-qb', 'main');
  git('add', '-A');
  git('commit', '-qm', 'A small shop');
  const agent = (id: string) => agentIn(join(`${project}.agt`, 'sessions', id, 'sandbox'), id);
  const agentIn = (sandbox: string, id = 'here'): Agent => {
    let calls = 0;
    const event = (name: string, fields: object = {}) => {
      const json = { session_id: `conversation-${id}`, cwd: sandbox, hook_event_name: name, ...fields };
      call(sandbox, program, ['hook', 'claude-code'], JSON.stringify(json));
    };
    const tool = (name: string, input: object, act: () => void, end = 'PostToolUse') => {
      calls += 1;
      const fields = { tool_name: name, tool_use_id: `call-${calls}`, tool_input: input };
      event('PreToolUse', fields);
      act();
      event(end, fields);
    };
    return {
      sandbox,
      event,
      prompt: (prompt) => event('UserPromptSubmit', { prompt }),
      edit: (path, content) =>
        content === undefined
          ? tool('Bash', { command: `rm ${path}` }, () => rmSync(join(sandbox, path)))
          : tool('Write', { file_path: path }, () => save(join(sandbox, path), content)),
      bash: (command, failed = false) =>
        tool('Bash', { command }, () => undefined, failed ? 'PostToolUseFailure' : 'PostToolUse'),
    };
  };
  for (const id of ['fix-login', 'new-api', 'old-docs', 'cleanup']) agt(project, 'new', id, '-q');
  const login = agent('fix-login');
  login.prompt('Store passwords as hashes, never as text');
  login.edit('src/login.ts', HASHED);
  login.edit('src/login.test.ts', TEST);
  login.bash('npm test', true);
  login.edit('src/logo.png', PICTURE);
  login.event('Stop');
  agt(login.sandbox, 'autocommit', '--label', 'hashes work', '-q');
  save(join(login.sandbox, 'README.md'), '# Shop\n\nA small shop with safe passwords.\n');
  login.prompt('Refuse a login after five wrong attempts');
  login.edit('src/login.ts', LIMITED);
  login.edit('src/old.ts', undefined);
  login.edit('.env', 'KEY=secret-of-the-shop\n');
  login.event('Notification', {
    notification_type: 'permission_prompt',
    message: 'Claude needs your permission to use Bash',
  });
  const api = agent('new-api');
  api.prompt('Add an endpoint for orders, with tests');
  api.edit('src/orders.ts', 'export const orders: string[] = [];\n');
  api.edit('docs/api.md', '# API\n\n- `GET /cart`\n- `GET /orders`\n');
  const docs = agent('old-docs');
  docs.prompt('Bring the docs up to date');
  docs.edit('README.md', '# Shop\n\nA small shop, with docs.\n');
  docs.event('Stop');
  const cleanup = agent('cleanup');
  cleanup.prompt('Remove dead code');
  cleanup.edit('src/old.ts', undefined);
  cleanup.event('StopFailure', { error: 'overloaded' });
  return { project, agt, agent, agentIn };
}
