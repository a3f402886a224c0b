/** Work of another session that was taken off the branch, in a session that has synced meanwhile. */
import { isActive } from '../filter/session-file.ts';
import { shortBranch, shortOid } from '../git/files/ref-files.ts';
import { type Git, gitLines, gitText } from '../git/run/git.ts';
import { shellQuote } from '../git/run/trace.ts';
import { listRecords, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { landedAs } from '../survey/merged.ts';
import type { LandingTarget } from './target.ts';

/** The other sessions whose work branch has the commit. */
export async function holdersOf({ git, id, repository }: Session, commit: string): Promise<SessionRecord[]> {
  const others = listRecords(repository).records.filter((one) => isActive(one) && one.session_id !== id);
  if (others.length === 0) return [];
  const branches = others.map(({ work_branch }) => work_branch);
  const listing = ['for-each-ref', '--format=%(refname)', '--contains', commit, '--', ...branches];
  const found = new Set(await gitLines(git, listing));
  return others.filter(({ work_branch }) => found.has(work_branch));
}

/** A command for the user. */
export function takeOut({ sandbox, checkout }: SessionRecord, onto: string, commit: string): string {
  const at = `git -C ${shellQuote(checkout ?? sandbox)}`;
  return `${at} rebase --autostash --onto ${shortBranch(onto)} ${shortOid(commit)}`;
}

/** Warnings about commits that were made by the acceptance of another session, and that the branch does not have. */
export async function othersWork(
  git: Git,
  { session_id: id }: SessionRecord,
  commits: readonly string[],
  { onto, from }: LandingTarget,
): Promise<string[]> {
  if (commits.length === 0) return [];
  const trailer = '%(trailers:key=Agt-Session,valueonly,separator=%x2C)';
  const args = ['log', '--no-walk=unsorted', '--stdin', '--no-show-signature', '-z'];
  const output = await gitText(git, [...args, `--format=%H%n${trailer}%n%s`], {
    input: commits.map((commit) => `${commit}\n`).join(''),
  });
  const warnings: string[] = [];
  for (const entry of output.split('\0')) {
    const [commit = '', session = '', subject] = entry.split('\n');
    if (session === '' || session.split(',').includes(id)) continue;
    if ((await landedAs(git, { commit, from: `${commit}^` }, from)) !== undefined) continue;
    warnings.push(
      `this is work of session "${session}", which "${shortBranch(onto)}" does not have any more: ` +
        `${shortOid(commit)} ${subject}`,
    );
  }
  return warnings;
}
