/**
 * The history of a session up to the folder as it is now. A dry run has it as an autocommit would leave it, in scratch
 * objects alone, so that it plans by the same snapshots.
 */
import { commitOid, readCommits, storeCommits } from '../../git/objects/commits.ts';
import { withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { gitText } from '../../git/run/git.ts';
import { callsAtWork } from '../../session/calls-at-work.ts';
import { isAttached } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { snapshotMessage } from '../../snapshot/format.ts';
import { parseSnapshot, type Snapshot } from '../../snapshot/history.ts';
import { autocommit } from '../../triggers/autocommit.ts';
import { previewCapture } from '../../workspace/capture-session.ts';
import { treeOfDisk } from '../diff/compared-tree.ts';
import { type AuthoredHistory, authorsOf, readAuthors } from '../turns.ts';

/** `action` gets the session whose git has the objects. */
export async function withPresent<T>(
  session: Session,
  { now, dryRun }: { readonly now: Date; readonly dryRun: boolean },
  action: (session: Session, authored: AuthoredHistory) => Promise<T>,
): Promise<T> {
  if (!dryRun) {
    await autocommit(session, { now });
    return action(session, await readAuthors(session));
  }
  const { outcome } = await previewCapture(session, { now });
  return withScratchObjects(session.repository, async (scratch) => {
    const { record } = session;
    const seen = new Session({ ...session.repository, git: scratch.git }, record);
    const history = [...(await seen.requireHistory())];
    const [tip] = history;
    if (tip !== undefined && outcome !== 'unchanged') {
      const { tree } = await treeOfDisk(session, scratch);
      history.unshift(await present(seen, tip, tree, now));
    }
    return action(seen, authorsOf(history.toReversed(), isAttached(record)));
  });
}

async function present({ git, id, repository }: Session, tip: Snapshot, tree: string, now: Date) {
  const During = callsAtWork(repository.agtDir, id, now).join(' ');
  const [header = ''] = ((await readCommits(git, [tip.commit])).get(tip.commit) ?? '').split('\n\n');
  const parents = `tree ${await gitText(git, ['rev-parse', `${tree}^{tree}`])}\nparent ${tip.commit}\n`;
  const message = snapshotMessage('agt dry run', { Session: id, During });
  const text = `${header.replace(/^tree \w+\n(parent \w+\n)*/, parents)}\n\n${message}`;
  const content = Buffer.from(text, 'latin1');
  await storeCommits(git, [content], tip.commit);
  const commit = commitOid(content, tip.commit);
  return { ...parseSnapshot(commit, text), previous: tip.commit };
}
