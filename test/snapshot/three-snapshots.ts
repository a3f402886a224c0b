/** A session with three snapshots, and its history. */
import { join } from 'node:path';
import { snapshotRefs } from '../../src/session/record.ts';
import { readHistory } from '../../src/snapshot/history.ts';
import { openSession } from '../harness/opened.ts';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { write } from '../harness/world.ts';

/** Labels: `one`, none, `one two`; the last one by the tool `edit`. `commits` is oldest first. */
export function makeThreeSnapshots(): { session: TestSession; commits: string[] } {
  const session = makeSession();
  const options = [['--label', 'one'], [], ['--label', ' one \t two ', '--tool', 'edit']];
  const commits = options.map((labels, i) => {
    write(join(session.sandbox, 'a'), `${i}\n`);
    return autocommit(session, ...labels).commit ?? '';
  });
  return { session, commits };
}

export function historyOf(session: TestSession) {
  const { repository, record } = openSession(session);
  return readHistory(repository.git, snapshotRefs(record));
}
