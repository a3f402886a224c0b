/** The message of the commit that an acceptance makes. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { displayPath } from '../disk/path-bytes.ts';
import { attempt, FEW, listSome } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { type DiffEntry, findRenames } from '../git/objects/raw-diff.ts';
import { readIndex } from '../git/objects/scratch-index.ts';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import { asLines, type Git, gitLines, gitText } from '../git/run/git.ts';
import { quotedPathspec, shellQuote } from '../process/shell-quote.ts';
import { landingsOf } from '../session/landings.ts';
import { isAttached, type Landed } from '../session/record.ts';
import { ignoredPaths } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import { labelByPerson, promptIn } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { parentDirectories } from '../snapshot/tree.ts';
import { landedAs } from '../survey/merged.ts';
import { treeOfWork } from '../timetravel/diff/compared-tree.ts';
import { filesOfTurns, undoneTurns } from '../timetravel/turn-files.ts';
import { authorsOf } from '../timetravel/turns.ts';
import type { OthersCommit } from './taken-back.ts';

/** Columns of the first line of a message. */
const SUBJECT_LENGTH = 72;

export interface MessageRequest {
  /** The whole message. */
  readonly text: string | undefined;
  /** In place of `{summary}` in the template. */
  readonly summary: string | undefined;
  /** It is the message of a merge. */
  readonly keepCommits?: boolean;
}

interface Along extends Landing {
  /** If only their work lands. */
  readonly prompts?: readonly string[];
  /** Of other sessions. */
  readonly along?: readonly OthersCommit[];
  /** The prompts asked for more. */
  readonly isPart?: boolean;
  /** Only these of the session's files land, and no commits tell of them. */
  readonly paths?: readonly string[] | undefined;
}

interface Landing {
  /** The branch and its tip, if that is known. */
  readonly target?: Pick<Landed, 'onto' | 'from'>;
  /** All that lands. */
  readonly changes?: readonly DiffEntry[];
  /** Numbers of the turns that wrote it, where the files alone would name others. */
  readonly writers?: ReadonlySet<number> | undefined;
}

/** `commits`: those of the session, oldest first. */
export async function draftMessage(
  session: Session,
  commits: readonly string[],
  { text, summary, keepCommits = false }: MessageRequest,
  { prompts, along = [], isPart = false, paths, ...landing }: Along = {},
): Promise<string> {
  const { id, git, record } = session;
  if (text !== undefined) return withTrailer(git, text, id);
  const part = `Part of session ${id}`;
  const told = paths ?? (await summarize(session, commits, prompts, [], landing));
  const own =
    typeof told !== 'string' ? joined(told, part, `${part}: `) : isPart ? `${part}\n\n${told}` : told;
  const { commitTemplate } = session.repository.settings;
  // The subject of a single commit would be there twice.
  const title = keepCommits && commitTemplate === '{summary}' ? [`Merge session ${id}`] : [];
  const others = along.map(({ of, name, subject }) => `With work of ${of} ${name}: ${subject}`);
  const values: Readonly<Record<string, string>> = {
    summary: summary ?? [...title, own, ...others].join('\n\n'),
    session: id,
    branch: shortBranch(record.work_branch),
  };
  const filled = commitTemplate.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole).trim();
  // To git, `area: text` looks like a trailer.
  return filled.endsWith(`\n\n${own}`) && !own.includes('\n')
    ? `${filled}\n\nAgt-Session: ${id}`
    : withTrailer(git, filled, id);
}

