/** A session in one file: for a colleague, or to attach to a pull request. */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { findObjects } from '../../src/git/objects/object-reader.ts';
import { openGit } from '../../src/git/run/git.ts';
import { openPart, takePack, takePart } from '../../src/travel/parts.ts';
import { sessionOf } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { chain, factsOf, makeTwo, withoutKey, workIn } from './two.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

const FIRST_LINE = 'agt session 1\n';

const fileIn = (repository: string) => join(repository, '../s1.agt');

test('the file has every moment, and the session goes on in both repositories', () => {
  const { here, there } = makeTwo();
  const session = workIn(here);
  const before = factsOf(session);
  const moments = chain(session);
  const file = fileIn(here);
  expect(agtOk(here, 'session', 'bundle', 's1', file)).toMatch(/s1\.agt has s1 \(3 snapshots, [\d.]+ KiB\)$/);
  expect(agtOk(there, 'session', 'open', file, '--dry-run')).toBe('would open s1 (3 snapshots)');
  expect(existsSync(sessionOf(there, 's1').folder)).toBe(false);
  expect(agtOk(there, 'session', 'open', file)).toMatch(/^opened s1 \(3 snapshots\)\nsandbox {2}\//);
  const moved = sessionOf(there, 's1');
  expect(factsOf(moved)).toEqual(before);
  expect(chain(moved).slice(0, 3)).toEqual(moments);
  agtOk(there, 'restore', 's1', 'before the commit');
  expect(agt(there, 'session', 'accept', 's1', '--untracked=all').stderr).toBe('');
  expect(agtOk(here, 'session', 'list')).toMatch(/^s1 +active /m);
  expect(agtOk(there, 'doctor')).toContain('nothing is wrong');
  // As a pull does it.
  expect(agtOk(there, 'activity')).toContain('(pulled) ');
  const again = agt(there, 'session', 'open', file);
  expect([again.exitCode, again.stderr]).toEqual([
    1,
    `error: session "s1" is here already\nhint: open it under another id: agt session open ${file} --as ID\n`,
  ]);
  const opened = JSON.parse(agtOk(there, 'session', 'open', file, '--as', 's2', '--json'));
  expect(opened).toMatchObject({ session_id: 's2', from: null, file, snapshots: 3 });
  expect(factsOf(sessionOf(there, 's2')).files).toEqual(before['files']);
});

test('it leaves out what a clone has, and names what is missing; --whole has all', () => {
  const { here } = makeTwo();
  write(join(here, 'large'), randomBytes(20_000));
  git(here, 'add', '-A');
  git(here, 'commit', '-q', '-m', 'large');
  git(here, 'push', '-q', 'origin', 'main');
  workIn(here);
  const [small, whole] = [fileIn(here), join(here, '../whole.agt')];
  const { requires } = JSON.parse(agtOk(here, 'session', 'bundle', 's1', small, '--json'));
  const head = git(here, 'rev-parse', 'main');
  expect(requires).toEqual([head]);
  agtOk(here, 'session', 'bundle', 's1', whole, '--whole');
  expect(statSync(whole).size).toBeGreaterThan(statSync(small).size + 5000);
  const other = makeTempDir();
  git(other, 'init', '-q', '-b', 'main');
  git(other, 'commit', '-q', '--allow-empty', '-m', 'other');
  const refused = agt(other, 'session', 'open', small);
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(
        `^error: \\S+s1\\.agt builds on commit ${head}, which is not here\nhint: .*: git fetch\nhint: .*--whole\n$`,
      ),
    ),
  ]);
  agtOk(other, 'session', 'open', whole);
  expect(git(sessionOf(other, 's1').sandbox, 'log', '--format=%s')).toBe('by the agent\nlarge\nfirst');
});

