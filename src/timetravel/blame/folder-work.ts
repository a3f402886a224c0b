/** Commits that somebody made in a folder, and did not fetch: the snapshots before each of them. */
import { type Git, gitAnswer, gitLines, resolveObject } from '../../git/run/git.ts';
import type { Session } from '../../session/session.ts';
import { readAuthors } from '../turns.ts';
import { firstReach } from './first-reach.ts';

export type FolderWork = Awaited<ReturnType<typeof readFolderWork>>;

/**
 * `made`: by commit: the snapshots, counted from 0, that may have its lines, and whether it is a copy. An acceptance may
 * bring lines that a session had from the folder: those before it may have them.
 */
export async function readFolderWork(git: Git, session: Session) {
  const history = await readAuthors(session);
  const user = await gitAnswer(git, ['var', 'GIT_AUTHOR_IDENT']);
  const words = ['reflog', '--date=unix', '--format=%H %gd %at <%aE> %gs', 'HEAD', '--'];
  const entries = (await gitLines(git, words)).reverse();
  const here = new Map<string, Record<'isCopy' | 'isAccept', boolean> & { readonly seconds: number }>();
  const authors = new Set<string>();
  for (const [i, line] of entries.entries()) {
    const [, commit, seconds, author = '', mail = '', original, form] = MADE.exec(line) ?? [];
    const amended = form === 'amend' ? entries[i - 1]?.split(' ')[0] : undefined;
    const isNew = original !== undefined && form === undefined;
    // A copy keeps the author and the time. Somebody else's commit may have been rebased here.
    const isOwn = isNew || user?.includes(mail) || authors.has(author) || here.has(amended ?? '');
    if (commit === undefined || !isOwn || here.has(commit)) continue;
    authors.add(author);
    const isAccept = original === 'agt accept';
    here.set(commit, { seconds: Number(seconds), isCopy: original === undefined, isAccept });
  }
  const now = await resolveObject(git, 'HEAD');
  const heads = [...history.steps.map(({ snapshot }) => snapshot.head), now];
  const [first] = heads;
  const reached = await firstReach(git, [...heads, ...here.keys()], first);
  const times = history.steps.map(({ snapshot }) => Math.floor(snapshot.time.getTime() / 1000));
  /** Those next to that time: no snapshot saw the branch. */
  const near = (seconds: number) =>
    [...times.keys()].filter(
      (i) => (times[i - 1] ?? Infinity) <= seconds && (times[i + 1] ?? Infinity) >= seconds,
    );
  const made = new Map<string, { readonly after: readonly number[]; readonly isCopy: boolean }>();
  for (const [commit, { seconds, isCopy, isAccept }] of here) {
    const step = reached.get(commit);
    if (step === undefined) continue; // older than all snapshots
    const last = isAccept ? step - 1 : Math.min(step, history.steps.length - 1);
    const after = step < heads.length ? [last] : near(seconds);
    if (after.length > 0) made.set(commit, { after, isCopy });
  }
  return { session, history, made };
}

const MADE =
  /^(\w+) HEAD@\{(\d+)\} (\d+ (<.*?>)) (?:(commit|revert|agt accept)\b(?: \((amend|cherry-pick)\))?|(?:cherry-pick|rebase|am)\b|pull .*\(pick\))/;
