/** agt blame and agt why of files that had other names. */
import { appendFileSync, copyFileSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

test('agt why shows the step also of a file that had another name then', () => {
  const { repository, sandbox, id } = makeSession({ f: 'f\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  const names = ['one', 'two', 'three', 'four'];
  for (const [turn, name] of names.entries()) {
    agent.says(name);
    agent.begins(name);
    if (turn === 0) writeFileSync(join(sandbox, name), 'first line\nsecond line\n');
    else renameSync(join(sandbox, names[turn - 1] ?? ''), join(sandbox, name));
    if (name === 'four') appendFileSync(join(sandbox, name), 'third line\n');
    agent.ends(name);
  }
  agent.stops();
  agtOk(repository, 'accept', id, '--untracked=all');
  const story = agtOk(repository, 'why', 'four:2');
  expect(story).toContain('prompt  one\n');
  expect(story).toContain('+++ b/one\n');
  expect(story).toContain('+second line');
  expect(agtOk(repository, 'why', 'four:3')).toContain('rename from three\nrename to four\n');
});

test('a file that has another name now is renamed, and not deleted', () => {
  const { sandbox } = makeSession({ 'd/f': 'first line\nsecond line\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('rename it');
  agent.begins('1');
  renameSync(join(sandbox, 'd/f'), join(sandbox, 'g'));
  agent.ends('1');
  for (const [words, cwd, to] of [
    [['blame', 'd/f'], sandbox, 'g'],
    [['why', 'f:2'], join(sandbox, 'd'), '../g'],
  ] as const) {
    mkdirSync(cwd, { recursive: true });
    expect(agt(cwd, ...words).stderr).toMatch(
      new RegExp(`\nhint: step \\w{10} renamed it to ${to}: claude s1 turn 1 Bash\nhint: to bring it back: `),
    );
  }
});

test('kept commits between which a file was renamed have the lines of its last name', () => {
  const { repository, sandbox, id } = makeSession({ f: 'f\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('prompt');
  for (const step of [0, 1, 2, 3]) {
    agent.begins(`${step}`);
    const added = Array.from(
      { length: step === 0 ? 20 : 8 },
      (_, i) => `a line of step ${step}, ${i}\n`,
    ).join('');
    if (step > 0) renameSync(join(sandbox, `name${step - 1}`), join(sandbox, `name${step}`));
    appendFileSync(join(sandbox, `name${step}`), added);
    git(sandbox, 'add', '-A');
    git(sandbox, 'commit', '-qm', `step ${step}`);
    agent.ends(`${step}`);
  }
  agent.stops();
  agtOk(repository, 'accept', id, '--keep-commits');
  const lines = JSON.parse(agtOk(repository, 'blame', '--json', 'name3')) as {
    content: string;
    origin: { call: string } | null;
  }[];
  expect(lines).toHaveLength(44);
  for (const { content, origin } of lines) expect(content).toContain(`step ${origin?.call},`);
});

test('a copy is of the one who copied it, a renamed file of its writer: on the branch, and without a snapshot', () => {
  const { repository, sandbox, id } = makeSession({ f: 'f\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('prompt');
  agent.begins('one');
  writeFileSync(join(sandbox, 'of-agent'), Array.from({ length: 12 }, (_, i) => `line ${i}\n`).join(''));
  agent.ends('one');
  const authorsOf = (name: string) => {
    const lines = JSON.parse(agtOk(sandbox, 'blame', '--json', name)) as { origin: { by: string } | null }[];
    return [...new Set(lines.map(({ origin }) => origin?.by ?? 'nobody'))];
  };
  agtOk(repository, 'accept', id, '--keep', '--untracked=all');
  copyFileSync(join(repository, 'of-agent'), join(repository, 'on-branch'));
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', 'a copy');
  agtOk(repository, 'sync', id);
  expect(authorsOf('on-branch')).toEqual(['nobody']);
  copyFileSync(join(sandbox, 'of-agent'), join(sandbox, 'new-copy'));
  expect(authorsOf('new-copy')).toEqual(['nobody']);
  renameSync(join(sandbox, 'of-agent'), join(sandbox, 'renamed'));
  expect(authorsOf('renamed')).toEqual(['agent']);
});

test('a link on the disk does not lead blame of a revision astray', () => {
  const { sandbox } = makeSession({ f: 'f\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('work');
  agent.begins('1');
  mkdirSync(join(sandbox, 'lib'));
  writeFileSync(join(sandbox, 'lib/a'), 'a\n');
  git(sandbox, 'add', 'lib');
  git(sandbox, 'commit', '-qm', 'lib');
  agent.ends('1');
  renameSync(join(sandbox, 'lib'), join(sandbox, 'new'));
  symlinkSync('new', join(sandbox, 'lib'));
  expect(agtOk(sandbox, 'blame', 'HEAD', 'lib/a')).toContain('(claude s1 turn 1');
});

test('a name that is not UTF-8, in a session and after it', () => {
  const { repository, sandbox, id } = makeSession({ f: 'f\n' });
  const name = Buffer.from(`${sandbox}/b\xff\n`, 'latin1');
  writeFileSync(name, 'of a person\n');
  agtOk(sandbox, 'autocommit');
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('add a line');
  agent.begins('1');
  appendFileSync(name, 'of the agent\n');
  agent.ends('1');
  agent.stops();
  expect(JSON.parse(agtOk(sandbox, 'review', '--json'))).toMatchObject([
    { path: expect.stringMatching(/^b.+\n$/), turns: [1] },
  ]);
  const accepted = agt(repository, 'accept', id, '--untracked=all');
  expect([accepted.exitCode, accepted.stderr]).toEqual([0, expect.not.stringContaining('warning')]);
  renameSync(Buffer.from(`${repository}/b\xff\n`, 'latin1'), join(repository, 'g'));
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', 'rename it');
  expect(agtOk(repository, 'why', 'g:1')).toContain(`by      you or an agent in ${id}\n`);
  expect(agtOk(repository, 'why', 'g:2')).toContain('prompt  add a line\n');
});