/** The messages of its commits; without any the prompts, then the labels. `told`: commits that tell of other work. */
export async function summarize(
  session: Session,
  commits: readonly string[],
  chosen: readonly string[] = [],
  told: readonly string[] = [],
  landing: Landing = {},
): Promise<string> {
  const { session_id: id } = session.record;
  if (chosen.length > 0) return joined(chosen, `${id}: ${chosen.length} prompts`);
  const messages = await messagesOf(session.git, commits);
  const [only, ...others] = messages;
  if (only !== undefined && others.length === 0) return only;
  const all = new Set(messages.map((message) => message.split('\n')[0] ?? ''));
  // The message of an acceptance, beside the commits that it was made of.
  const isSum = (parts: readonly string[]) => parts.length > 1 && parts.every((part) => all.has(part));
  const subjects = [...all].filter((subject) => !isSum(subject.split('; ')));
  if (subjects.length > 0) return joined(subjects, `${id}: ${messages.length} commits`);
  const { prompts, labels } = await wordsOf(session, told, landing);
  if (prompts.length > 0) return joined(prompts, `${id}: ${prompts.length} prompts`);
  return joined(labels, labels.length > 0 ? `${id}: ${labels.length} steps` : `Work of session ${id}`);
}

/** The messages of the commits; of several, below the first prompt, or the first subject if the prompt is long. */
export async function describePullRequest(session: Session, commits: readonly string[]) {
  const messages = await messagesOf(session.git, commits);
  const [first = await summarize(session, []), ...others] = messages;
  const [subject = '', ...body] = first.split('\n');
  if (others.length === 0) return { title: subject, body: body.join('\n').trim() };
  const { prompts } = await wordsOf(session, [], { oldest: await oldestOf(session.git, commits) });
  const [prompt = ''] = prompts;
  const isTitle = prompt !== '' && prompt.length <= SUBJECT_LENGTH;
  const told = isTitle ? messages : [body.join('\n').trim(), ...others];
  return { title: isTitle ? prompt : subject, body: told.filter((text) => text !== '').join('\n\n') };
}

/** One line if that is short enough; else a title and a list. */
function joined(lines: readonly string[], title: string, before = ''): string {
  const line = before + lines.join('; ');
  if (line !== '' && line.length <= SUBJECT_LENGTH) return line;
  return [title, ...(lines.length > 0 ? ['', ...lines.map((text) => `- ${text}`)] : [])].join('\n');
}

/**
 * Prompts, and labels that a person gave, since the target has last accepted the whole work, oldest first;
 * without those that the message of a part or of one of these commits has told, and without turns of which
 * nothing lands. `oldest`: of commits to tell of, which may have landed before.
 */
async function wordsOf(
  session: Session,
  commits: readonly string[],
  { oldest, ...landing }: Landing & { readonly oldest?: Date },
) {
  const parts = [...commits];
  let whole = session.record.landed;
  for (; whole !== undefined; whole = whole.before) {
    if (!(await isOn(session, whole, landing.target))) continue;
    if (!whole.in_part) break;
    parts.push(whole.commit);
  }
  const messages = await messagesOf(session.git, parts);
  const lines = messages.filter((text) => !text.startsWith('Part of ')).flatMap((text) => text.split('\n'));
  const told = new Set(lines.flatMap((line) => line.replace(/^- /, '').split('; ')));
  const last = new Date(whole?.at ?? 0);
  const since = oldest !== undefined && oldest < last ? new Date(0) : last;
  const history = await session.history();
  const left = await leftOut(session, history, landing);
  const own = history
    .filter((one) => one.session === session.id && one.time >= since && !left.has(one))
    .toReversed();
  const labels = new Set(own.flatMap((snapshot) => labelByPerson(snapshot) ?? []));
  const prompts = new Set(own.flatMap((snapshot) => promptIn(snapshot) ?? []));
  return { prompts: [...prompts.difference(told)], labels: [...labels.difference(told)] };
}

/** Acceptances onto another branch tell nothing to this one, until it has them. */
async function isOn({ git, record }: Session, one: Landed, target: Landing['target']): Promise<boolean> {
  if (target === undefined || one.onto === target.onto) return true;
  return (await landedAs(git, one, target.from, landingsOf(record.landed))) !== undefined;
}

async function oldestOf(git: Git, commits: readonly string[]): Promise<Date> {
  const words = ['log', '--no-walk', '--stdin', '--no-show-signature', '--format=%ct'];
  const times = await gitText(git, words, { input: asLines(commits) });
  return new Date(Math.min(...times.split('\n').map(Number)) * 1000);
}

