/** What an acceptance and the diff after it tell of a session: its own work, and nothing else. */
import { appendFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

test('the message has no prompt that was only a question', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  for (const prompt of ['Explain it', 'Add B', 'Thanks']) {
    agent.says(prompt);
    if (prompt === 'Add B') {
      agent.begins('1');
      write(join(sandbox, 'a'), 'b\n');
      agent.ends('1');
    }
    agent.stops();
  }
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'log', '-1', '--format=%B')).toBe('Add B\n\nAgt-Session: s1\n');
});

test('the message has a prompt only if lines of its turn land', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `${i}\n`);
  const { repository, sandbox } = makeSession({ a: lines.join('') });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  const turn = (prompt: string, act: () => void) => {
    agent.says(prompt);
    agent.begins(prompt);
    act();
    agent.ends(prompt);
    agent.stops();
  };
  const put = (name: string, text: string) => write(join(sandbox, name), text);
  const change = (line: number) => {
    lines[line] = 'new\n';
    put('a', lines.join(''));
  };
  const told = (...words: string[]) => {
    agtOk(repository, 'accept', 's1', '--keep', ...words);
    return git(repository, 'log', '-1', '--format=%s');
  };
  turn('Reject me', () => change(3));
  turn('Add C', () => put('c', 'c\n'));
  turn('Change A', () => change(20));
  turn('Remove C', () => rmSync(join(sandbox, 'c')));
  turn('Add D', () => put('d', 'd\n'));
  turn('Rename D', () => renameSync(join(sandbox, 'd'), join(sandbox, 'e')));
  agtOk(repository, 'review', 's1', '--reject', 'a:4', '-m', 'no', '--tell');
  expect(told()).toBe('Change A; Add D; Rename D');
  turn('Add F and G', () => {
    put('f', 'f\n');
    put('g', 'g\n');
  });
  expect(told('--include', 'f')).toBe('Part of session s1: f');
  turn('Add to F', () => put('f', 'f\nmore\n'));
  rmSync(join(sandbox, 'g'));
  expect(told()).toBe('Add to F');
  turn('Add H', () => put('h', 'h\n'));
  turn('Commit A', () => git(sandbox, 'commit', '-qm', 'A', 'a'));
  expect(told()).toBe('Add H');
});

test('the diff of a session that has ended has no work that came with a sync', () => {
  const { repository, sandbox } = makeSession({
    a: 'a\n',
    '.gitattributes': '*.bat eol=crlf\n',
    'a.bat': 'a\n',
  });
  write(join(repository, 'theirs'), 'theirs\n');
  write(join(repository, 'their.bat'), 'theirs\r\n');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', 'of the user');
  agtOk(repository, 'sync', 's1');
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'accept', 's1');
  expect(agtOk(repository, 'session', 'diff', 's1', '--name-only')).toBe('a');
  agtOk(repository, 'undo', 's1');
  agtOk(repository, 'remove', 's1', '--force');
  expect(agtOk(repository, 'session', 'diff', 's1', '--name-only')).toBe('a');
});

test('a conflict that a merge of the session has solved names that merge', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  write(join(sandbox, 'a'), 'agent\n');
  git(sandbox, 'commit', '-qam', 'agent');
  write(join(repository, 'a'), 'user\n');
  git(repository, 'commit', '-qam', 'user');
  expect(agt(repository, 'sync', 's1').exitCode).toBe(1);
  write(join(sandbox, 'a'), 'both\n');
  git(sandbox, 'commit', '-qam', 'solved');
  const merge = git(sandbox, 'rev-parse', 'HEAD').slice(0, 10);
  expect(agt(repository, 'accept', 's1', '--commits', 'main..agt/s1').stderr).toContain(
    `hint: or the merge ${merge} solves it, which --commits leaves out: `,
  );
  agtOk(repository, 'accept', 's1');
});

