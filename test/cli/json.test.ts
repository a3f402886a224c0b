/** docs/guide/json.md names every field of every JSON output, and no field has two meanings. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { toolEvent } from '../harness/front.ts';
import { autocommit, makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';

const documented = new Set(
  [
    ...readFileSync(join(import.meta.dirname, '../../docs/guide/json.md'), 'utf8').matchAll(/`([a-z_]+)`/g),
  ].map(([, name]) => name),
);

/** Values that are maps with names of their own. */
const MAPS = ['set'];

function fieldsOf(value: unknown, found = new Map<string, unknown[]>()): Map<string, unknown[]> {
  if (Array.isArray(value)) for (const one of value) fieldsOf(one, found);
  else if (value !== null && typeof value === 'object') {
    for (const [name, inner] of Object.entries(value)) {
      found.set(name, [...(found.get(name) ?? []), inner]);
      if (!MAPS.includes(name)) fieldsOf(inner, found);
    }
  }
  return found;
}

test('every field of snapshots of a folder is documented', () => {
  const folder = makeTempDir('notes');
  write(join(folder, 'a'), 'a\n');
  const fields = new Map<string, unknown[]>();
  for (const command of ['snapshot status', 'snapshot', 'snapshot status', 'du --folders', 'gc --folders'])
    fieldsOf(JSON.parse(agtOk(folder, ...command.split(' '), '--json')), fields);
  expect([...fields.keys()].filter((name) => !documented.has(name))).toEqual([]);
});

