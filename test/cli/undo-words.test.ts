/** In a terminal, undo and redo in a folder name the files and the work that went or came back. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { makeFolder } from './turns-in-folder.ts';

test("the commits that a sync has brought are nobody's own changes", () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  const call = (name: string) => {
    agent.begins(name);
    write(join(sandbox, name), name);
    agent.ends(name);
  };
  agent.says('work');
  call('one');
  write(join(repository, 'a'), 'main\n');
  git(repository, 'commit', '-qam', 'main');
  agtOk(sandbox, 'sync');
  call('two');
  agtOk(sandbox, 'undo');
  const undo = agt(sandbox, 'undo');
  expect([undo.stderr, readFileSync(join(sandbox, 'a'), 'utf8')]).toEqual(['', 'a\n']);
});

test('files, and the call or the turn', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', '1\n'));
  turn('two', edit('two', '2\n'));
  turn('three', () => {
    for (const n of [1, 2, 3, 4, 5, 6]) write(join(folder, `many/${n}`), 'x\n');
  });
  const files = [1, 2, 3, 4, 5].map((n) => `many/${n}`);
  const named = (kind: string) => files.map((file) => `  ${kind} ${file}\n`).join('');
  expect(agtOk(folder, 'undo')).toMatch(
    `: restored 6 paths, verified\n${named('D')}  and 1 more\nundone: (Bash: do 3)\nnow at `,
  );
  expect(agtOk(folder, 'undo')).toContain('verified\n  D two\nundone: (Bash: do 2)\nnow at ');
  expect(agtOk(folder, 'redo', '2')).toContain(
    `${named('A')}  and 2 more\nredone: (Bash: do 2), (Bash: do 3)\nnow at `,
  );
  expect(agtOk(folder, 'undo', '--turn', '2')).toMatch(
    /verified\n {2}D two\nundone: turn "two", and nothing else\nto take this back: /,
  );
  const refused = agt(folder, 'redo', '--turns');
  expect(refused.stderr).toContain('\nhint: to bring turn 2 back: agt undo\n');
  expect(agtOk(folder, 'undo', '--turn')).toContain(
    'and 1 more\nundone: turn "three", and nothing else\nto take this back: ',
  );
  expect(agt(folder, 'redo').stderr).toContain('\nhint: to bring turn 3 back: agt undo\n');
  expect(agtOk(folder, 'undo', '--turn', '1', '--', 'a')).toContain(
    'undone: turn "one" in a, and nothing else\n',
  );
  expect(agtOk(folder, 'undo')).toContain('\nundone: "undo of turn 1 in a"\nnow at "undo of turn 3", ');
});

test('a warning of own changes says whether work of the agent goes with them', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', '1\n'));
  git(folder, 'commit', '-qam', 'of a person');
  write(join(folder, 'b'), 'own\n');
  const alone = 'warning: that takes back your own changes, or those of another program: b (';
  for (const words of [['-n'], []]) expect(agt(folder, 'undo', ...words).stderr).toContain(alone);
  write(join(folder, 'b'), 'own\n');
  const both = 'warning: that takes back your own changes, too, or those of another program: b (';
  for (const words of [['-n'], []]) expect(agt(folder, 'undo', '2', ...words).stderr).toContain(both);
});

test('a warning of own changes names none that an earlier undo took back', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', 'a\nb\n'));
  write(join(folder, 'a'), 'a\nb\nown\n');
  agtOk(folder, 'undo');
  for (const words of [['-n'], []]) expect(agt(folder, 'undo', ...words).stderr).toBe('');
});

test('the hint for an own deletion that an undo takes back says that it deletes', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', '1\n'), edit('b', '1\n'));
  rmSync(join(folder, 'a'));
  expect(agt(folder, 'undo', '2', '-n').stderr).toContain(': a (deleted since the last snapshot)\n');
  turn('two', edit('b', '2\n'));
  const { stderr } = agt(folder, 'undo', '2');
  const [, command = ''] =
    /: a \(deleted in \w+\)\nhint: to delete one again: (rm -r .*a)\n/.exec(stderr) ?? [];
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('1\n');
  expect(run('/bin/sh', ['-c', command], { cwd: folder }).exitCode).toBe(0);
  expect(existsSync(join(folder, 'a'))).toBe(false);
});

test('an undo names a branch from which a person has dropped commits, and none with new ones', () => {
  const { folder, turn, edit } = makeFolder();
  for (const name of ['c', 'd']) {
    write(join(folder, name), 'own\n');
    git(folder, 'add', name);
    git(folder, 'commit', '-qm', name);
  }
  turn('one', edit('e', '1\n'));
  git(folder, 'commit', '--allow-empty', '-qm', 'new');
  for (const words of [['-n'], []]) expect(agt(folder, 'undo', ...words).stderr).toBe('');
  agtOk(folder, 'redo');
  git(folder, 'reset', '-q', '--hard', 'HEAD~2');
  const stays =
    /^warning: branch main stays at \w+: you or another program moved it since; .*\nnote: left as your branch has it, .*: d\n$/;
  for (const words of [['-n'], []]) expect(agt(folder, 'undo', ...words).stderr).toMatch(stays);
});

test('by turn, own files after a restore are no turn: the undo takes the restore back and names them', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', '1\n'), edit('a', '2\n'));
  agtOk(folder, 'restore', '@{1}');
  write(join(folder, 'mine'), 'mine\n');
  turn('two', edit('b', '2\n'));
  expect(agtOk(folder, 'undo', '--turn')).toContain('undone: turn "two", and all since\n');
  const undo = agt(folder, 'undo', '--turn');
  expect(undo.stdout).toMatch(/ {2}M a\n {2}D mine\nundone: \(restored \w+\)\n/);
  expect(undo.stderr).toMatch(/^warning: that takes back your own changes, .*: mine \(in \w+\)\nhint: /);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('2\n');
  agtOk(folder, 'redo', '--turns');
  expect([readFileSync(join(folder, 'a'), 'utf8'), existsSync(join(folder, 'mine'))]).toEqual(['1\n', true]);
});

test('by turn, restores count and are named with the turns', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', '1\n'));
  turn('two', edit('b', '2\n'));
  agtOk(folder, 'restore', '@{2}');
  expect(agt(folder, 'undo', '--turns', '4').stderr).toMatch(
    /^error: cannot undo 4 turns: after 3 of them, nothing earlier in "\S+" would change anything\nhint: .* --turns\n/,
  );
  const all = (first: string, second: string) => `: 2 turns, "${first}", "${second}", \\(restored \\w+\\)`;
  expect(agtOk(folder, 'undo', '--turns', '3')).toMatch(
    new RegExp(`\nundone${all('two', 'one')}, and all since\n`),
  );
  expect(agtOk(folder, 'redo', '--turns', '3')).toMatch(new RegExp(`\nredone${all('one', 'two')}\n`));
});

test('an undo names the repository that it brings back', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', '1\n'));
  turn('clean', () => rmSync(join(folder, '.git'), { recursive: true }));
  expect(agtOk(folder, 'undo', '--turn', '-n')).toMatch(
    /^\S+: would restore the repository to \w+\nwould be undone: turn "clean", and all since$/,
  );
  expect(agtOk(folder, 'undo', '--turn')).toMatch(
    /^\S+: restored the repository, verified\nundone: turn "clean", and all since\n/,
  );
});

test('a redo says that it deletes no repository', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', '1\n'), () => rmSync(join(folder, '.git'), { recursive: true }));
  const stays = 'warning: the repository stays: the snapshot has none, and agt deletes no .git\n';
  agtOk(folder, 'undo', '--turn');
  for (const words of [['-n'], []]) expect(agt(folder, 'redo', '--turns', ...words).stderr).toContain(stays);
  agtOk(folder, 'undo', '--turn');
  expect(agt(folder, 'redo').stderr).not.toContain('stays');
  expect(agt(folder, 'redo')).toMatchObject({
    stderr: expect.stringContaining(stays),
    stdout: expect.stringContaining('restored 0 paths, verified\nnothing could be redone of: (Bash: do 2)\n'),
  });
  expect(git(folder, 'rev-parse', '--is-inside-work-tree')).toBe('true');
});

test('after an undo that was taken back, a dry run of a turn shows an edit since, and all that the turn did', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', '1\n'));
  turn('two', edit('t', '2\n'));
  agtOk(folder, 'undo', '--turn', '2');
  agtOk(folder, 'undo');
  write(join(folder, 's'), 'own\n');
  const shown = agt(folder, 'undo', '--turn', '-n');
  expect(shown.stdout).toMatch(/^D s\nD t\n/);
  const undo = agt(folder, 'undo', '--turn');
  expect(undo.stdout).toContain('verified\n  D s\n  D t\n');
  for (const { stderr } of [shown, undo]) expect(stderr).toContain('your own changes');
});

test('a question after an undo is no turn that a redo brings back', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('b', 'B\n'));
  agtOk(folder, 'undo', '--turn');
  agentIn(folder, 'claude-code', 'c-1').says('a question');
  expect(agtOk(folder, 'redo', '--turns', '-n')).toMatch(/would be redone: turn "one"$/);
  expect(agtOk(folder, 'redo', '--turns')).toContain('redone: turn "one"\n');
  expect(agtOk(folder, 'undo', '--turn')).toContain('undone: turn "one", and all since\n');
});

test('a turn is not undone if the person has put it back by hand; an agent that does the same has another turn', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('b', 'B\n'));
  agtOk(folder, 'undo');
  turn('two', edit('b', 'B\n'));
  expect(agtOk(folder, 'log', '--turns')).toMatch(/ two\n.* \(undone\) one$/);
  agtOk(folder, 'undo', '--turn');
  edit('b', 'B\n')();
  expect(agt(folder, 'undo', '--turn').stderr).toMatch(/ has no turn left to take back by time\n/);
  expect(agtOk(folder, 'log', '--turns')).not.toContain('(undone)');
});

test('a turn that the person has taken back by hand is passed over, and the dry run and the redo say which one is not', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('b', 'B\n'));
  turn('two', edit('new', 'new\n'));
  rmSync(join(folder, 'new'));
  expect(agtOk(folder, 'undo', '--turn', '-n')).toMatch(/^M b\n.*would restore 1 path to/);
  expect(agtOk(folder, 'undo', '--turn')).toContain('\n  M b\nundone: turn "one", and all since\n');
  expect(agtOk(folder, 'redo', '--turns')).toContain('\nredone: turn "one", with changes of turn "two"\n');
});

test.each([
  ['step', 'agt undo'],
  ['step 2', 'agt undo 2'],
  ['turn', 'agt undo --turns'],
  ['s1 turn 2', 'agt undo --turns s1 2'],
])('the words of a prompt, %s, are %s in a shell', (words, way) => {
  const { repository } = makeSession({ a: 'a\n' });
  expect(agt(repository, 'undo', ...words.split(' ')).stderr).toContain(`\nhint: in a shell: ${way}\n`);
});

test('an undo passes over a git reset that changed nothing', () => {
  const folder = makeRepository({ f: '1\n' });
  agtOk(folder, 'snapshot');
  write(join(folder, 'f'), '2\n');
  agtOk(folder, 'snapshot');
  git(folder, 'reset', '-q');
  expect(agtOk(folder, 'undo')).toContain('restored 1 path');
  expect(readFileSync(join(folder, 'f'), 'utf8')).toBe('1\n');
});

test.each(['', '*.bat eol=crlf\n'])('a prompt before any change is the start, and no step: %j', (rules) => {
  const { sandbox } = makeSession({ a: 'a\n', 'x.bat': 'x\n', '.gitattributes': rules });
  agentIn(sandbox, 'claude-code', 'c-1').says('begin');
  write(join(sandbox, 'a'), 'b\n');
  expect(agtOk(sandbox, 'undo')).toMatch(/^now at "prompt: begin", .*, step 0 of 1$/m);
  expect(agt(sandbox, 'undo').stderr).toContain('"s1" is at its start\n');
});

test('a redo that stops within a turn names its step, not the turn', () => {
  const { folder, turn, edit } = makeFolder();
  turn('Make two', edit('one', '1\n'), edit('two', '2\n'));
  agtOk(folder, 'undo', '--turn');
  agtOk(folder, 'redo');
  agtOk(folder, 'undo');
  expect(agtOk(folder, 'redo', '--turn')).toMatch(/\n {2}A one\nredone: \(Bash: do 1\)\nnow at /);
  const redone = agtOk(folder, 'redo', '--turn');
  expect(redone).toMatch(/\n {2}A two\nredone: turn "Make two"\n/);
  // An undo by turns would go back to the beginning of the turn.
  const [, back = ''] = /\nto take this back: agt (.*)$/.exec(redone) ?? [];
  expect(agtOk(folder, ...back.split(' '))).toMatch(/^\S+: restored 1 path, verified\n {2}D two\n/);
  expect(agt(folder, 'undo', '--turns', '0').stderr).toContain('hint: for example: agt undo --turns 2\n');
});

test('several steps that are undone or redone at once, of which one has a name', () => {
  const { folder } = makeFolder();
  agtOk(folder, 'snapshot');
  for (const [name, ...label] of [['one'], ['two', '--label', 'mine'], ['three']] as const) {
    write(join(folder, name), name);
    agtOk(folder, 'snapshot', ...label);
  }
  expect(agtOk(folder, 'undo', '3')).toContain('\nundone: "mine" and 2 other steps\nnow at ');
  expect(agtOk(folder, 'redo', '2')).toContain('\nredone: "mine" and 1 other step\nnow at ');
});

test('a stash that is popped and committed is past: nothing stays deleted, and the steps over it are named', () => {
  const { folder, turn, edit } = makeFolder();
  turn('Change a', edit('a', 'agent\n'));
  write(join(folder, 'b'), 'mine\n');
  agtOk(folder, 'snapshot');
  write(join(folder, 'b'), 'mine, too\n');
  agtOk(folder, 'snapshot');
  expect(agtOk(folder, 'undo', '2')).toContain(
    '\nundone: changes by you or another program and 1 other step\n',
  );
  agtOk(folder, 'redo', '2');
  git(folder, 'stash', 'push', '-q', 'b');
  agtOk(folder, 'snapshot');
  git(folder, 'stash', 'pop', '-q');
  git(folder, 'commit', '-qm', 'b', 'b');
  const undone = agt(folder, 'undo');
  expect(undone.stderr).toBe(
    'note: left as your branch has it, because commits since, or a switch of branches, changed it: b\n',
  );
  expect(undone.stdout).toMatch(
    /\nnow at .*, step 1 of \d \(\d steps skipped: an undo to them changes nothing\)\n/,
  );
});

test('by turns, where there are none, an undo says that it goes by steps', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  const undone = agt(repository, 'undo', 's1', '--turn');
  expect(undone.stderr).toBe('note: "s1" has no turns, so agt goes by steps\n');
  expect(undone.stdout).toMatch(/\nto take this back: agt redo s1$/m);
  expect(agt(repository, 'undo', 's1', '--turns').stderr).not.toContain('of earlier turns');
});