test('a turn of which one file was taken back is not undone, although later lines are in the rest', () => {
  const { sandbox } = makeSession({ a: '1\n2\n3\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  for (const prompt of ['one', 'two']) {
    agent.says(prompt);
    agent.begins('1');
    appendFileSync(join(sandbox, 'a'), `${prompt}\n`);
    if (prompt === 'one') write(join(sandbox, 'b'), 'b\n');
    agent.ends('1');
    agent.stops();
  }
  agtOk(sandbox, 'undo', '--turn', '1', '--', 'b');
  expect(agtOk(sandbox, 'log', '--turns')).not.toContain('(undone)');
});

test('the message names no commit of what had landed before it was committed', () => {
  const { repository, sandbox } = makeSession({ a: '1\n2\n3\n4\n5\n6\n7\n8\n9\n' });
  const change = (line: number) => {
    const lines = git(repository, '-C', sandbox, 'show', 'HEAD:a').split('\n');
    lines[line - 1] += ' new';
    write(join(sandbox, 'a'), `${lines.join('\n')}\n`);
  };
  change(1);
  agtOk(repository, 'accept', 's1', '--keep');
  git(sandbox, 'commit', '-qam', 'what has landed');
  change(9);
  git(sandbox, 'commit', '-qam', 'more');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('more');
});

test('nor of what had landed in part, and came back with a merge of the branch', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n' });
  for (const name of ['a', 'b']) write(join(sandbox, name), 'new\n');
  agtOk(repository, 'accept', 's1', '--keep', '--include', 'a');
  git(sandbox, 'commit', '-qm', 'only a', 'a');
  agtOk(repository, 'sync', 's1');
  git(sandbox, 'commit', '-qm', 'only b', 'b');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('only b');
});

test('the message names a commit whose file landed in part before another file did', () => {
  const lines = (first: string, last: string) => `${first}\n${'line\n'.repeat(20)}${last}\n`;
  const { repository, sandbox } = makeSession({ a: lines('a', 'z'), b: 'b\n' });
  for (const [name, text] of [
    ['A first', lines('A', 'z')],
    ['A last', lines('A', 'Z')],
  ] as const) {
    write(join(sandbox, 'a'), text);
    git(sandbox, 'commit', '-qam', name);
  }
  write(join(sandbox, 'b'), 'B\n');
  write(join(sandbox, 'new'), 'new\n');
  agtOk(repository, 'accept', 's1', '--commits', 'agt/s1~1', '--keep');
  agtOk(repository, 'accept', 's1', '--include', 'b', '--keep');
  agtOk(repository, 'accept', 's1', '--keep');
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('A last');
});

test('the message names a commit that changed a file which the branch has renamed', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n', b: '1\n2\n3\n4\n5\n6\n' });
  write(join(sandbox, 'c'), 'c\n');
  git(sandbox, 'add', 'c');
  git(sandbox, 'commit', '-qm', 'before');
  agtOk(repository, 'accept', 's1', '--keep');
  for (const name of ['a', 'b']) {
    appendFileSync(join(sandbox, name), 'more\n');
    git(sandbox, 'commit', '-qam', `in ${name}`);
  }
  git(repository, 'mv', 'b', 'z');
  git(repository, 'commit', '-qm', 'renamed');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('in a; in b');
});

test('the message counts the commits that it lists, and no merges', () => {
  const { repository, sandbox } = makeSession();
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'Mine');
  const subjects = ['one', 'two'].map((name) => `${name}: ${'a long subject '.repeat(4).trim()}`);
  for (const subject of subjects) {
    write(join(sandbox, subject.slice(0, 3)), subject);
    git(sandbox, 'add', '.');
    git(sandbox, 'commit', '-q', '-m', subject);
  }
  git(sandbox, 'merge', '-q', '--no-edit', 'main');
  expect(agtOk(repository, 'list')).toMatch(/^s1 +active +\+3 /m);
  agtOk(repository, 'accept', 's1');
  const lines = ['s1: 2 commits', '', ...subjects.map((subject) => `- ${subject}`)];
  expect(git(repository, 'log', '-1', '--format=%B')).toContain(lines.join('\n'));
});