/** Snapshots of turns that changed nothing, or were taken back, or of whose work nothing lands. */
async function leftOut(session: Session, history: readonly Snapshot[], { changes, writers }: Landing) {
  const hasUndo = history.some(({ restoredBy }) => restoredBy !== undefined);
  const authored = authorsOf(history.toReversed(), isAttached(session.record));
  const turns = new Set(hasUndo ? (await undoneTurns(session, authored, authored.begun)).undone : []);
  // Without events of calls, agt cannot tell.
  const isTold = history.some(({ tool }) => tool !== undefined);
  for (const turn of isTold ? authored.begun : []) if (turn.number === 0) turns.add(turn);
  if (changes !== undefined) {
    const names = new Set(changes.map(({ path }) => `sandbox/${path}`));
    const files = await filesOfTurns(session.git, authored.begun, { asShown: true });
    for (const [turn, own] of [...files].toReversed()) {
      const landing = own.filter(({ path }) => names.has(path));
      const renamed = landing.flatMap(({ old = [] }) => old);
      for (const old of renamed) names.add(old);
      const isOther = turn.number > 0 && renamed.length === 0 && writers?.has(turn.number) === false;
      if ((isTold || own.length > 0) && (landing.length === 0 || isOther)) turns.add(turn);
    }
  }
  const isOwn = (one: Snapshot, i: number) => i === 0 || promptIn(one) === undefined;
  return new Set([...turns].flatMap(({ snapshots }) => snapshots.filter(isOwn)));
}

/**
 * A hint: how to commit these files of the sandbox, so that git can merge the branch with them. A renamed one goes with its
 * other name: apart, the branch would lose what it has changed in the old one.
 */
export async function commitFirst(session: Session, paths: readonly string[]): Promise<string> {
  const { sandbox, checkout = sandbox } = session.record;
  const at = `git -C ${shellQuote(checkout)}`;
  const renames = await withScratchObjects(session.repository, async (scratch) => {
    const { tree } = await treeOfWork(session, scratch);
    return findRenames(
      scratch.git,
      await gitText(session.sandboxGit, ['rev-parse', 'HEAD']),
      `${tree}:sandbox`,
    );
  });
  const both = renames.flatMap(({ old, name }) =>
    paths.some((path) => path === old || path === name) ? [old, name] : [],
  );
  const names = [...new Set([...paths, ...both].map(displayPath))];
  const tracked = new Set([...(await readIndex(session.sandboxGit)).keys()].map(displayPath));
  // Undefined also where a file is in the place of a directory above it.
  const statOf = (name: string) => attempt(() => lstatSync(join(checkout, name)));
  // git does not add what is staged as deleted.
  const files = names.filter((name) => tracked.has(name) || statOf(name) !== undefined);
  // git takes no path behind a link.
  const isBehindLink = (name: string) =>
    parentDirectories(name).some((path) => statOf(path)?.isSymbolicLink());
  const chosen = files.some(isBehindLink) ? '--all' : `-- ${files.map(quotedPathspec).join(' ')}`;
  const ignored = await ignoredPaths(session.sandboxGit, [...paths, ...both]);
  const add = files.length === 0 ? '' : `${at} add ${ignored.size > 0 ? '-f ' : ''}${chosen} && `;
  const range = ['rev-list', 'HEAD', '--not', session.record.from_commit, '--'];
  const commits = await gitLines(session.sandboxGit, range);
  const [title = ''] = (await summarize(session, [], [], commits)).split('\n');
  const isTaken = (await messagesOf(session.git, commits)).some((text) => text.split('\n')[0] === title);
  const message = shellQuote(isTaken ? `More work of session ${session.id}` : title);
  return `commit ${listSome(paths.map(displayPath), FEW)} in the sandbox first: ${add}${at} commit -m ${message}`;
}

async function messagesOf(git: Git, commits: readonly string[]): Promise<string[]> {
  if (commits.length === 0) return [];
  const options = ['--no-walk=unsorted', '--stdin', '--ignore-missing', '--no-show-signature', '--no-merges'];
  const output = await gitText(git, ['log', ...options, '-z', '--format=%B'], { input: asLines(commits) });
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
