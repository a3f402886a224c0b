/** The tests that every agent passes. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, git, makeRepository, makeTempDir, write } from '../harness/world.ts';
import { type AgentSpec, TestAgent } from './agent.ts';
import { type Call, type Step, script64 } from './model.ts';

export interface AgentTools {
  readonly shell: (command: string) => Call;
  /** `path` is absolute. */
  readonly edit: (path: string, content: string) => Call;
  /** As events call them. */
  readonly names: { readonly shell: string; readonly edit: string };
  /** An event tells that a command has failed. */
  readonly reportsFailure: boolean;
  /** A hook can answer a prompt. */
  readonly blocksPrompts: boolean;
  /** The file of a conversation, in a session that runs with the profile of the agent. */
  readonly conversation: RegExp;
  /** agt can let it call agt in one run, without a change of settings. */
  readonly isInjected: boolean;
  /** Without a terminal, too. */
  readonly showsAnswer?: false;
}

const ask = (...steps: Step[]) => `please work ${script64([...steps, { text: 'all is done' }])}`;

export function describeAgent(spec: AgentSpec, tools: AgentTools): void {
  const { shell, edit, names } = tools;

  test(`${spec.name}: a snapshot for each call, and a way back without the model`, () => {
    const agent = new TestAgent(spec);
    const { sandbox, repository } = makeSession({ 'old.txt': 'old\n' });
    agent.install(sandbox);
    const prompt = ask(
      shell('echo 1 > one; rm old.txt'),
      edit(join(sandbox, 'two'), '2\n'),
      shell('echo 3 > three; exit 3'),
    );
    const turn = agent.run(sandbox, prompt);
    expect(turn).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/all is done\s*$/) });
    expect(agent.failures()).toBe('');
    const log = agent.log(sandbox).reverse();
    expect(log.filter(({ tool }) => tool !== null)).toMatchObject([
      { tool: names.shell, added: 1, deleted: 1 },
      { tool: names.edit, added: 1 },
      { tool: names.shell, added: 1, ...(tools.reportsFailure ? { outcome: 'failed' } : {}) },
    ]);
    expect(log.find(({ label }) => /^prompt: please work/.test(`${label}`))).toBeDefined();
    const heard = turn.asked.map(({ body }) => body).join('\n');
    expect(heard).not.toMatch(/agtsessions|captured \d|Agt-|hooks\.log|restored \d/);
    expect(git(repository, 'status', '--porcelain')).toBe('');

    if (!tools.blocksPrompts) return;
    const undo = agent.run(sandbox, 'agt undo step');
    expect(undo.asked).toEqual([]);
    if (tools.showsAnswer !== false) expect(`${undo.stdout}${undo.stderr}`).toMatch(/restored 1 path/);
    expect(existsSync(join(sandbox, 'three'))).toBe(false);
    expect(existsSync(join(sandbox, 'two'))).toBe(true);
    expect(agent.run(sandbox, 'agt undo').asked).toEqual([]);
    expect(['one', 'two', 'three'].filter((name) => existsSync(join(sandbox, name)))).toEqual([]);
    expect(readFileSync(join(sandbox, 'old.txt'), 'utf8')).toBe('old\n');
  });

  test(`${spec.name}: calls at once, variables of a project, a checkout in no session`, () => {
    const agent = new TestAgent(spec);
    const repository = makeRepository({ a: 'a\n', '.gitignore': '.env\n' });
    const evil = join(makeTempDir(), 'git');
    write(evil, `#!/bin/sh\ntouch ${evil}.was-here\nexit 1\n`, 0o755);
    agent.install(repository);
    const { sandbox } = sessionIn(repository);
    for (const folder of [sandbox, repository]) {
      const env = `AGT_GIT_PATH=${evil}\nGIT_DIR=/nonexistent\nGIT_INDEX_FILE=/nonexistent/index\n`;
      write(join(folder, '.env'), env);
      const turn = agent.run(folder, ask([shell('echo 1 > one'), edit(join(folder, 'two'), '2\n')]));
      expect(turn).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/all is done\s*$/) });
      expect(agent.failures()).toBe('');
      expect(existsSync(`${evil}.was-here`)).toBe(false);
    }
    const log = agent.log(sandbox).filter(({ tool }) => tool !== null);
    expect(log.length).toBeGreaterThan(0);
    expect(log.reduce((sum, { added }) => sum + Number(added), 0)).toBe(2);
    const attached = agent.agt(repository, 'snapshot', '--json');
    expect(JSON.parse(attached)).toMatchObject({ outcome: 'unchanged' });
    if (tools.blocksPrompts) {
      expect(agent.run(repository, 'agt restore @{1}').asked).toEqual([]);
      const left = ['one', 'two'].filter((name) => existsSync(join(repository, name)));
      expect(left.length).toBeLessThan(2);
      expect(agent.run(repository, 'agt undo').asked).toEqual([]);
      expect(existsSync(join(repository, 'two'))).toBe(true);
    }
    expect(git(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads/main', 'refs/stash')).toBe(
      'refs/heads/main',
    );
  });

  test(`${spec.name}: an agt that is broken or gone changes nothing for the agent`, () => {
    const agent = new TestAgent(spec);
    const folder = makeTempDir();
    const file = join(agent.home, spec.settings);
    const before = existsSync(file) ? readFileSync(file) : undefined;
    agent.install(folder);
    const installed = readFileSync(file, 'utf8');
    const broken = join(makeTempDir(), 'broken-agt');
    write(broken, '#!/bin/sh\necho broken >&2\nexit 1\n', 0o755);
    for (const other of [broken, '/nonexistent/agt']) {
      writeFileSync(file, installed.replaceAll(AGT, other));
      rmSync(join(folder, 'one'), { force: true });
      const turn = agent.run(folder, ask(shell('echo 1 > one')));
      expect(turn).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/all is done\s*$/) });
      expect(existsSync(join(folder, 'one'))).toBe(true);
    }
    writeFileSync(file, installed);
    agent.agt(folder, 'hooks', 'uninstall', spec.name);
    expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(before);
  });

  test(`${spec.name}: agt session run keeps the conversation in the session`, () => {
    const agent = new TestAgent(spec);
    const session = makeSession();
    const { repository } = session;
    if (!tools.isInjected) agent.install(repository);
    const file = join(agent.home, spec.settings);
    const before = existsSync(file) ? readFileSync(file) : undefined;
    agent.agt(repository, 'session', 'new', 's2', '--profile', spec.name);
    const sandbox = `${repository}.agt/sessions/s2/sandbox`;
    const turn = agent.runInSession(sandbox, ask(shell('echo 1 > one')));
    expect(turn).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/all is done\s*$/) });
    expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(before);
    expect(agent.failures()).toBe('');
    expect(agent.log(sandbox)).toContainEqual(expect.objectContaining({ tool: names.shell }));
    const files = git(repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s2', 'xdg/', 'sandbox/one');
    expect(files).toMatch(tools.conversation);
    expect(files).toMatch(/^sandbox\/one$/m);
  });
}