test('an acceptance that takes back what the session has landed says so', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'autocommit', 's1');
  write(join(sandbox, 'new'), 'new\n');
  agtOk(repository, 'accept', 's1', '--untracked=all');
  const commit = git(repository, 'rev-parse', '--short=10', 'HEAD');
  const told = () => /^warning: (takes back .*)$/m.exec(agt(repository, 'accept', 's1', '-n').stderr)?.[1];
  agtOk(repository, 'undo', 's1');
  write(join(sandbox, 'later'), 'later\n');
  git(sandbox, 'add', '.');
  expect(told()).toBe(undefined);
  rmSync(join(sandbox, 'new'));
  expect(told()).toBe(`takes back in new what this session has landed as ${commit}`);
  write(join(sandbox, 'a'), 'a\n');
  expect(told()).toContain('takes back in a, new what');
});

test('so does one that takes back some lines of a file, but not one that changes them again', () => {
  const { repository, sandbox } = makeSession({ a: '1\n2\n3\n' });
  for (const text of ['one\n1\n2\n3\n', 'one\n1\n2\n3\ntwo\n']) {
    write(join(sandbox, 'a'), text);
    agtOk(repository, 'autocommit', 's1');
  }
  agtOk(repository, 'accept', 's1', '--keep');
  const warnings = () => agt(repository, 'accept', 's1', '-n').stderr;
  write(join(sandbox, 'a'), 'one\n2\n3\ntwo\n');
  expect(warnings()).toBe('');
  write(join(sandbox, 'a'), 'one\n1\n2\n3\n');
  expect(warnings()).toMatch(/^warning: takes back in a what this session has landed as \w+\n$/);
});

test('the second of two commits in one file takes nothing back', () => {
  const { repository, sandbox } = makeSession({ a: '1\n2\n3\n4\n5\n' });
  for (const text of ['one\n2\n3\n4\n5\n', 'one\n2\n3\n4\nfive\n']) {
    write(join(sandbox, 'a'), text);
    git(sandbox, 'commit', '-q', '-a', '-m', text);
  }
  agtOk(repository, 'accept', 's1', '--commits', 'agt/s1~1', '--keep');
  expect(agt(repository, 'accept', 's1').stderr).toBe('');
});

test('no file is left out that the branch has by another commit', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n', c: 'c\n' });
  write(join(sandbox, 'a'), 'agent\n');
  git(sandbox, 'commit', '-qam', 'a');
  write(join(sandbox, 'b'), 'agent\n');
  write(join(sandbox, 'c'), 'agent\n');
  git(repository, 'cherry-pick', '-x', 'agt/s1');
  expect(agtOk(repository, 'accept', 's1', '--keep', '--include', 'b')).toContain('\nleft out c\n');
  expect(agtOk(repository, 'accept', 's1', '--include', 'c')).not.toContain('left out');
  expect(agtOk(repository, 'list', '--all')).not.toContain('in part');
});

test('what landed before it was committed is not left out of --committed-only', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n' });
  write(join(sandbox, 'a'), 'agent\n');
  git(sandbox, 'commit', '-qam', 'a');
  write(join(sandbox, 'b'), 'agent\n');
  agtOk(repository, 'accept', 's1', '--keep', '--include', 'b');
  expect(agtOk(repository, 'accept', 's1', '--committed-only')).not.toContain('left out');
});

test('after the sync of a squash by the user, the message names the commits since', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const commit = (name: string) => {
    write(join(sandbox, name), name);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', `add ${name}`);
  };
  const message = () => agtOk(repository, 'accept', 's1', '-n').match(/add \d/g);
  for (const name of ['1', '2']) commit(name);
  write(join(repository, 'a'), 'mine\n');
  git(repository, 'commit', '-qam', 'mine');
  git(repository, 'merge', '-q', '--squash', 'agt/s1');
  git(repository, 'commit', '-qm', 'All of it');
  commit('3');
  expect(message()).toEqual(['add 3']);
  agtOk(repository, 'sync', 's1');
  expect(message()).toEqual(['add 3']);
});
