import { isCompleteSince } from '../../autocommit/timestamp.ts';
import type { SettingValue } from '../../config/settings.ts';
import { FEW, formatError, listSome, plural } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import { type LoggedFailure, logKilled, recentFailures } from '../../integrations/hooks-log.ts';
import { checkRepository } from '../../maintenance/doctor/check-repository.ts';
import type { Finding, Preview } from '../../maintenance/doctor/finding.ts';
import type { Repository } from '../../repository/repository.ts';
import { agtInFolder } from '../../session/advised-commands.ts';
import { hasCommitted, listRecords, type SessionRecord } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { isEnded } from '../../session/state.ts';
import { findFates } from '../../survey/landed.ts';
import { type SessionStatus, surveySessions } from '../../survey/status.ts';
import { copiesOnRemotes, type Debt, debtOf, wantedRemote } from '../../travel/held.ts';
import { previewCapture } from '../../workspace/capture-session.ts';
import { defineCommand, option } from '../command-line/command.ts';
import type { Answer } from '../command-line/report.ts';
import type { Context } from '../context.ts';
import { everywhere } from '../everywhere.ts';
import { advisedFindings, checkState, describeFindings, finishers } from '../findings.ts';
import { readFolderStatus } from '../output/folder-status.ts';
import { age, lines, paint, shortAgo, showPath, table } from '../output/format.ts';
import { describeNotCaptured, leftOutRows, sessionJson } from '../output/session.ts';
import { outOfSightNote, sessionTable } from '../output/session-table.ts';
import { attachedHere, attachedIfUsable, folderHere } from '../session-here.ts';

export const status = defineCommand({
  usage: 'status',
  summary: 'show sessions, their changes since the last autocommit, and problems',
  description:
    'Show the sessions as agt list does, and what is wrong. UNSAVED counts the paths that changed since the last ' +
    'autocommit, in all folders of a session; ALL SAVED says when agt last captured everything. In a folder that has ' +
    'snapshots without a session, show these as agt snapshot status does.',
  excess: 'one session: agt session show WORD',
  options: option.shared('everywhere', 'json'),
  examples: [['agt status', 'show the state of this repository and its sessions']],
  run: async function status(args, context): Promise<Answer> {
    if (args.everywhere) return everywhere(context, (there) => status({ ...args, everywhere: false }, there));
    const repository = await context.repositoryIfAny();
    const records = repository === undefined ? [] : listRecords(repository).records;
    const present = records.filter((record) => !isEnded(record));
    const preview = repository && previewOnce(repository, context.now());
    const sessions = repository && preview && (await readSessions(repository, present, preview, args.json));
    const ended = repository === undefined ? [] : await lostOf(repository, records);
    const { attached, problem = undefined } = repository
      ? await attachedIfUsable(context)
      : { attached: await attachedHere(context) };
    const folder = repository && !attached ? undefined : await readFolderStatus(context, attached);
    const findings = advisedFindings(context, [
      ...checkState(context, problem),
      ...(repository && preview ? await checkRepository(repository, finishers, { preview }) : []),
      ...(attached === undefined ? [] : await checkRepository(attached.repository, finishers)),
    ]);
    const settings = await context.settingValues();
    const ofRepository = repository ? records.map((record) => new Session(repository, record)) : [];
    const places = repository
      ? [repository.commonDir, repository.worktree]
      : [(await folderHere(context)).folder];
    const known = attached ? [...ofRepository, attached] : ofRepository;
    const folders = [...places, ...known.map(folderOf)].filter((place) => place !== undefined);
    logKilled(context.env);
    // Those that a person has to hear of.
    const failures = recentFailures(context.env, folders, context.now(), (one) => isSettled(one, known));
    // Every session and hook that meets the same limit has the same reason.
    const isTold = (reason: string) =>
      findings.some(({ about }) => about.startsWith('agt.') && reason.includes(about));
    const withoutTold = (line: StatusLine): StatusLine => {
      const { state_reason: reason = '', ...record } = line.view.record;
      return isTold(reason) ? { ...line, view: { ...line.view, record } } : line;
    };
    const untold = failures.filter(({ reason }) => !isTold(reason));
    const describe = () => [
      ...(repository === undefined
        ? [`${folder?.text}\nno sessions: this folder is in no git repository\n`]
        : [
            describeRepository(repository, present.length, records.length - present.length),
            describeSessions(context, (sessions ?? []).map(withoutTold), ended),
            folder === undefined ? '' : `\nSnapshots without a session\n${folder.text}`,
          ]),
      describeSettings(context, settings),
      describeProblems(context, findings),
      describeHookFailures(context, untold),
    ];
    return {
      json: {
        repository: repository?.commonDir ?? null,
        area: repository?.area ?? null,
        sessions: (sessions ?? []).map(statusJson),
        ended_on_no_remote: ended,
        folder: folder?.json ?? null,
        settings,
        findings,
        hook_failures: failures,
      },
      text: async () => describe().join(''),
    };
  },
});

