/** The tests that every agent passes. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, git, makeRepository, makeTempDir, write } from '../harness/world.ts';
import { type AgentSpec, TestAgent } from './agent.ts';
import { EVERYTHING, LOSSES, leavesTraces, makePrecious, STATE_SCRIPT, stateOf } from './losses.ts';
import { type Call, type Step, script64 } from './model.ts';

export interface AgentTools {
  readonly shell: (command: string) => Call;
  /** `path` is absolute. */
  readonly edit: (path: string, content: string) => Call;
  /** As events call them. */
  readonly names: { readonly shell: string; readonly edit: string };
  /** An event tells that a command has failed. */
  readonly reportsFailure: boolean;
  /** No event comes after a command that has failed. */
  readonly missesFailed?: true;
  /** Without a terminal there is no event for a prompt. */
  readonly missesPrompts?: true;
  /** A hook can answer a prompt. */
  readonly blocksPrompts: boolean;
  /** The file of a conversation, in a session that runs with the profile of the agent; undefined if none lands there. */
  readonly conversation: RegExp | undefined;
  /** agt can let it call agt in one run, without a change of settings. */
  readonly isInjected: boolean;
  /** False: it refuses files outside of its directory by itself. */
  readonly isFenced?: false;
  /** Without a terminal, too. */
  readonly showsAnswer?: false;
}

/** One after the other, in one repository. Worktrees beside it need agt's git on the PATH of the agent. */
const IN_TURN = LOSSES.filter(
  (loss) => !leavesTraces(loss) && !/worktree remove|rm -rf .git/.test(loss.call),
);

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
      ...(tools.missesFailed
        ? []
        : [{ tool: names.shell, added: 1, ...(tools.reportsFailure ? { outcome: 'failed' } : {}) }]),
    ]);
    expect(log.reduce((sum, { added }) => sum + Number(added), 0)).toBe(3);
    const labelled = log.find(({ label }) => /^prompt: please work/.test(`${label}`));
    expect(labelled === undefined).toBe(tools.missesPrompts === true);
    const heard = turn.asked.map(({ body }) => body).join('\n');
    expect(heard).not.toMatch(/agtsessions|captured \d|Agt-|hooks\.log|restored \d/);
    expect(git(repository, 'status', '--porcelain')).toBe('');

    // It does not write into the checkout: agt tells it the path in its sandbox, or it keeps itself from that.
    const outside = agent.run(sandbox, ask(edit(join(repository, 'outside'), 'by the agent\n')));
    expect(existsSync(join(repository, 'outside'))).toBe(false);
    const hint = `Use ${join(sandbox, 'outside')} instead`;
    if (tools.isFenced !== false) expect(outside.asked.some(({ body }) => body.includes(hint))).toBe(true);

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
    // With calls at once, any event may find what the other one has done; the third file is .env.
    const log = agent.log(sandbox);
    expect(log.filter(({ tool }) => tool !== null).length).toBeGreaterThan(0);
    expect(log.reduce((sum, { added }) => sum + Number(added), 0)).toBe(3);
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

  test.each([
    ['files and the index', IN_TURN],
    ['refs, and the whole repository', [EVERYTHING]],
  ])(`${spec.name}: what a person did before a call that destroys it comes back: %s`, (_, losses) => {
    const agent = new TestAgent(spec);
    const repository = makePrecious();
    const states = makeTempDir('states');
    write(join(states, 'script'), STATE_SCRIPT);
    agent.install(repository);
    const steps = losses.map(({ person, call }, i) => ({
      ...shell(call),
      meanwhile: `cd ${repository}; { ${person}; } >/dev/null 2>&1; sh ${states}/script >${states}/${i} 2>/dev/null`,
    }));
    expect(agent.run(repository, ask(shell('true'), ...steps)).exitCode).toBe(0);
    expect(agent.failures()).toBe('');
    for (const [i, { name }] of [...losses.entries()].reverse()) {
      const wanted = readFileSync(join(states, `${i}`), 'utf8');
      expect({ name, state: stateOf(repository) }).not.toEqual({ name, state: wanted });
      for (let step = 0; step < 4 && stateOf(repository) !== wanted; step++) agent.agt(repository, 'undo');
      expect({ name, state: stateOf(repository) }).toEqual({ name, state: wanted });
      if (i > 0) agent.agt(repository, 'undo');
    }
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
    if (tools.conversation !== undefined) expect(files).toMatch(tools.conversation);
    // Also the last answer, which some agents write after the hook at the end of the turn.
    const texts = files.split('\n').filter((name) => name.endsWith('.jsonl'));
    const answers = texts.map((name) => git(repository, 'show', `agtsessions/s2:${name}`));
    expect(texts.length === 0 || answers.some((text) => text.includes('all is done'))).toBe(true);
    expect(files).toMatch(/^sandbox\/one$/m);
  });
}