test('a file that is damaged, of another format or for others: one line, and nothing changes', () => {
  const { here, there } = makeTwo();
  workIn(here);
  const file = fileIn(here);
  agtOk(here, 'session', 'bundle', 's1', file);
  const content = readFileSync(file);
  const plain = join(here, '../plain.agt');
  agtOk(here, 'session', 'bundle', 's1', plain, '--plain');
  const broken = join(here, '../broken.agt');
  const outcome = (bytes: Buffer | string) => {
    write(broken, bytes);
    const { exitCode, stderr } = agt(there, 'session', 'open', broken);
    return [exitCode, stderr.split('\n')[0]?.replace(broken, 'FILE')];
  };
  const damaged = [1, 'error: FILE is damaged, or a part of it is missing'];
  for (const all of [content, readFileSync(plain)])
    for (const length of [20, 300, Math.floor(all.length / 2), all.length - 1])
      expect([length, ...outcome(all.subarray(0, length))]).toEqual([length, ...damaged]);
  const changed = Buffer.from(content);
  changed[content.length - 100]! ^= 1;
  expect(outcome(changed)).toEqual(damaged);
  expect(outcome('')).toEqual([1, 'error: FILE is no session of agt']);
  expect(outcome('something else\n')).toEqual([1, 'error: FILE is no session of agt']);
  expect(outcome('agt session 2 10\n')).toEqual([
    1,
    'error: FILE has version 2 of this format, which this agt cannot read',
  ]);
  withoutKey(() => {
    expect(outcome(content)).toEqual([1, 'error: you have no key yet']);
    agtOk(there, 'key', 'new');
    expect(outcome(content)).toEqual([1, 'error: FILE is encrypted for other keys']);
  });
  expect(agtOk(there, 'session', 'list', '--all')).not.toContain('s1');
  expect(git(there, 'for-each-ref', 'refs/agt')).toBe('');
  agtOk(there, 'session', 'open', file);
});

test('a pack is complete with its last byte, although the end of the file comes later', async () => {
  const { here, there } = makeTwo();
  workIn(here);
  const file = fileIn(here);
  agtOk(here, 'session', 'bundle', 's1', file, '--plain');
  const content = readFileSync(file);
  const slowly = async function* () {
    yield content.subarray(FIRST_LINE.length);
    await sleep(2000);
  };
  const { first, pack } = await openPart(undefined, Readable.from(slowly()));
  await takePack(openGit(REAL_GIT, there, process.env), pack);
  const tips = Object.values((first as { refs: Record<string, string> }).refs);
  expect(tips.map((tip) => git(there, 'cat-file', '-t', tip))).toEqual(tips.map(() => 'commit'));
  expect(tips.length).toBeGreaterThan(0);
});

test('what comes after the pack of a part is not taken for the next answer of git', async () => {
  const { here, there } = makeTwo();
  workIn(here);
  const file = fileIn(here);
  agtOk(here, 'session', 'bundle', 's1', file, '--plain');
  const content = readFileSync(file);
  const input = Buffer.concat([content.subarray(FIRST_LINE.length), Buffer.alloc(5_000_000, 'x\n')]);
  const from = (words: string[], text: string | Buffer) =>
    run(REAL_GIT, words, { cwd: there, input: text }).stdout.trim();
  const blob = from(['hash-object', '-w', '--stdin'], input);
  const tree = from(['mktree'], `100644 blob ${blob}\tpart\n`);
  const commit = git(there, 'commit-tree', '-m', 'part', tree);
  const own = openGit(REAL_GIT, there, process.env);
  await takePart(own, undefined, { commit, text: '' }).catch(() => undefined);
  expect((await findObjects(own, ['HEAD'])).map((object) => object?.oid)).toEqual([
    git(there, 'rev-parse', 'HEAD'),
  ]);
});

test('it replaces no file without --force, and follows no link', () => {
  const { here } = makeTwo();
  workIn(here);
  const parent = dirname(here);
  const [file, link, target] = [fileIn(here), join(parent, 'link'), join(parent, 'target')];
  write(file, 'mine\n');
  write(target, 'of the user\n');
  symlinkSync(target, link);
  for (const path of [file, link]) {
    const refused = agt(here, 'session', 'bundle', 's1', path);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      `error: ${path} exists already\nhint: to replace it: --force\n`,
    ]);
    agtOk(here, 'session', 'bundle', 's1', path, '--force');
    expect(lstatSync(path).isFile()).toBe(true);
    expect(readFileSync(path, 'latin1')).toMatch(/^agt session 1\nage-encryption/);
  }
  expect(readFileSync(target, 'utf8')).toBe('of the user\n');
  expect(agt(here, 'session', 'bundle', 's1', parent, '--force').stderr).toContain('is a directory\n');
  const lost = agt(here, 'session', 'bundle', 's1', join(parent, 'no/such/x.agt'));
  expect(lost.stderr).toMatch(/^error: cannot write \S+x\.agt: no such file or directory\n$/);
  expect(readdirSync(parent).filter((name) => name.startsWith('.agt'))).toEqual([]);
});

