/** The message of the commit that an acceptance makes. */
import { shortBranch } from '../git/files/ref-files.ts';
import { type Git, gitText } from '../git/run/git.ts';
import type { Session } from '../session/session.ts';
import { isOwnLabel } from '../snapshot/format.ts';

/** Columns of the first line of a message. */
const SUBJECT_LENGTH = 72;

export interface MessageRequest {
  /** The whole message. */
  readonly text: string | undefined;
  /** In place of `{summary}` in the template. */
  readonly summary: string | undefined;
}

/** `commits`: those of the session, oldest first. */
export async function draftMessage(
  session: Session,
  commits: readonly string[],
  { text, summary }: MessageRequest,
): Promise<string> {
  const { id, git, record } = session;
  if (text !== undefined) return withTrailer(git, text, id);
  const values: Readonly<Record<string, string>> = {
    summary: summary ?? (await summarize(session, commits)),
    session: id,
    branch: shortBranch(record.work_branch),
  };
  const { commitTemplate } = session.repository.settings;
  const filled = commitTemplate.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  return withTrailer(git, filled, id);
}

/** The labels of the session; without any, the messages of its commits. */
export async function summarize(session: Session, commits: readonly string[]): Promise<string> {
  const { session_id: id } = session.record;
  const labels = await labelsOf(session);
  if (labels.length > 0) return joined(labels, `${id}: ${labels.length} steps`);
  const messages = await messagesOf(session.git, commits);
  const [only, ...others] = messages;
  if (only !== undefined && others.length === 0) return only;
  const subjects = [...new Set(messages.map((message) => message.split('\n')[0] ?? ''))];
  const title = messages.length === 0 ? `Work of session ${id}` : `${id}: ${messages.length} commits`;
  return joined(subjects, title);
}

/** One line if that is short enough; else a title and a list. */
function joined(lines: readonly string[], title: string): string {
  const line = lines.join('; ');
  if (line !== '' && line.length <= SUBJECT_LENGTH) return line;
  return [title, ...(lines.length > 0 ? ['', ...lines.map((text) => `- ${text}`)] : [])].join('\n');
}

/** Labels that a person gave since the last acceptance, oldest first. */
async function labelsOf(session: Session): Promise<string[]> {
  const since = new Date(session.record.landed?.at ?? 0);
  const labels = (await session.history())
    .filter((snapshot) => snapshot.session === session.id && snapshot.time >= since)
    .flatMap(({ label }) => (label === undefined || isOwnLabel(label) ? [] : [label]));
  return [...new Set(labels.toReversed())];
}

async function messagesOf(git: Git, commits: readonly string[]): Promise<string[]> {
  if (commits.length === 0) return [];
  const options = ['--no-walk=unsorted', '--stdin', '--no-show-signature', '--no-merges'];
  const output = await gitText(git, ['log', ...options, '-z', '--format=%B'], {
    input: commits.map((commit) => `${commit}\n`).join(''),
  });
  return output
    .split('\0')
    .map((message) => message.trim())
    .filter((message) => message !== '');
}

/** `Agt-Session` names the session, also if the user has written the message. */
export async function withTrailer(git: Git, text: string, session: string): Promise<string> {
  const trailer = ['--if-exists', 'addIfDifferent', '--trailer', `Agt-Session: ${session}`];
  const args = ['-c', 'trailer.separators=:', 'interpret-trailers', ...trailer];
  return gitText(git, args, { input: `${text.trim()}\n` });
}
