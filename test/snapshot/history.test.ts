import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../src/config/settings.ts';
import { openGit } from '../../src/git/run/git.ts';
import { openRepository, type Repository } from '../../src/repository/repository.ts';
import type { SessionId } from '../../src/session/id.ts';
import { readRecord, type SessionRecord, snapshotRefs } from '../../src/session/record.ts';
import { readHistory } from '../../src/snapshot/history.ts';
import { parseTime, resolveSnapshot } from '../../src/snapshot/select.ts';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

const now = new Date('2026-11-20T12:00:00Z');

function open({ repository, id }: TestSession): { repository: Repository; record: SessionRecord } {
  const found = { commonDir: join(repository, '.git'), worktree: repository };
  const opened = openRepository(openGit(REAL_GIT, repository, process.env), found, (local) =>
    readSettings({ global: undefined, local }, process.env),
  );
  const record = readRecord(opened, id as SessionId);
  if (record === undefined) throw new Error(`no record of ${id}`);
  return { repository: opened, record };
}

/** Three states: labels `one`, none, `one two` by the tool `edit`. Newest last. */
function threeStates(): { session: TestSession; commits: string[] } {
  const session = makeSession();
  const commits = [['--label', 'one'], [], ['--label', ' one \t two ', '--tool', 'edit']].map(
    (options, i) => {
      write(join(session.sandbox, 'a'), `${i}\n`);
      return autocommit(session, ...options).commit ?? '';
    },
  );
  return { session, commits };
}

const history = async (session: TestSession) => {
  const { repository, record } = open(session);
  return readHistory(repository.git, snapshotRefs(record));
};

describe('the history of a session', () => {
  test('is its autocommits, newest first, without the commits that it started from', async () => {
    const { session, commits } = threeStates();
    const snapshots = await history(session);
    expect(snapshots.map(({ commit }) => commit)).toEqual(commits.toReversed());
    expect(snapshots.map(({ previous }) => previous)).toEqual([commits[1], commits[0], undefined]);
    expect(snapshots[0]).toMatchObject({
      session: 's1',
      label: 'one two',
      tool: 'edit',
      restored: undefined,
    });
    expect(snapshots[1]?.label).toBeUndefined();
    expect(snapshots[2]).toMatchObject({ label: 'one', head: git(session.repository, 'rev-parse', 'main') });
  });

  test('is empty before the first autocommit', async () => {
    expect(await history(makeSession())).toEqual([]);
  });

  test('is the same when somebody has moved or deleted the shadow branch', async () => {
    const { session, commits } = threeStates();
    git(session.repository, 'branch', '-f', 'agtsessions/s1', 'main');
    expect((await history(session)).map(({ commit }) => commit)).toEqual(commits.toReversed());
    git(session.repository, 'branch', '-D', 'agtsessions/s1');
    expect(await history(session)).toHaveLength(3);
  });

  test('of a fork goes on into the session that it came from', async () => {
    const { session, commits } = threeStates();
    agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    const fork = { ...session, id: 's2' };
    autocommit(fork, '--label', 'in the fork');
    const snapshots = await history(fork);
    expect(snapshots.map((snapshot) => snapshot.session)).toEqual(['s2', 's1', 's1', 's1', 's1']);
    expect(snapshots.slice(2).map(({ commit }) => commit)).toEqual(commits.toReversed());
  });

  test('leaves out commits of a user who is named like agt, or writes such trailers', async () => {
    const session = makeSession();
    const message = 'looks like one\n\nAgt-Session: s1';
    git(session.repository, 'commit', '-q', '--allow-empty', '-m', message, '--author=agt <xagt@local>');
    git(session.repository, 'commit', '-q', '--allow-empty', '-m', 'by agt', '--author=agt <agt@local>');
    git(session.repository, 'branch', '-f', 'other');
    agtOk(session.repository, 'session', 'new', '--id', 's2', '--from', 'other');
    const other = { ...session, id: 's2' };
    autocommit(other, '--label', 'mine');
    expect((await history(other)).map(({ label }) => label)).toEqual(['mine']);
  });
});

describe('the history is read the same', () => {
  test('under settings that change what git prints', async () => {
    const { session } = threeStates();
    write(join(session.sandbox, 'a'), 'é\n');
    autocommit(session, '--label', 'Agt-Session: é\u001f');
    const before = await history(session);
    expect(before[0]?.label).toBe('Agt-Session: é\u001f');
    const settings = {
      'trailer.separators': '#',
      'log.showSignature': 'true',
      'log.diffMerges': 'on',
      'log.date': 'relative',
      'log.decorate': 'full',
      'i18n.logOutputEncoding': 'latin1',
      'color.ui': 'always',
      'format.pretty': 'oneline',
      'core.quotePath': 'false',
    };
    for (const [name, value] of Object.entries(settings)) git(session.repository, 'config', name, value);
    expect(await history(session)).toEqual(before);
  });

  test('however long it is, and however long the history before it', async () => {
    const session = makeSession();
    const first = autocommit(session).commit ?? '';
    const main = git(session.repository, 'rev-parse', 'main');
    const commit = (n: number) => {
      const message = `agt autocommit\n\nAgt-Session: s1\nAgt-Label: ${n}\n`;
      const from = n === 1 ? first : `:${n - 1}`;
      const who = `agt <agt@local> ${2_000_000_000 + n} +0000`;
      return (
        `commit refs/agt/tip/s1\nmark :${n}\nauthor ${who}\ncommitter ${who}\n` +
        `data ${message.length}\n${message}from ${from}\nmerge ${main}\n\n`
      );
    };
    const input = Array.from({ length: 5000 }, (_, i) => commit(i + 1)).join('');
    run(REAL_GIT, ['fast-import', '--quiet', '--force'], { cwd: session.repository, input });
    const snapshots = await history(session);
    expect(snapshots).toHaveLength(5001);
    expect(snapshots.slice(0, -1).map(({ label }) => label)).toEqual(
      Array.from({ length: 5000 }, (_, i) => String(5000 - i)),
    );
    expect(snapshots.slice(0, -1).every(({ previous }, i) => previous === snapshots[i + 1]?.commit)).toBe(
      true,
    );
    expect(snapshots.at(-1)).toMatchObject({ commit: first, previous: undefined });
  });
});

