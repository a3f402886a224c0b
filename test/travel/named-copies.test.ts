/** The copy that a word names is the one that goes or comes; a copy with nothing in it is worth nothing. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';
import { makeTwo, type Two } from './two.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

interface Listed {
  readonly session_id: string;
  readonly share: string;
  readonly repository: string;
  readonly snapshots: number;
}

const listed = (repository: string): Listed[] =>
  JSON.parse(agtOk(repository, 'list', '--remote', 'origin', '--json'));

const shareOf = (repository: string, owner: string): string =>
  listed(repository).find((one) => one.repository === owner)?.share ?? '';

function begin(repository: string, id: string, ...more: string[]): void {
  agtOk(repository, 'session', 'new', '--id', id);
  write(join(sessionOf(repository, id).sandbox, id), `${repository}\n`);
  agtOk(repository, 'session', 'push', id, ...more);
}

const sharedFile = (repository: string, id: string) => join(repository, '.git/agt/shared', `${id}.json`);

test('of two copies that a session knows on one remote, the one that is named goes, also by its beginning', () => {
  const { here, there } = makeTwo();
  for (const repository of [here, there]) begin(repository, 'x');
  const mine = shareOf(here, here);
  for (const length of [8, 20]) {
    agtOk(there, 'session', 'push', 'x');
    const [own, more] = [here, there].map((path) => JSON.parse(readFileSync(sharedFile(path, 'x'), 'utf8')));
    // An earlier agt wrote such a file.
    writeFileSync(
      sharedFile(here, 'x'),
      JSON.stringify({ ...own, others: [{ ...more, others: undefined }] }),
    );
    const other = shareOf(here, there);
    agtOk(here, 'session', 'push', other.slice(0, length), 'origin', '--delete');
    expect(listed(here)).toMatchObject([{ share: mine }]);
    expect(agt(here, 'session', 'push', other, 'origin', '--delete').stderr).toContain('there is no session');
  }
  expect(agtOk(here, 'session', 'push', 'x')).toBe('origin has all of x');
});

test('a word that is an id here and the beginning of a copy names none', () => {
  const { here, there } = makeTwo();
  begin(here, 'x');
  const share = shareOf(here, here);
  const word = share.slice(0, 9);
  begin(there, word);
  const before = listed(here);
  for (const words of [
    ['push', word, '--delete'],
    ['push', word, 'origin', '--delete', '--force'],
    ['pull', word],
  ])
    expect(agt(there, 'session', ...words)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`2 sessions on origin are named "${word}"`),
    });
  expect(listed(here)).toEqual(before);
  agtOk(there, 'session', 'push', shareOf(here, there), 'origin', '--delete');
  expect(listed(here)).toMatchObject([{ share }]);
});

test('a pull as a session that is here takes the copy that is named, and no other', () => {
  const { here, there } = makeTwo();
  for (const repository of [here, there]) begin(repository, 'x');
  const before = listed(here);
  expect(agt(there, 'session', 'pull', shareOf(here, here), '--as', 'x', '--take').stderr).toMatch(
    /^error: session "x" is another one here\n/,
  );
  expect(agt(there, 'session', 'pull', 'nothing', '--as', 'x').stderr).toContain('no session "nothing"');
  expect(listed(here)).toEqual(before);
});

test('a copy that a killed pull has only seen is not of the next session with this id', () => {
  const { here, there } = makeTwo();
  begin(here, 'x');
  const before = listed(here);
  const kill = (point: string, ...words: string[]) =>
    run(process.execPath, [KILLABLE, 'session', ...words], { cwd: there, env: { AGT_TEST_KILL_AT: point } });
  expect(kill('pull: written down#1', 'pull', 'x', '--take').exitCode).toBe(null);
  const seen = readFileSync(sharedFile(there, 'x'));
  agtOk(there, 'session', 'new', '--id', 'x');
  expect(agt(there, 'session', 'push', 'x', '--delete').stderr).toContain('has no copy');
  writeFileSync(sharedFile(there, 'x'), seen);
  expect(agt(there, 'session', 'push', 'x', '--delete').stderr).toContain('is not of this repository');
  expect(listed(here)).toEqual(before);
  agtOk(there, 'session', 'remove', 'x', '--delete-branch');
  begin(there, 'x');
  // The same words end a deletion that was killed.
  for (const name of ['x', shareOf(here, there)]) {
    agtOk(there, 'session', 'push', 'x');
    const words = ['push', name === 'x' ? 'x' : shareOf(here, there), 'origin', '--delete'];
    expect(kill('delete: copy gone#1', ...words).exitCode).toBe(null);
    expect(agtOk(there, 'session', ...words)).toContain('deleted the copy of');
    expect(agt(there, 'session', 'push', 'x', 'origin', '--delete').stderr).toContain('has no copy');
  }
  expect(listed(here)).toEqual(before);
});

/** As an earlier agt left one: a head without snapshots and parts. */
function addGhost({ remote }: Two): string {
  const share = '9248f5700ae4612a6dbf';
  const head = git(remote, 'for-each-ref', '--format=%(objectname)', 'refs/agt/shared/*/head');
  const text = inflateSync(execFileSync(REAL_GIT, ['cat-file', 'blob', head], { cwd: remote })).toString();
  const ghost = { ...JSON.parse(text), refs: {}, parts: '', snapshots: 0, size: 0 };
  const input = deflateSync(JSON.stringify(ghost));
  const words = ['hash-object', '-w', '--stdin'];
  const blob = execFileSync(REAL_GIT, words, { cwd: remote, input }).toString().trim();
  git(remote, 'update-ref', `refs/agt/shared/${share}/head`, blob);
  return share;
}

