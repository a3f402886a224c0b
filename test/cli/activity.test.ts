/** `agt log --all-sessions`: what all agents did, in one repository or everywhere. */
import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { autocommitAt } from '../harness/opened.ts';
import { agtWithPermissions, permissionsProblem } from '../harness/privileges.ts';
import { autocommit, newSession, sessionIn, sessionOf, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

interface Entry {
  repository: string;
  session_id: string;
  agent: string | null;
  prompt: string | null;
  labels: string[];
  outcome: string | null;
  commit: string | null;
  onto: string | null;
  reason: string | null;
  snapshots: number;
  stands: boolean;
  files: { path: string; status: string }[];
}

const activity = (cwd: string, ...options: string[]): Entry[] =>
  JSON.parse(agtOk(cwd, 'log', '--all-sessions', '--json', ...options));

const told = (entries: readonly Entry[]) =>
  entries.map(({ session_id, prompt, labels, files }) => [
    session_id,
    prompt ?? labels.join(),
    files.map(({ path, status }) => `${status} ${path}`).join(),
  ]);

let one: TestSession;
let two: TestSession;

/** A turn and a prompt after it in one session, and a labelled step in another. */
beforeEach(() => {
  one = newSession({ 'a.txt': 'a\n' }, 'one');
  two = sessionIn(one.repository, 'two');
  autocommit(one, '--label', 'prompt: fix the login');
  write(join(one.sandbox, 'a.txt'), 'b\n');
  autocommit(one, '--tool', 'Edit');
  write(join(one.sandbox, 'new.txt'), 'n\n');
  autocommit(one, '--label', 'prompt: and now?');
  write(join(two.sandbox, 'b.txt'), 'b\n');
  autocommit(two);
  write(join(two.sandbox, 'b.txt'), 'c\n');
  autocommit(two, '--label', 'mine');
});

describe('agt log --all-sessions', () => {
  test('a later command of a person moves no turn, and a call that failed shows', () => {
    const { sandbox, repository } = one;
    write(join(sandbox, 'a.txt'), 'c\n');
    agtOk(repository, 'session', 'record', 'one', '--tool', 'Bash', '--failed');
    const before = activity(repository);
    const turn = before.find(({ prompt }) => prompt === 'and now?') as Entry;
    expect(turn).toMatchObject({ failed_calls: 1, stands: true });
    expect(agtOk(repository, 'log', '--all-sessions')).toContain('(1 call failed) and now?');
    agtOk(repository, 'undo', 'one');
    expect(activity(repository)).toEqual(before.with(before.indexOf(turn), { ...turn, stands: false }));
  });

  test('a snapshot of a person is in a row of its own, whatever the time asked for, and one without a file in none', async () => {
    const { sandbox, repository } = sessionIn(one.repository, 'three');
    const agent = agentIn(sandbox, 'claude-code', 'c');
    agent.says('a task');
    agent.begins('t1');
    write(join(sandbox, 'x.txt'), 'x\n');
    agent.ends('t1');
    agtOk(repository, 'autocommit', 'three');
    write(join(sandbox, 'mine.txt'), 'm\n');
    const soon = (seconds: number) => new Date(Date.now() + 1000 * seconds);
    await autocommitAt(sessionOf(repository, 'three'), soon(60));
    await autocommitAt(sessionIn(repository, 'four'), soon(90));
    const rows = (...options: string[]) =>
      activity(repository, ...options)
        .filter(({ session_id }) => ['three', 'four'].includes(session_id))
        .map(({ agent, prompt, files }) => [agent, prompt, files.map(({ path }) => path).join()]);
    const mine = [null, null, 'mine.txt'];
    expect(rows()).toEqual([mine, ['claude', 'a task', 'x.txt']]);
    for (const words of [
      ['--since', soon(30).toISOString()],
      ['-n', '1'],
    ])
      expect(rows(...words)).toEqual([mine]);
  });

  test('a sync is no turn, with conflicts or by rebase, and the work before it is of who did it', () => {
    const { sandbox, repository } = sessionIn(one.repository, 'three');
    const agent = agentIn(sandbox, 'claude-code', 'c');
    agent.says('a task');
    agent.begins('t1');
    write(join(sandbox, 'a.txt'), 'agent\n');
    agent.ends('t1');
    git(sandbox, 'commit', '-qam', 'by the agent');
    write(join(sandbox, 'mine.txt'), 'm\n');
    const landsOnMain = (path: string) => {
      write(join(repository, path), `${path}\n`);
      git(repository, 'add', path);
      git(repository, 'commit', '-qm', path);
    };
    landsOnMain('main.txt');
    agtOk(repository, 'sync', 'three');
    landsOnMain('a.txt');
    for (const words of [[], ['--rebase']]) {
      expect(agt(repository, 'sync', 'three', ...words).exitCode).toBe(1);
      agtOk(repository, 'undo', 'three');
    }
    agtOk(repository, 'autocommit', 'three');
    const rows = activity(repository).filter(({ session_id }) => session_id === 'three');
    expect(rows.map(({ agent, files }) => [agent, files.map(({ path }) => path)])).toEqual([
      [null, ['mine.txt']],
      ['claude', ['a.txt']],
    ]);
  });

  test('--everywhere takes a time in no repository as well, and names folders', () => {
    const folder = makeTempDir('notes');
    write(join(folder, 'a'), 'a\n');
    agtOk(folder, 'snapshot', '--label', 'mine');
    const entries = activity('/', '--everywhere', '--since', '1 hour ago');
    expect(entries).toContainEqual(expect.objectContaining({ folder, repository: null, session_id: null }));
  });

  test('lists turns with their files, those of ended sessions as well', () => {
    const expected = [
      ['one', 'fix the login', 'modified a.txt,added new.txt'],
      ['two', 'mine', 'added b.txt'],
    ];
    expect(told(activity(one.repository)).toSorted()).toEqual(expected);
    agtOk(one.repository, 'accept', 'one', '--untracked=all');
    agtOk(one.repository, 'remove', 'two');
    const turns = () => activity(one.repository).filter(({ outcome }) => outcome === null);
    expect(told(turns()).toSorted()).toEqual(expected);
    git(one.repository, 'commit', '-q', '--allow-empty', '-m', 'x\n\nAgt-Session: one');
    expect(told(turns()).toSorted()).toEqual(expected);
  });

  test('says what has landed, in part or in whole, and what was rejected', () => {
    const { repository } = one;
    const head = () => git(repository, 'rev-parse', 'HEAD');
    agtOk(repository, 'accept', 'one', '--keep', '--include', 'a.txt');
    const part = head();
    agtOk(repository, 'accept', 'one', '--untracked=all');
    const whole = head();
    agtOk(repository, 'reject', 'two', '-m', 'breaks the API');
    const ends = () => activity(repository).filter(({ outcome }) => outcome !== null);
    const rows = [
      ['two', 'rejected', null, null, 'breaks the API'],
      ['one', 'accepted', whole, 'main', null],
      ['one', 'accepted-in-part', part, 'main', null],
    ];
    const facts = () => ends().map((end) => [end.session_id, end.outcome, end.commit, end.onto, end.reason]);
    expect(facts()).toEqual(rows);
    const text = agtOk(repository, 'log', '--all-sessions');
    expect(text).toMatch(/ two +- +- +rejected: breaks the API\n/);
    expect(text).toContain(` accepted in part as ${part.slice(0, 10)} on main\n`);
    expect(activity(repository, '--since', new Date(Date.now() + 60_000).toISOString())).toEqual([]);
    agtOk(repository, 'undo', 'two');
    agtOk(repository, 'unaccept', 'one');
    expect(facts()).toEqual([['one', 'unaccepted', whole, 'main', null], ...rows.slice(1)]);
    const undone = agtOk(repository, 'activity');
    expect(undone).toContain(` unaccepted ${whole.slice(0, 10)} on main\n`);
    expect(undone).toContain(` accepted as ${whole.slice(0, 10)}; that commit is no longer on main\n`);
  });

  test('says by which commit work that has landed was reverted, and no more when that was reverted', () => {
    const { repository } = one;
    const head = () => git(repository, 'rev-parse', 'HEAD');
    agtOk(repository, 'accept', 'one', '--untracked=all');
    const landed = head();
    git(repository, 'revert', '--no-edit', landed);
    const reverted = head();
    const place = `as ${landed.slice(0, 10)} on main, reverted by ${reverted.slice(0, 10)}`;
    expect(agtOk(repository, 'log', '--all-sessions')).toContain(`accepted ${place}`);
    expect(agtOk(repository, 'list', '--all')).toContain(place);
    expect(agt(repository, 'unaccept', 'one').stderr).toContain('"main" has taken commit');
    const fate = () => activity(repository).find(({ outcome }) => outcome === 'accepted');
    expect(fate()).toMatchObject({ lost: false, reverted_by: reverted });
    git(repository, 'revert', '--no-edit', reverted);
    expect(fate()).toMatchObject({ lost: false, reverted_by: null });
  });

  test('a fork adds only what is its own', () => {
    agtOk(one.repository, 'fork', 'one', '--id', 'three');
    expect(activity(one.repository)).toHaveLength(2);
    write(join(sessionOfFork(), 'c.txt'), 'c\n');
    agtOk(one.repository, 'autocommit', 'three', '--label', 'own');
    const own = told(activity(one.repository)).filter(([id]) => id === 'three');
    expect(own).toEqual([['three', 'own', 'added c.txt']]);
  });

  const sessionOfFork = () => agtOk(one.repository, 'session', 'path', 'three');

  test('the list names the program that ran last, to which no work before it belongs', () => {
    agtOk(one.repository, 'run', 'two', '--', 'true');
    expect(activity(one.repository).map(({ agent }) => agent)).toEqual([null, null]);
    expect(agtOk(one.repository, 'list')).toMatch(/^two .* true /m);
  });

  test('names the agent before any other program', () => {
    const { repository } = one;
    const bin = makeTempDir();
    for (const name of ['codex', 'claude']) write(join(bin, name), '#!/bin/sh\n', 0o755);
    const named = (...words: string[]) => {
      agtOk(repository, 'run', 'one', '--', ...words);
      const rows = JSON.parse(agtOk(repository, 'list', '--json')) as { session_id: string; agent: string }[];
      return rows.find(({ session_id: id }) => id === 'one')?.agent;
    };
    expect(named('sh', '-c', 'true')).toBe('sh');
    const hook = (event: string) =>
      JSON.stringify({ hook_event_name: event, session_id: 'c1', cwd: one.sandbox });
    const call = `printf %s '${hook('UserPromptSubmit')}' | ${AGT} hook claude-code`;
    expect(named(join(bin, 'codex'))).toBe('codex');
    expect(named('true')).toBe('codex');
    expect(activity(repository).map(({ agent }) => agent)).toContain('codex');
    expect(named('sh', '-c', call)).toBe('claude');
    expect(named('sh', '-c', 'true')).toBe('claude');
  });

  test('a turn that began before --since is shown whole, as log --turns shows it', async () => {
    const session = newSession({ 'a.txt': 'a\n' }, 'long');
    const now = Date.now();
    const at = (hoursAgo: number, ...words: string[]) =>
      autocommitAt(session, new Date(now - hoursAgo * 3_600_000), { label: words.join(' ') });
    await at(9, 'prompt: the first');
    await at(8, 'prompt: the second');
    write(join(session.sandbox, 'old'), 'old\n');
    await at(7, 'old');
    write(join(session.sandbox, 'new'), 'new\n');
    await at(1, 'new');
    const since = ['--since', '2 hours ago', '--json'];
    expect(told(activity(session.repository, ...since))).toEqual([
      ['long', 'the second', 'added new,added old'],
    ]);
    const turns = JSON.parse(agtOk(session.sandbox, 'log', '--turns', ...since));
    expect(turns).toMatchObject([{ prompt: 'the second', files: [{ path: 'new' }, { path: 'old' }] }]);
  });

  test('--since and -n leave turns out; a time that is none is refused', () => {
    expect(activity(one.repository, '--since', '1 hour ago')).toHaveLength(2);
    expect(activity(one.repository, '-n', '1')).toHaveLength(1);
    expect(JSON.parse(agtOk(one.repository, 'activity', '--json'))).toEqual(activity(one.repository));
    expect(agtOk(one.repository, 'activity', '-n', '0')).toBe('');
    expect(agt(one.repository, 'activity', '--since', 'nonsense')).toMatchObject({ exitCode: 2, stdout: '' });
    expect(agt(one.repository, 'activity', '-n', '-1').stderr).toContain('invalid number of rows "-1"');
  });

  test('prints a table, with --stat the files', () => {
    const text = agtOk(one.repository, 'log', '--all-sessions', '--stat');
    expect(text.split('\n')[0]).toMatch(/^WHEN +SESSION +AGENT +FILES +WHAT$/);
    expect(text).toMatch(
      / one +- +2 +fix the login\n {4}M {2}\+1 -1 {2}a\.txt\n {4}A {2}\+1 -0 {2}new\.txt(\n|$)/,
    );
    expect(agtOk(makeRepository(), 'log', '--all-sessions')).toBe('no turns');
  });

  test('--everywhere: all repositories and folders, and one that is damaged hides no other', () => {
    const state = makeTempDir('state');
    const call = (cwd: string, ...words: string[]) =>
      run(AGT, words, { cwd, env: { XDG_STATE_HOME: state } });
    const other = makeRepository({ 'x.txt': 'x\n' });
    call(other, 'new', 'far');
    write(join(call(other, 'session', 'path', 'far').stdout.trim(), 'far.txt'), 'f\n');
    call(other, 'autocommit', 'far', '--label', 'far away');
    const folder = makeTempDir('notes');
    write(join(folder, 'note'), 'n\n');
    call(folder, 'snapshot', '--label', 'a note');
    const { stdout } = call('/', 'log', '--all-sessions', '--everywhere', '--json');
    const found = JSON.parse(stdout) as Entry[];
    const rows = told(found).map(([, what, files]) => `${what}: ${files}`);
    expect(rows.toSorted()).toEqual(['a note: added note', 'far away: added far.txt']);
    git(other, 'update-ref', '-d', 'HEAD');
    write(join(other, '.git', 'config'), '[broken\n');
    const after = call('/', 'log', '--all-sessions', '--everywhere');
    expect([after.stdout.includes('a note'), after.exitCode === 0]).toEqual([true, false]);
  });
});

test('a state directory that nobody may enter keeps no session from beginning', (context) => {
  const problem = permissionsProblem();
  context.skip(problem !== undefined, problem);
  const repository = makeRepository({ a: 'a\n' });
  const known = join(process.env['HOME'] ?? '', '.local/state/agt/repositories');
  mkdirSync(known, { recursive: true });
  const before = readdirSync(known);
  chmodSync(known, 0);
  expect(agtWithPermissions(repository, 'session', 'new', '--id', 's1')).toMatchObject({
    exitCode: 0,
    stderr: '',
  });
  chmodSync(known, 0o700);
  expect(readdirSync(known)).toEqual(before);
});