describe('a state is named', () => {
  const named = (session: TestSession, spec: string, at = now) => {
    const { repository, record } = open(session);
    return resolveSnapshot(repository.git, snapshotRefs(record), spec, at).then(({ commit }) => commit);
  };

  test('by its place, its label, its commit, a revision of git, a time', async () => {
    const { session, commits } = threeStates();
    const [first = '', second = '', third = ''] = commits;
    const specs: [string, string][] = [
      ['@', third],
      ['@{0}', third],
      ['@{2}', first],
      ['one', first],
      ['one two', third],
      ['one   two', third],
      [second, second],
      [second.slice(0, 8), second],
      [second.slice(0, 8).toUpperCase(), second],
      ['agtsessions/s1~2', first],
      ['refs/agt/tip/s1^', second],
    ];
    for (const [spec, commit] of specs) expect([spec, await named(session, spec)]).toEqual([spec, commit]);
    const later = new Date(Date.now() + 3_600_000);
    expect(await named(session, '10 minutes ago', later)).toBe(third);
    expect(await named(session, '@{10 minutes ago}', later)).toBe(third);
    expect(await named(session, 'now', later)).toBe(third);
    expect(await named(session, later.toISOString(), later)).toBe(third);
  });

  test('by a label, the newest of that name, even where a commit begins so', async () => {
    const { session, commits } = threeStates();
    const prefix = commits[0]?.slice(0, 6) ?? '';
    write(join(session.sandbox, 'a'), 'x\n');
    const labelled = autocommit(session, '--label', prefix).commit;
    expect(await named(session, prefix)).toBe(labelled);
    write(join(session.sandbox, 'a'), 'y\n');
    autocommit(session);
    write(join(session.sandbox, 'a'), 'z\n');
    const newest = autocommit(session, '--label', 'one').commit;
    expect(await named(session, 'one')).toBe(newest);
  });

  test.each([
    ['@{3}', /it has 3, @\{0\} to @\{2\}/],
    ['onc', /it is no label, commit or time/],
    ['step 4', /it is no label, commit or time/],
    ['4', /it is no label, commit or time/],
    ['', /it is no label, commit or time/],
    ['main', /commit [0-9a-f]{10} is none of its autocommits/],
    ['yesterday', /its first autocommit is of 2/],
  ])('and %j names none', async (spec, reason) => {
    const { session } = threeStates();
    await expect(named(session, spec)).rejects.toThrow(reason);
  });

  test('where there is none yet, that is the reason', async () => {
    await expect(named(makeSession(), '@')).rejects.toThrow(/it has no autocommits yet/);
  });
});

describe('a time', () => {
  test.each([
    ['now', '2026-11-20T12:00:00.000Z'],
    ['10 minutes ago', '2026-11-20T11:50:00.000Z'],
    ['10.minutes.ago', '2026-11-20T11:50:00.000Z'],
    ['two hours ago', '2026-11-20T10:00:00.000Z'],
    ['yesterday', '2026-11-19T12:00:00.000Z'],
    ['yesterday noon', '2026-11-19T12:00:00.000Z'],
    ['2026-11-20 09:30', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30:00+0100', '2026-11-20T08:30:00.000Z'],
    ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z'],
    ['Nov 19 2026 10:00', '2026-11-19T10:00:00.000Z'],
    ['last friday', '2026-11-13T12:00:00.000Z'],
    ['9:30', '2026-11-20T09:30:00.000Z'],
    ['@1795170000', '2026-11-20T10:20:00.000Z'],
  ])('%s', async (text, iso) => {
    const git = openGit(REAL_GIT, process.cwd(), process.env);
    expect((await parseTime(git, text, now))?.toISOString()).toBe(iso);
  });

  test.each([
    '',
    '4',
    '20',
    'monkey 3',
    'step 4',
    'tests pass',
    'before git reset',
    'x',
    'at',
    'one',
    'second',
    'last',
    '10 минут',
  ])('is not %j', async (text) => {
    const git = openGit(REAL_GIT, process.cwd(), process.env);
    expect(await parseTime(git, text, now)).toBeUndefined();
  });
});