test('--plain needs no key and has neither ignored files nor secrets; --html is a page to read', () => {
  const { here, there } = makeTwo();
  const session = workIn(here);
  const file = fileIn(here);
  withoutKey(() => {
    write(join(session.sandbox, 'a.txt'), `ghp_${'a1B2'.repeat(9)}\n`);
    const refused = agt(here, 'session', 'bundle', 's1', file, '--plain');
    expect(refused.stderr).toMatch(
      /^error: 1 secret would leave session "s1" in plain text, and nothing was sent\n/,
    );
    expect(existsSync(file)).toBe(false);
    agtOk(here, 'session', 'bundle', 's1', file, '--plain', '--allow-secrets');
    agtOk(there, 'session', 'open', file);
  });
  expect(existsSync(join(sessionOf(there, 's1').sandbox, '.env'))).toBe(false);
});

test('--html is a page to read, of a session that has ended as well, and no secret stands in it anywhere', () => {
  const { here } = makeTwo();
  const { sandbox } = workIn(here);
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const value = 'sup3rs3cretvalue99';
  write(join(sandbox, '.env'), `API_KEY=${value}\n`);
  write(join(sandbox, 'a.txt'), `token=${token}\nand "${value}" in thé file\n`);
  agtOk(here, 'autocommit', 's1', '--label', `with ${token}`);
  const prompt = {
    hook_event_name: 'UserPromptSubmit',
    session_id: 'c',
    cwd: sandbox,
    prompt: `use ${value}`,
  };
  expect(run(AGT, ['hook', 'claude-code'], { cwd: sandbox, input: JSON.stringify(prompt) }).exitCode).toBe(0);
  write(join(sandbox, 'b.txt'), 'done\n');
  agtOk(here, 'autocommit', 's1');
  for (const isOver of [false, true]) {
    if (isOver) agtOk(here, 'session', 'reject', 's1');
    const page = join(here, `../${isOver}.html`);
    agtOk(here, 'session', 'bundle', 's1', page, '--html');
    const text = readFileSync(page, 'utf8');
    expect(text).toMatch(/^<!doctype html>/i);
    expect(text).toContain('and \\"***\\" in thé file');
    for (const secret of [token, value]) expect(text.includes(secret), secret).toBe(false);
  }
});

test('a lost key is not replaced in silence', () => {
  const { here } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1');
  withoutKey(() => {
    const lost = agt(here, 'session', 'bundle', 's1', fileIn(here));
    expect(lost).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error: your key, with which "origin" has the session, is not in /),
    });
  });
});

test('agt session open means the session if both have the name', () => {
  const { here } = makeTwo();
  workIn(here);
  write(join(here, 's1'), 'no session\n');
  process.env['EDITOR'] = 'true';
  expect(agt(here, 'session', 'open', 's1')).toMatchObject({ exitCode: 0, stderr: '' });
  delete process.env['EDITOR'];
  expect(agt(here, 'session', 'open', './s1').stderr).toContain('s1 is no session of agt\n');
  expect(agt(here, 'session', 'open', '../no.agt').stderr).toMatch(/^error: there is no file "..\/no.agt"\n/);
  expect(agt(here, 'session', 'open', 'other', '--as', 'x').stderr).toContain('"other" is no file\n');
});

test('killed at any step: no file or a whole one, and the same command goes on', () => {
  const { here, there } = makeTwo();
  const session = workIn(here);
  const before = factsOf(session);
  const file = fileIn(here);
  agtOk(here, 'session', 'bundle', 's1', file);
  for (const point of ['pull: refs moved', 'pull: metadata written']) {
    const env = { AGT_TEST_KILL_AT: `${point}#1` };
    expect(run(process.execPath, [KILLABLE, 'session', 'open', file], { cwd: there, env }).exitCode).toBe(
      null,
    );
    agtOk(there, 'session', 'open', file);
    expect(factsOf(sessionOf(there, 's1'))).toEqual(before);
    agtOk(there, 'session', 'remove', 's1', '--force', '--delete-branch');
  }
  const env = { AGT_TEST_KILL_AT: 'bundle: written#1' };
  const words = [KILLABLE, 'session', 'bundle', 's1', file, '--force'];
  const content = readFileSync(file);
  expect(run(process.execPath, words, { cwd: here, env }).exitCode).toBe(null);
  expect(readFileSync(file)).toEqual(content);
  agtOk(here, 'session', 'bundle', 's1', file, '--force');
  expect(readdirSync(dirname(file)).filter((name) => name.startsWith('.agt'))).toEqual([]);
});