test('a copy without a snapshot does not hide another one, and no pull takes it', () => {
  const two = makeTwo();
  const { here, there, remote } = two;
  begin(here, 'x', '--plain');
  const good = shareOf(here, here);
  const ghost = addGhost(two);
  // As it knew the ghost alone.
  const known = JSON.parse(readFileSync(sharedFile(here, 'x'), 'utf8'));
  const head = git(remote, 'rev-parse', `refs/agt/shared/${ghost}/head`);
  agtOk(here, 'session', 'remove', 'x', '--delete-branch', '--force');
  writeFileSync(sharedFile(here, 'x'), JSON.stringify({ ...known, share: ghost, head, parts: [], refs: {} }));
  const refs = git(remote, 'for-each-ref');
  for (const repository of [here, there]) {
    const { exitCode, stderr } = agt(repository, 'session', 'pull', 'x', '--take');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: 2 sessions on origin are named "x"\n/);
    expect(stderr).toContain(`, in ${here}, without a snapshot: agt session pull ${ghost} `);
    const refused = agt(repository, 'session', 'pull', ghost, '--take', '--as', 'y').stderr;
    expect(refused).toMatch(/^error: "origin" has lost a part of the session, or damaged it\n/);
    expect(agtOk(repository, 'list', '--all', '--json')).toBe('[]');
  }
  expect(git(remote, 'for-each-ref')).toBe(refs);
  agtOk(here, 'session', 'push', ghost, 'origin', '--delete');
  expect(listed(here)).toMatchObject([{ share: good }]);
  agtOk(here, 'session', 'pull', 'x');
  expect(readFileSync(join(sessionOf(here, 'x').sandbox, 'x'), 'utf8')).toBe(`${here}\n`);
});

test('a pull that cannot make the folder, or seal the head, takes nothing', () => {
  const { here, there, remote } = makeTwo();
  begin(here, 'x');
  const refs = git(remote, 'for-each-ref');
  write(join(there, '../a file'), '');
  agtOk(there, 'config', 'set', 'agt.sessionsDir', join(there, '../a file'));
  expect(agt(there, 'session', 'pull', 'x', '--take').stderr).toContain('cannot make session folders');
  agtOk(there, 'config', 'unset', 'agt.sessionsDir');
  const settings = join(process.env['HOME'] ?? '', '.agtconfig');
  write(settings, '[agt]\n\trecipients = age1nobody\n');
  const refused = agt(there, 'session', 'pull', 'x', '--take').stderr;
  rmSync(settings);
  expect(refused).toContain('"age1nobody" in agt.recipients');
  expect(existsSync(sharedFile(there, 'x'))).toBe(false);
  expect(git(remote, 'for-each-ref')).toBe(refs);
  expect(agtOk(there, 'list', '--all', '--json')).toBe('[]');
});

test('a session without a snapshot is not sent', () => {
  const { here, remote } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 'x');
  rmSync(sessionOf(here, 'x').folder, { recursive: true });
  agtOk(here, 'session', 'remove', 'x', '--force');
  for (const words of [
    ['push', 'x'],
    ['bundle', 'x', join(here, '../x.agt')],
  ])
    expect(agt(here, 'session', ...words).stderr).toContain('has no snapshot to send');
  expect(git(remote, 'for-each-ref', 'refs/agt')).toBe('');
});
