import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { snapshotRefs } from '../../src/session/record.ts';
import { requireHistory } from '../../src/snapshot/history.ts';
import { openSession } from '../harness/opened.ts';
import { autocommit, makeSession } from '../harness/session.ts';
import { agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';
import { historyOf, makeThreeSnapshots } from './three-snapshots.ts';

describe('the history of a session', () => {
  test('lists its autocommits, newest first, and ends before the start commit', async () => {
    const { session, commits } = makeThreeSnapshots();
    const snapshots = await historyOf(session);
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
    expect(await historyOf(makeSession())).toEqual([]);
  });

  test('stays the same when somebody moves or deletes the shadow branch', async () => {
    const { session, commits } = makeThreeSnapshots();
    git(session.repository, 'branch', '-f', 'agtsessions/s1', 'main');
    expect((await historyOf(session)).map(({ commit }) => commit)).toEqual(commits.toReversed());
    git(session.repository, 'branch', '-D', 'agtsessions/s1');
    expect(await historyOf(session)).toHaveLength(3);
  });

  test('of a fork continues into the session that it was forked from', async () => {
    const { session, commits } = makeThreeSnapshots();
    agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    const fork = { ...session, id: 's2' };
    autocommit(fork, '--label', 'in the fork');
    const snapshots = await historyOf(fork);
    expect(snapshots.map((snapshot) => snapshot.session)).toEqual(['s2', 's1', 's1', 's1', 's1']);
    expect(snapshots.slice(2).map(({ commit }) => commit)).toEqual(commits.toReversed());
  });

  test('leaves out the commits of a user who has the name of agt or writes its trailers', async () => {
    const session = makeSession();
    const message = 'looks like one\n\nAgt-Session: s1';
    git(session.repository, 'commit', '-q', '--allow-empty', '-m', message, '--author=agt <xagt@local>');
    git(session.repository, 'commit', '-q', '--allow-empty', '-m', 'by agt', '--author=agt <agt@local>');
    git(session.repository, 'branch', '-f', 'other');
    agtOk(session.repository, 'session', 'new', '--id', 's2', '--from', 'other');
    const other = { ...session, id: 's2' };
    autocommit(other, '--label', 'mine');
    expect((await historyOf(other)).map(({ label }) => label)).toEqual(['mine']);
  });
});

describe('agt reads the same history', () => {
  test('with settings that change the output of git', async () => {
    const { session } = makeThreeSnapshots();
    write(join(session.sandbox, 'a'), 'é\n');
    autocommit(session, '--label', 'Agt-Session: é\u001f');
    const before = await historyOf(session);
    expect(before[0]?.label).toBe('Agt-Session: é');
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
    expect(await historyOf(session)).toEqual(before);
  });

  test('again without a reading, until there is a new snapshot', async () => {
    const session = makeSession();
    autocommit(session);
    const { repository, record } = openSession(session);
    const read = () => requireHistory(repository.git, snapshotRefs(record));
    const [first, second] = [await read(), await read()];
    expect(second).toBe(first);
    write(join(session.sandbox, 'new'), 'x');
    const { commit } = autocommit(session);
    expect((await read()).map((one) => one.commit)).toEqual([commit, first[0]?.commit]);
  });

  test('when it is longer than one page', async () => {
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
    const snapshots = await historyOf(session);
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