/** Each session is compared once, for all that want to know. */
function previewOnce(repository: Repository, now: Date): Preview {
  const previews = new Map<string, ReturnType<Preview>>();
  return (record) => {
    const known = previews.get(record.session_id) ?? previewCapture(new Session(repository, record), { now });
    previews.set(record.session_id, known);
    return known;
  };
}

async function readSessions(
  repository: Repository,
  present: readonly SessionRecord[],
  preview: Preview,
  counts: boolean,
) {
  // While git answers for the survey, agt has time.
  const previewAll = async () => {
    for (const record of present.filter(isActive)) await preview(record).catch(() => undefined);
  };
  const wanted = wantedRemote(repository, copiesOnRemotes(repository));
  const [views] = await Promise.all([surveySessions(repository, present, { counts }), previewAll()]);
  return Array.fromAsync(views, async (view) => ({
    ...(await readStatus(preview, view)),
    debt: await debtOf(new Session(repository, view.record), view.lastAutocommit?.commit, wanted),
  }));
}

type StatusLine = Awaited<ReturnType<typeof readSessions>>[number];

/** `changed`: paths that changed since the last autocommit; undefined if agt could not compare, as `problem` says. */
async function readStatus(preview: Preview, view: SessionStatus) {
  const { record } = view;
  if (!view.sandboxPresent || !isActive(record)) return { view, failed: [], skipped: [] };
  try {
    const result = await preview(record);
    return { view, changed: result.changes.length, failed: result.failed, skipped: result.skipped };
  } catch (error) {
    return { view, failed: [], skipped: [], problem: formatError(error, false) };
  }
}

function statusJson({ view, changed, failed, skipped, problem, debt }: StatusLine) {
  return {
    ...sessionJson(view),
    changed_since: changed ?? null,
    skipped,
    failed,
    problem: problem ?? null,
    push: debt ?? null,
  };
}

function describeRepository({ commonDir, area }: Repository, present: number, removed: number): string {
  const clone = area === undefined ? '' : `, clone ${area}`;
  const gone = removed > 0 ? `, ${removed} ended (snapshots kept)` : '';
  return `Repository ${commonDir}${clone}\n${plural(present, 'session')}${gone}\n`;
}

/** Names files that agt could not capture on standard error. */
function describeSessions(context: Context, sessions: readonly StatusLine[], ended: readonly string[]) {
  const changes = new Map(sessions.map(({ view, changed }) => [view, changed]));
  const views = sessions.map(({ view }) => view);
  const unsaved = (view: SessionStatus) => (changes.get(view) === 0 ? '' : String(changes.get(view) ?? '?'));
  // A new session is complete from its beginning, without any autocommit.
  const complete = ({ lastComplete, lastAutocommit }: SessionStatus) =>
    shortAgo(lastAutocommit && lastComplete, context.now());
  const more = [
    { heading: 'UNSAVED', cell: unsaved, alignRight: true },
    { heading: 'ALL SAVED', cell: complete, dispensable: 7 },
  ] as const;
  context.err(outOfSightNote(views));
  for (const { view, failed, problem } of sessions) {
    if (problem !== undefined) context.err(problem);
    context.err(describeNotCaptured(view.record, failed));
  }
  const left = sessions.flatMap(({ view: { record }, skipped }) =>
    leftOutRows(record, skipped, `${record.session_id} leaves out`),
  );
  const debts = sessions.flatMap(({ view, debt }) =>
    debt?.pushed_at || debt?.failed ? [debtRow(context, view, debt)] : [],
  );
  const rows = [...left, ...debts];
  const only = onlyHere(agtInFolder(context.cwd), sessions, ended);
  const leftOut = rows.length + only.length === 0 ? '' : `\n${table(rows)}${only}`;
  return views.length === 0 ? leftOut : `\n${sessionTable(context, views, more)}${leftOut}`;
}

