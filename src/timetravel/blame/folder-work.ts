/** Commits that somebody made in a folder, and did not fetch: the snapshots before each of them. */
import { type Git, gitAnswer, gitLines } from '../../git/run/git.ts';
import type { Session } from '../../session/session.ts';
import { type AuthoredHistory, readAuthors } from '../turns.ts';
import { firstReach } from './first-reach.ts';

export interface FolderWork {
  readonly session: Session;
  readonly history: AuthoredHistory;
  /** By commit: the snapshots, counted from 0, that may have its lines, and whether it is a copy of an older one. */
  readonly made: ReadonlyMap<string, { readonly after: readonly number[]; readonly isCopy: boolean }>;
}

export async function readFolderWork(git: Git, session: Session): Promise<FolderWork> {
  const history = await readAuthors(session);
  const entries = await gitLines(git, ['reflog', '--date=unix', '--format=%H %gd %gs', 'HEAD', '--']);
  const isMade = /^(\w+) HEAD@\{(\d+)\} (?:(commit|revert)\b|(?:cherry-pick|rebase|am)\b|pull .*\(pick\))/;
  const found = entries.flatMap((line) => {
    const [, commit, seconds, original] = isMade.exec(line) ?? [];
    const isCopy = original === undefined;
    return commit === undefined ? [] : [[commit, { seconds: Number(seconds), isCopy }] as const];
  });
  const here = new Map(found);
  const now = await gitAnswer(git, ['rev-parse', '--verify', '--quiet', 'HEAD']);
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
  for (const [commit, { seconds, isCopy }] of here) {
    const step = reached.get(commit);
    if (step === undefined) continue; // older than all snapshots
    const after = step < heads.length ? [Math.min(step, history.steps.length - 1)] : near(seconds);
    if (after.length > 0) made.set(commit, { after, isCopy });
  }
  return { session, history, made };
}