test('every field is documented; commits, times and branches have their forms', () => {
  const session = makeSession({ 'a.txt': 'a\n' });
  const { repository, sandbox } = session;
  autocommit(session);
  git(repository, 'clone', '-q', '--bare', '.', '../remote.git');
  git(repository, 'remote', 'add', 'origin', '../remote.git');
  write(join(repository, 'mine.txt'), 'of the user\n');
  write(join(sandbox, 'a.txt'), 'b\n');
  write(join(sandbox, 'new.txt'), 'n\n');
  git(sandbox, 'commit', '-q', '-a', '-m', 'of the agent');
  const commands = [
    'autocommit --session-id s1 --label one',
    'new s2 --with-changes',
    'fork s1 --id s3',
    'list',
    'session show s1',
    'status',
    'session log s1 --stat',
    'session diff s1 --base',
    'undo s1 --dry-run',
    'undo s1',
    'redo s1',
    'session restore s1 --to @{0}',
    'session export s1 --as exported --allow-dirty',
    'session sync s1',
    'accept s3 --dry-run',
    'accept s3 -m message',
    'session unaccept s3',
    'reject s3',
    'remove s2',
    'list --all',
    'session sweep --dry-run',
    'session env s1',
    'du',
    'gc --dry-run',
    'gc',
    'doctor',
    'config list',
  ];
  const fields = new Map<string, unknown[]>();
  const failures: string[] = [];
  for (const command of commands) {
    const outcome = agt(repository, ...command.split(' '), '--json');
    if (/^[[{]/.test(outcome.stdout)) fieldsOf(JSON.parse(outcome.stdout), fields);
    else failures.push(`${command}: ${outcome.stderr}`);
  }
  expect(failures).toEqual([]);
  expect([...fields.keys()].filter((name) => !documented.has(name))).toEqual([]);
  const forms: [RegExp, RegExp][] = [
    [/(^|_)at$/, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/],
    [/(^|_)commit$|^snapshot$|^onto_before$|^undone$/, /^[0-9a-f]{40}$/],
    [/_branch$/, /^refs\/heads\//],
    [/^(branch|head|onto)$/, /^(?!refs\/)/],
    [/^status$/, /^(added|modified|deleted|mode|blocked)$/],
    [/^session_id$/, /^s\d$/],
  ];
  for (const [name, values] of fields) {
    for (const [names, form] of forms.filter(([names]) => names.test(name)))
      for (const value of values.filter((one) => one !== null))
        expect(value, `${name} ${names}`).toMatch(form);
  }
  expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
});

test('all sessions have the same fields, in each command that prints them', () => {
  const session = makeSession({ 'a.txt': 'a\n' });
  const { repository, sandbox } = session;
  write(join(sandbox, 'a.txt'), 'b\n');
  autocommit(session);
  git(repository, 'checkout', '-q', '--detach');
  agtOk(repository, 'new', 's2');
  agtOk(repository, 'new', 's3');
  agtOk(repository, 'reject', 's3', '--reason', 'x');
  agtOk(repository, 'accept', 's1');
  const ask = (...words: string[]) => [JSON.parse(agtOk(repository, ...words, '--json'))].flat() as object[];
  const listed = ask('list', '--all');
  const fields = new Set(listed.flatMap(Object.keys));
  const lacking = (entries: readonly object[], names: ReadonlySet<string>) =>
    entries.map((entry) => [...names].filter((name) => !(name in entry)));
  expect(lacking(listed, fields)).toEqual([[], [], []]);
  expect([...fields]).toEqual(expect.arrayContaining(['user_branch', 'landed', 'state_reason', 'owner']));
  const others = [...ask('session', 'show', 's2'), ...ask('status').flatMap((all) => Object(all).sessions)];
  expect(lacking(others, fields)).toEqual([['new_hunks'], ['new_hunks']]);
  const turns = ask('log', '--all-sessions');
  expect(lacking(turns, new Set(turns.flatMap(Object.keys))).flat()).toEqual([]);
});

test('last_activity_at moves with snapshots and with events of the agent', async () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const last = () => {
    const [one] = JSON.parse(agtOk(repository, 'list', '--json'));
    expect(JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json')).last_activity_at).toBe(
      one.last_activity_at,
    );
    return Date.parse(one.last_activity_at);
  };
  const begun = last();
  await sleep(1100);
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'autocommit', 's1');
  const captured = last();
  expect(captured).toBeGreaterThan(begun);
  await sleep(1100);
  const input = toolEvent(sandbox, { hook_event_name: 'UserPromptSubmit', prompt: 'do it' });
  run(AGT, ['hook', 'claude-code'], { cwd: sandbox, input });
  expect(last()).toBeGreaterThan(captured);
});

test('a failure has the next step, as on standard error', () => {
  const home = makeTempDir('home');
  write(join(home, 'a'), 'a\n');
  const env = { HOME: home, XDG_STATE_HOME: undefined };
  const { exitCode, stdout, stderr } = run(AGT, ['snapshot', '--json'], { cwd: home, env });
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([
    1,
    {
      refused: `agt does not snapshot your home directory ("${home}")`,
      hints: ['change to the folder that the agent works on'],
    },
  ]);
  expect(stderr).toContain('\nhint: change to the folder that the agent works on\n');
  const session = makeSession();
  rmSync(session.folder, { recursive: true });
  const all = agt(session.repository, 'autocommit', '--all', '--json');
  const hints = [...all.stderr.matchAll(/^hint: (.*)$/gm)].map(([, hint]) => hint);
  expect(hints).not.toEqual([]);
  expect(JSON.parse(all.stdout)).toEqual([
    { session_id: 's1', outcome: 'failed', error: expect.stringContaining('is gone'), hints },
  ]);
});

const WRONG = [
  'list --json --colour',
  'list --json --sort',
  'remove --jsn --json',
  'session fail s1 --json',
  'config set --json',
  'redo --json -- README.md',
  'session restore s1 --json --',
  'session nothing --json',
  'snapshots --json',
];

test.each(WRONG)('a command line that agt does not understand: %s', (line) => {
  const repository = makeRepository();
  const wrong = agt(repository, ...line.split(' '));
  expect(wrong.exitCode).toBe(2);
  const { error, hints } = JSON.parse(wrong.stdout);
  expect(wrong.stderr).toBe(
    [`error: ${error}`, ...hints.map((hint: string) => `hint: ${hint}`), ''].join('\n'),
  );
  const plain = line.split(' ').filter((word) => word !== '--json');
  expect(agt(repository, ...plain).stdout).toBe('');
  expect(agt(repository, ...plain, '--', '--json').stdout).toBe('');
});

test('diff --stat has the numbers of lines', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\nc\n');
  write(join(sandbox, 'b'), 'binary\0');
  const diff = (...words: string[]) =>
    JSON.parse(agtOk(repository, 'session', 'diff', 's1', '--base', '--json', ...words));
  expect(diff('--stat')).toMatchObject([
    { path: 'a', insertions: 2, deletions: 1 },
    { path: 'b', insertions: null, deletions: null },
  ]);
  for (const row of diff()) expect(row).not.toHaveProperty('insertions');
});