/** Where sessions are on remotes at all: what would be lost together with this disk. */
function onlyHere(program: string, sessions: readonly StatusLine[], ended: readonly string[]): string {
  const ids = sessions.flatMap(({ view, debt }) => (debt?.pushed_at === null ? view.record.session_id : []));
  return lines([
    ids.length > 0 &&
      `${plural(ids.length, 'session')} on no remote (${program} session push --all): ${listSome(ids, FEW)}`,
    ended.length > 0 &&
      `${plural(ended.length, 'ended session')} on no remote, with work that no branch has (${program} session push ID): ${listSome(ended, FEW)}`,
  ]);
}

/** The ended sessions with work that neither a branch nor a remote has, and that nobody has rejected. */
async function lostOf(repository: Repository, records: readonly SessionRecord[]): Promise<string[]> {
  const copies = copiesOnRemotes(repository);
  if (wantedRemote(repository, copies) === undefined) return [];
  const candidates = records.filter((one) => isEnded(one) && !copies.has(one.session_id));
  const fates = findFates(repository, candidates);
  const isOver = ({ state, landed }: SessionRecord) =>
    state === 'rejected' ||
    (state === 'accepted' && !landed?.in_part && !fates.get(landed?.commit ?? '')?.isLost);
  const ended = candidates.filter((one) => !isOver(one));
  const views = await surveySessions(repository, ended, { counts: false });
  const isLost = ({ record, headCommit, merged, exported, fate, isOnlyInSnapshots }: SessionStatus) =>
    !(merged || exported || fate.revertedBy) &&
    (isOnlyInSnapshots || hasCommitted(record, headCommit ?? record.from_commit));
  return views.filter(isLost).map(({ record }) => record.session_id);
}

function debtRow(context: Context, { record }: SessionStatus, debt: Debt): string[] {
  const { remote, snapshots, pushed_at, failed } = debt;
  const last = pushed_at === null ? 'never pushed' : `last push ${age(new Date(pushed_at), context.now())}`;
  const why = failed === null ? '' : `; a later one failed: ${showPath(failed.reason)}`;
  return [record.session_id, `${plural(snapshots, 'snapshot')} not on ${showPath(remote)} (${last}${why})`];
}

function describeSettings(context: Context, settings: readonly SettingValue[]): string {
  const rows = settings
    .filter(({ origin }) => origin !== 'default')
    .map(({ name, value, origin }) => [name, value, origin]);
  const changed =
    rows.length === 0
      ? `Settings: all default (see: ${agtInFolder(context.cwd)} config list)\n`
      : `Settings:\n${table(rows, '  ')}`;
  return `\nGit ${context.gitPath()}\n${changed}`;
}

function describeProblems(context: Context, findings: readonly Finding[]): string {
  const serious = findings.filter(({ level }) => level !== 'note');
  if (serious.length === 0) return '';
  const heading = paint(context.colour())('bold', plural(serious.length, 'problem'));
  return `\n${heading}\n${describeFindings(context, serious)}`;
}

function folderOf({ record, folder }: Session): string {
  return record.checkout ?? folder;
}

/** agt was ended, and has captured everything since. */
function isSettled({ pending, at, cwd }: LoggedFailure, sessions: readonly Session[]): boolean {
  if (pending !== true) return false;
  const around = sessions.filter((session) => `${cwd}/`.startsWith(`${folderOf(session)}/`));
  const [here] = around.toSorted((a, b) => folderOf(b).length - folderOf(a).length);
  return here !== undefined && isCompleteSince(here.repository.agtDir, here.id, new Date(at));
}

/** agt does not disturb an agent with its own failures, so a person reads of them here. */
function describeHookFailures(context: Context, failures: readonly LoggedFailure[]): string {
  if (failures.length === 0) return '';
  const last = `the last ${failures.length === 1 ? 'failure' : 'failures'} of hooks, not older than a day`;
  const lines = failures.map(
    ({ tool, event, at, reason }) =>
      `${age(new Date(at), context.now())}, hook of ${tool}${event && ` (${event})`}: ${showPath(reason)}\n`,
  );
  return `\n${paint(context.colour())('bold', last)}\n${lines.join('')}`;
}
