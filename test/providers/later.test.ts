/** `agt autocommit --later`: agt freezes the folder and returns; the next capture of the session reads what it froze. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { frozenView } from '../../src/providers/moment.ts';
import { attack } from '../crash/aftermath.ts';
import { btrfsProblem, type Disk, fillDisk, mountBtrfs } from '../harness/disks.ts';
import {
  autocommit,
  makeSession,
  manifestOf,
  sessionIn,
  sessionOf,
  type TestSession,
} from '../harness/session.ts';
import { agt, agtOk, git, makeRepositoryAt, makeTempDir, write } from '../harness/world.ts';

const problem = btrfsProblem();
const program = [process.execPath, join(import.meta.dirname, '../../dist/failure-points/main.cjs')];

test('where nothing can be frozen, agt captures at once; options that need a scan are refused', () => {
  const session = makeSession({ a: 'a\n' });
  write(join(session.sandbox, 'b'), 'b\n');
  expect(autocommit(session, '--later').outcome).toBe('committed');
  const { exitCode, stderr } = agt(session.repository, 'autocommit', 's1', '--later', '--dry-run');
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--later or --dry-run')]);
});

describe.skipIf(problem !== undefined)(`btrfs${problem === undefined ? '' : ` (${problem})`}`, () => {
  let disk: Disk;
  let repository: string;
  let session: TestSession;

  beforeAll(() => {
    disk = mountBtrfs();
    process.env['XDG_STATE_HOME'] = makeTempDir('state');
    repository = makeRepositoryAt(join(disk.path, 'project'), { a: 'first\n' });
    session = sessionIn(repository);
    autocommit(session);
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  const log = () =>
    git(repository, 'log', '--first-parent', '--reverse', '--format=%H %ct %s', 'main..agtsessions/s1')
      .split('\n')
      .map((line) => line.split(' '));
  const content = (commit: string | undefined, path: string) => git(repository, 'show', `${commit}:${path}`);
  const frozen = () =>
    readdirSync(join(`${repository}.agt`, 'frozen')).filter((name) => name.startsWith('moment'));

  test('the next capture has each moment as it was, in order, with its index, HEAD, label and time', () => {
    const before = log().length;
    write(join(session.sandbox, 'a'), 'staged\n');
    git(session.sandbox, 'add', 'a');
    write(join(session.sandbox, 'a'), 'one\n');
    const answer = agtOk(repository, 'autocommit', 's1', '--later', '--label', 'one', '--json');
    expect(JSON.parse(answer)).toEqual({ session_id: 's1', outcome: 'frozen', commit: null });
    git(session.sandbox, 'commit', '-q', '-am', 'by the agent');
    write(join(session.sandbox, 'a'), 'two\n');
    write(join(session.sandbox, 'new'), 'new\n');
    expect(agtOk(repository, 'autocommit', 's1', '--later')).toBe(
      's1: frozen, to be captured by the next autocommit',
    );
    rmSync(join(session.sandbox, 'new'));
    write(join(session.sandbox, 'a'), 'three\n');
    expect(log()).toHaveLength(before);
    expect(agtOk(repository, 'session', 'show', 's1')).toMatch(/^not captured yet +2 frozen moments$/m);
    expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
    expect(autocommit(session).changes.map(({ path }) => path)).toEqual(['sandbox/a', 'sandbox/new']);
    const made = log().slice(before);
    const [one, two, three] = made.map(([commit]) => commit);
    expect(made).toHaveLength(3);
    expect([one, two, three].map((commit) => content(commit, 'sandbox/a'))).toEqual(['one', 'two', 'three']);
    expect([made[0]?.[2], content(two, 'sandbox/new')]).toEqual(['one', 'new']);
    expect([content(one, '_/staged/a'), content(two, '_/staged/a')]).toEqual(['staged', 'one']);
    const [main, head] = [git(repository, 'rev-parse', 'main'), git(session.sandbox, 'rev-parse', 'HEAD')];
    expect([one, two].map((commit) => manifestOf(session, commit).head.commit)).toEqual([main, head]);
    expect(Number(made[0]?.[1])).toBeLessThanOrEqual(Number(made[1]?.[1]));
    const owner = { session_id: 's1', sandbox: session.sandbox };
    const hasView = (commit = '') => frozenView(join(repository, '.git/agt'), owner, commit) !== undefined;
    expect([one, two, three].map(hasView)).toEqual([true, true, false]);
    expect(git(session.sandbox, 'status', '--porcelain')).toBe(' M a');
    expect(autocommit(session).outcome).toBe('unchanged');
    git(repository, 'fsck', '--strict');
  });

  test('commands on snapshots know a moment that waits', () => {
    const a = join(session.sandbox, 'a');
    write(a, 'waits\n');
    agtOk(repository, 'autocommit', 's1', '--later', '--label', 'waits');
    write(a, 'not captured\n');
    const dry = agtOk(repository, 'undo', 's1', '--dry-run');
    expect(log().at(-1)?.[2]).toBe('waits');
    expect(dry).toContain(log().at(-1)?.[0]?.slice(0, 10));
    agtOk(repository, 'session', 'restore', 's1', '--to', 'waits');
    expect(readFileSync(a, 'utf8')).toBe('waits\n');
    write(a, 'once more\n');
    agtOk(repository, 'autocommit', 's1', '--later');
    expect(agtOk(repository, 'session', 'cat', 's1', '@:a')).toBe('once more');
    agtOk(repository, 'session', 'fork', 's1', '--at', '@', '--id', 'f1');
    expect(readFileSync(join(sessionOf(repository, 'f1').sandbox, 'a'), 'utf8')).toBe('once more\n');
    agtOk(repository, 'session', 'remove', 'f1');
  });

  test('on a full disk the other snapshots can be read', () => {
    write(join(session.sandbox, 'a'), 'waits for room\n');
    agtOk(repository, 'autocommit', 's1', '--later');
    const empty = fillDisk(disk, true);
    const { exitCode, stdout, stderr } = agt(repository, 'session', 'cat', 's1', '@:a');
    empty();
    expect([exitCode, stdout]).toEqual([0, 'once more\n']);
    expect(stderr).toMatch(/^warning: s1: agt could not capture what waits: .*\n$/);
    expect(agtOk(repository, 'session', 'cat', 's1', '@:a')).toBe('waits for room');
  });

  test('a removal captures what waits; agt names a moment that somebody has deleted', () => {
    write(join(session.sandbox, 'a'), 'waits\n');
    agtOk(repository, 'autocommit', 's1', '--later');
    write(join(session.sandbox, 'a'), 'after\n');
    agtOk(repository, 'session', 'remove', 's1');
    const texts = log()
      .slice(-2)
      .map(([commit]) => content(commit, 'sandbox/a'));
    expect([texts, frozen()]).toEqual([['waits', 'after'], []]);
    agtOk(repository, 'session', 'restore', 's1', '--to', '@');
    write(join(session.sandbox, 'a'), 'lost\n');
    agtOk(repository, 'autocommit', 's1', '--later');
    for (const name of frozen())
      spawnSync('btrfs', ['subvolume', 'delete', join(`${repository}.agt`, 'frozen', name)]);
    writeFileSync(join(session.sandbox, 'a'), 'goes on\n');
    const next = agt(repository, 'autocommit', 's1');
    const warning = /^warning: s1: the folder that agt froze at .* is gone/;
    expect([next.exitCode, next.stderr]).toEqual([0, expect.stringMatching(warning)]);
    expect(autocommit(session).warnings).toEqual([]);
  });

  test.each(['moment: frozen#1', 'later: recorded#1', 'later: captured#1', 'capture: refs moved#1'])(
    'killed at "%s", agt loses nothing that it has said to have frozen',
    { timeout: 60_000 },
    async (point) => {
      const place = { repository, sandbox: session.sandbox };
      const isLater = /frozen|recorded/.test(point);
      write(join(session.sandbox, 'a'), `${point}\n`);
      if (!isLater) agtOk(repository, 'autocommit', 's1', '--later');
      const command = ['autocommit', 's1', ...(isLater ? ['--later'] : [])];
      expect(await attack(place, command, { program, env: { AGT_TEST_KILL_AT: point } })).toBe('SIGKILL');
      write(join(session.sandbox, 'a'), 'later\n');
      agtOk(repository, 'doctor', '--fix');
      agtOk(repository, 'autocommit', 's1');
      const texts = log()
        .slice(-2)
        .map(([commit]) => content(commit, 'sandbox/a'));
      expect(texts.at(-1)).toBe('later');
      if (point !== 'moment: frozen#1') expect(texts[0]).toBe(point);
      expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
    },
  );
});
