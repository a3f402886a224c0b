/** Commands that agt advises about another directory work where the user reads them. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sessionIn } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';

const env = { PATH: `${dirname(AGT)}:${process.env['PATH']}` };
const paste = (command: string) => run('sh', ['-c', command], { cwd: '/', env });

/** Each repository is the only one that agt knows. */
beforeEach(() => {
  process.env['XDG_STATE_HOME'] = makeTempDir();
});
afterEach(() => {
  delete process.env['XDG_STATE_HOME'];
});

/** The commands in what agt says, each with -C. */
function advised(...words: string[]): string[] {
  const { stdout, stderr } = agt('/', ...words);
  const text = stdout + stderr;
  expect(text).not.toMatch(/[:;(] ?agt (?!-C )(list|doctor|session|snapshot|git|config|new|redo|du|undo)\b/);
  return [...text.matchAll(/agt -C [^:;)\n]*/g)].map(([command]) => command.trim());
}

test.each(['doctor --everywhere', 'status --everywhere', 'doctor', 'status', 'list', 'list --everywhere'])(
  'sessions that have moved: agt %s names the command that connects them',
  (line) => {
    const before = makeRepository({ a: 'a\n' });
    sessionIn(before, 's1');
    const moved = join(makeTempDir(), "it's $& moved");
    renameSync(before, moved);
    renameSync(`${before}.agt`, `${moved}.agt`);
    agt(moved, 'list');
    const words = line.includes('--everywhere') ? line.split(' ') : ['-C', moved, line];
    const command = advised(...words).find((one) => one.endsWith(' doctor --fix')) ?? '';
    if (!line.startsWith('list'))
      expect(agt('/', ...words, '--json').stdout).toContain(`"mend": ${JSON.stringify(command)}`);
    expect(agt(moved, 'doctor', '--fix', '--dry-run').stdout).toMatch(/^ +agt doctor --fix would fix this$/m);
    expect(paste(command)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('fixed: ') });
    expect(agtOk(moved, 'list')).toMatch(/^s1 +active/m);
  },
);

test('agt status, du and gc of another repository: what each advises', () => {
  const [repository, remote] = [makeRepository({ a: 'a\n' }), makeTempDir()];
  git(remote, 'init', '-q', '--bare');
  git(repository, 'remote', 'add', 'backup', remote);
  for (const id of ['s1', 's2']) write(join(sessionIn(repository, id).sandbox, 'new'), id);
  agtOk(repository, 'session', 'push', 's1', 'backup', '--plain');
  agtOk(repository, 'autocommit', 's2');
  agtOk(repository, 'snapshot');
  writeFileSync(join(repository, 'a'), 'changed\n');
  for (const words of [
    ['status', '--everywhere'],
    ['-C', repository, 'status'],
  ]) {
    const commands = advised(...words);
    const diff = commands.find((one) => one.endsWith('snapshot diff')) ?? '';
    expect(paste(diff)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('+changed') });
    expect(commands).toContain(`agt -C ${repository} session push --all`);
  }
  expect(advised('-C', repository, 'du')).toEqual([`agt -C ${repository} du --folders`]);
  expect(advised('-C', repository, 'gc').every((one) => paste(one).exitCode === 0)).toBe(true);
  const undone = agtOk('/', '-C', repository, 'undo', 's1');
  const [, redo = ''] = /^to take this back: (.*)$/m.exec(undone) ?? [];
  const sandbox = agtOk(repository, 'session', 'path', 's1');
  expect(existsSync(join(sandbox, 'new'))).toBe(false);
  expect(paste(redo).exitCode).toBe(0);
  expect(readFileSync(join(sandbox, 'new'), 'utf8')).toBe('s1');
});

test('a refusal: its hint works as text and as JSON, and is plain where the user is', () => {
  const repository = makeRepository({ a: 'a\n' });
  const { sandbox } = sessionIn(repository, 's1');
  const there = `agt -C ${repository}`;
  const hint = (cwd: string, ...words: string[]) => /^hint: (.*)$/m.exec(agt(cwd, ...words).stderr)?.[1];
  expect(hint('/', '-C', repository, 'list', 's1')).toBe(`see: ${there} session show s1`);
  expect(hint(repository, '-C', '.', 'list', 's1')).toBe('see: agt session show s1');
  expect(hint('/', '-C', repository, 'restor', 's1')).toBe(`did you mean: ${there} restore?`);
  const { stdout } = agt('/', '-C', repository, 'list', 's1', '--json');
  expect(JSON.parse(stdout).hints).toEqual([`see: ${there} session show s1`]);
  write(join(sandbox, 'said'), 'x');
  agtOk(repository, 'autocommit', 's1', '--label', 'says: agt list');
  expect(agtOk('/', '-C', repository, 'session', 'log', 's1')).toContain('says: agt list');
});
