import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { showSize, UNTRACKED } from '../../../config/values.ts';
import { displayPath } from '../../../disk/path-bytes.ts';
import { AgtError, listSome, plural, someLines, systemReason, usageError } from '../../../errors.ts';
import { shortBranch, shortOid } from '../../../git/files/ref-files.ts';
import type { DiffEntry, ShownChange } from '../../../git/objects/raw-diff.ts';
import type { AcceptResult, UntrackedFile } from '../../../landing/accept-request.ts';
import { acceptedBefore } from '../../../landing/end-session.ts';
import { insteadOfUnaccept } from '../../../landing/off-branch.ts';
import { COMMITS_ALONE } from '../../../landing/untracked.ts';
import { shellQuote } from '../../../process/shell-quote.ts';
import type { Repository } from '../../../repository/repository.ts';
import { acceptSeen, acceptUnrejected } from '../../../review/act.ts';
import { idProblem } from '../../../session/id.ts';
import { recordNamed, sessionFolder } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { readSessionStatus } from '../../../survey/status.ts';
import { ask } from '../../ask.ts';
import { camelCase, defineSessionCommand, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { agentAtWork, besideTheEnd } from '../../output/beside-the-end.ts';
import { changeStatus, LETTERS, lines, orNull, showPath, table } from '../../output/format.ts';
import { doneOrNotBegun } from '../../output/interrupted.ts';
import { landedPlace } from '../../output/session.ts';

export const sessionAccept = defineSessionCommand({
  name: 'session accept',
  elsewhere: {
    '--path': 'agt accept SESSION --include=PATH',
    '--squash': 'agt accept SESSION: one commit is the default',
  },
  several: true,
  summary: 'bring the work of a session onto your branch, and end the session',
  description:
    'Merge the commits and the uncommitted, not ignored files of the sandbox into the user branch, as one commit by ' +
    'you. The worktree that has the branch checked out follows; your own uncommitted files in it stay as they are. If ' +
    'one of those overlaps with the change, or the merge has conflicts, name the files and change nothing. Commits of ' +
    'yours that the session began with, and that the branch does not have, stay out. Then delete the sandbox and the ' +
    'work branch; the snapshots stay, and agt session unaccept takes everything back.',
  options: {
    message: option.each('message of the commit; again: one more paragraph', 'm'),
    file: option.value('read the message from a file; - is standard input', 'F'),
    summary: option.value('text for {summary} in agt.commitTemplate'),
    edit: option.flag('edit the message first', 'e'),
    onto: option.value('the branch that takes the work (default: the user branch)'),
    'keep-commits': option.flag("merge the agent's own commits"),
    commits: option.each(
      'take only these, each as a commit of its own: commits, A..B, snapshots, ids of tool calls; A,B or given again; ' +
        'without --include, --exclude and -m',
    ),
    include: option.each(
      'take only changes of paths that match a glob; *.md matches in every directory; again: more',
    ),
    exclude: option.each('leave out changes of paths that match a glob; again: more'),
    'committed-only': option.flag('leave out uncommitted files'),
    untracked: {
      ...option.value('what to do with untracked files (default: agt.untracked)'),
      choices: UNTRACKED,
    },
    'with-failed': option.flag('take also changes by tool calls that failed'),
    keep: option.flag('let the session go on'),
    seen: option.flag(
      'take only what you have marked as seen in agt review, and let the session go on with the rest',
    ),
    verify: option.on('run pre-merge-commit and commit-msg hooks (--no-verify: do not)'),
    ...option.shared('wait', 'dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt accept fix-login', 'one commit on your branch'],
    ['agt accept fix-login -m "Fix the login" --exclude "docs/**"', 'with your message, without some files'],
    ['agt accept fix-login --dry-run', 'show what would change'],
  ],
  check: async (args, context) => {
    refuseContradictions(args);
    refuseMoreValues(args, await context.repositoryIfAny());
    const text = messageText(args.message, args.file, context.cwd);
    if (text !== undefined && text.trim() === '' && !args.edit)
      throw usageError('the message is empty', 'write one, or leave out -m and -F');
    return { text, planned: [], ids: (args as { ids?: string[] }).ids ?? [] };
  },
  run: async (args, context, session, shared) => {
    const request = {
      ...args,
      ...shared,
      commits: args.commits ?? [],
      include: args.include ?? [],
      exclude: args.exclude ?? [],
      askUntracked:
        context.interactive && !args.json && !args.dryRun ? askOnce(context, session.id) : undefined,
      now: context.now(),
    };
    const end = { dryRun: args.dryRun, outcome: 'accepted' } as const;
    const before = args.dryRun ? undefined : await besideTheEnd(session, end);
    const atWork = agentAtWork(session, request.now);
    const accept = args.seen ? acceptSeen : acceptUnrejected;
    const accepted = await doneOrNotBegun(context, session, accept, request);
    const goesOn = args.keep || args.seen || accepted.kept;
    const back = before ?? (await besideTheEnd(session, { ...end, landing: accepted.changes }));
    const result = { ...accepted, warnings: [...(goesOn ? [] : atWork), ...accepted.warnings] };
    for (const warning of result.warnings) context.err(`warning: ${warning}\n`);
    const isEarlier = result.warnings.includes(acceptedBefore(result.record));
    const { text, failed = false } = isEarlier
      ? await describeEarlier(session.with(result.record), result)
      : { text: describeAccept(result, back, (shared.ids.at(-1) ?? session.id) === session.id) };
    return { json: acceptJson(result, args.dryRun), text, failed, trouble: result.trouble };
  },
});

/** agt plans once more if the branch has moved meanwhile. */
function askOnce(context: Context, id: string) {
  let answer: Promise<'all' | 'none'> | undefined;
  return (files: readonly UntrackedFile[], hasCommits: boolean) => {
    answer ??= askUntracked(context, id, files, hasCommits);
    return answer;
  };
}

async function askUntracked(
  context: Context,
  id: string,
  files: readonly UntrackedFile[],
  hasCommits: boolean,
): Promise<'all' | 'none'> {
  const { plain = [], doubtful = [] } = Object.groupBy(files, ({ doubt }) => (doubt ? 'doubtful' : 'plain'));
  const rows = [...doubtful, ...plain]
    .slice(0, LISTED)
    .map(({ path, size, doubt }) => [showPath(path), showSize(size), doubt ? `! ${doubt}` : '']);
  const more = files.length > LISTED ? `  … and ${files.length - LISTED} more\n` : '';
  context.err(`untracked files of session ${id}:\n${table(rows, '  ')}${more}`);
  const usual = doubtful.length > 0 ? 'q' : 'y';
  const choices = usual === 'q' ? 'y/n/Q' : 'Y/n/q';
  const answer =
    (await ask(`Accept these files, too? y: with them, n: without them, q: accept nothing [${choices}] `)) ||
    usual;
  if (/^y/i.test(answer)) return 'all';
  if (/^n/i.test(answer)) return 'none';
  if (!/^q/i.test(answer)) return askUntracked(context, id, files, hasCommits);
  throw new AgtError('you accepted nothing, and nothing has changed', {
    hints: [
      'leave some out: --exclude PATTERN, or take all or none: --untracked=all, --untracked=none',
      ...(hasCommits ? [COMMITS_ALONE] : []),
    ],
  });
}

/** Files that a question or a text lists; JSON has all. */
export const LISTED = 20;

const MOST_IGNORED = 3;

/** Names of options that cannot go together. */
const CONTRADICTIONS: readonly (readonly [string, string])[] = [
  ['message', 'file'],
  ['message', 'summary'],
  ['file', 'summary'],
  ...['message', 'file', 'summary', 'edit', 'keep-commits', 'include', 'exclude', 'committed-only'].map(
    (name) => ['commits', name] as const,
  ),
  ...['commits', 'keep-commits', 'committed-only'].map((name) => ['seen', name] as const),
  ['keep-commits', 'include'],
  ['keep-commits', 'exclude'],
];

function refuseContradictions(args: Readonly<Record<string, unknown>>): void {
  const isGiven = (name: string) => !([undefined, false] as unknown[]).includes(args[camelCase(name)]);
  const pair = CONTRADICTIONS.find((names) => names.every(isGiven));
  if (pair !== undefined)
    throw usageError(`--${pair[0]} and --${pair[1]} cannot go together`, 'give one of them');
}

const VALUES = ['commits', 'include', 'exclude'] as const;

/** `--include A B`: B is no session. @throws AgtError before anything of the others is done */
function refuseMoreValues(
  { ids = [], ...args }: { ids?: string[] } & Record<(typeof VALUES)[number], string[] | undefined>,
  here: Repository | undefined,
): void {
  const isSession = (word: string, i: number) =>
    i === 0 ? idProblem(word) === undefined : here !== undefined && recordNamed(here, word) !== undefined;
  const more = ids.filter((word, i) => !isSession(word, i));
  const option = VALUES.find((name) => args[name] !== undefined);
  if (option === undefined || more.length === 0) return;
  const all = [...(args[option] ?? []), ...more].map((value) => `--${option} ${shellQuote(value)}`);
  throw usageError(
    `--${option} takes one value, and "${more[0]}" is no session`,
    `several: ${all.join(' ')}`,
  );
}

function messageText(paragraphs: readonly string[] | undefined, file: string | undefined, cwd: string) {
  if (file === undefined) return paragraphs?.join('\n\n');
  try {
    return readFileSync(file === '-' ? 0 : resolve(cwd, file), 'utf8');
  } catch (error) {
    throw usageError(`cannot read the message in "${file}": ${systemReason(error)}`);
  }
}

function acceptJson(result: AcceptResult, dryRun: boolean) {
  const { record, onto, from, commit, message, worktree, changes, kept, warnings, after } = result;
  const { leftOut, leftOutCommits = [], merged = [] } = result;
  return {
    session_id: record.session_id,
    state: record.state,
    onto: shortBranch(onto),
    onto_before: from,
    ...orNull({ commit, message }),
    files: changes.map(fileJson),
    untracked: (result.untracked ?? []).map(displayPath),
    left_out: leftOut,
    left_out_commits: leftOutCommits,
    ignored: result.ignored ?? [],
    kept_commits: merged,
    worktree: worktree ?? null,
    kept,
    warnings,
    ...(after && { after }),
    dry_run: dryRun,
  };
}

export function fileJson({ path, before, after, insertions, removals }: DiffEntry) {
  const status = changeStatus({ before, after });
  return { path: displayPath(path), status, ...orNull({ insertions, deletions: removals }) };
}

async function describeEarlier(session: Session, { onto, commit = '' }: AcceptResult) {
  const { id } = session;
  const { fate } = await readSessionStatus(session);
  const way = (await insteadOfUnaccept(session)) ?? `undo     agt session unaccept ${id}`;
  const text = lines([`${id} was accepted as ${landedPlace({ commit, onto }, fate)}`, way]);
  return { text, failed: fate.isLost };
}

/** `isLast`: the same command accepts no session after this one. */
function describeAccept(result: AcceptResult, returned: string | undefined, isLast: boolean): string {
  const { record, onto, commit, worktree, changes, shown, leftOut, leftOutCommits = [] } = result;
  const { kept, after: planned = [], ignored = [], merged = [] } = result;
  const { session_id: id } = record;
  const untracked = new Set(result.untracked);
  const landing = new Set(changes.flatMap(({ path, after }) => (after ? displayPath(path) : [])));
  const left = leftOut.map((path) => `${showPath(path)}${landing.has(path) ? ' (uncommitted changes)' : ''}`);
  const branch = shortBranch(onto);
  const done = commit !== undefined;
  const all: (string | false | undefined)[] = [
    `${done ? 'accepted' : 'would accept'} ${id}: ${summaryOf(shown)}`,
    ...shown
      .slice(0, LISTED)
      .map((change) => `  ${fate(change)}${untracked.has(change.path) ? '  (untracked)' : ''}`),
    shown.length > LISTED && `  … and ${shown.length - LISTED} more`,
    merged.length > 0 && 'commits',
    ...someLines(
      merged.map((one) => `  ${showPath(one)}`),
      LISTED,
    ),
    left.length > 0 && `left out ${listSome(left, LISTED)}`,
    ignored.length > 0 &&
      `left out ${plural(ignored.length, 'path')} that git ignores: ${listSome(ignored, MOST_IGNORED)}`,
    ...someLines(
      leftOutCommits.map((one) => `left out ${shortOid(one.commit)} ${showPath(one.subject)}`),
      LISTED,
    ),
    `branch   ${branch}${done ? ` is at ${shortOid(commit)}` : planned.length > 0 ? ` as it is after ${planned.join(' and ')}` : ''}`,
    worktree !== undefined && `worktree ${worktree} ${done ? 'follows' : 'would follow'}`,
  ];
  if (!kept && result.trouble === undefined) all.push(returned);
  const rest = left.length + leftOutCommits.length > 0 ? ', with what is left out' : '';
  const removed = `${done ? 'removed' : 'would remove'}  ${sessionFolder(record)}${rest}`;
  all.push(kept ? `session  ${id} ${done ? 'goes on' : 'would go on'}` : removed);
  if (!done) return lines([...all, ...indented(result.message)]);
  const place = record.working_copy === 'in-place' ? ' in a sandbox' : '';
  const back = kept ? '' : `  (${branch} is as before, and the session is back${place})`;
  const after = isLast ? back : '  (of several, the last one first)';
  all.push(`undo     agt session unaccept ${id}${after}`);
  if (!kept) all.push(`         agt undo ${id}  (the session is back, and ${branch} keeps the work)`);
  return lines(all);
}

function fate(change: ShownChange): string {
  const [path, old] = [change.path, change.old].map((name) => name && showPath(displayPath(name)));
  return old === undefined ? `${LETTERS[changeStatus(change)]} ${path}` : `R ${old} -> ${path}`;
}

/** As `git log` shows a message. */
export function indented(message: string | undefined): string[] {
  return message === undefined ? [] : ['', ...message.split('\n').map((line) => `    ${line}`.trimEnd())];
}

export function summaryOf(changes: readonly DiffEntry[]): string {
  const sum = (count: (change: DiffEntry) => number | undefined) =>
    changes.reduce((total, change) => total + (count(change) ?? 0), 0);
  const added = sum(({ insertions }) => insertions);
  const removed = sum(({ removals }) => removals);
  return `${plural(changes.length, 'file')} changed, +${added} -${removed}`;
}
