import type { CaptureResult, NotCaptured } from '../../autocommit/capture.ts';
import type { SettingValue } from '../../config/settings.ts';
import { EXIT, formatError } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import type { LoggedFailure } from '../../integrations/hooks-log.ts';
import type { Preview } from '../../maintenance/doctor/check-capture.ts';
import { checkRepository } from '../../maintenance/doctor/check-repository.ts';
import type { Finding } from '../../maintenance/doctor/finding.ts';
import type { Repository } from '../../repository/repository.ts';
import { listRecords } from '../../session/record.ts';
import { isEnded } from '../../session/state.ts';
import { type SessionStatus, surveySessions } from '../../survey/status.ts';
import { previewCapture } from '../../workspace/capture-session.ts';
import { defineCommand, JSON_OPTION } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { finishers } from '../finishers.ts';
import { failuresHere } from '../hooks/failures-here.ts';
import { printFindings } from '../output/findings.ts';
import { readFolderStatus } from '../output/folder-status.ts';
import { age, json, paint, plural, shortAge, showPath, table } from '../output/format.ts';
import { printNotCaptured, sessionJson } from '../output/session.ts';
import { sayOutOfSight, sessionTable } from '../output/session-table.ts';
import { attachedHere, attachedIfUsable, folderHere } from '../session-here.ts';
import { checkState } from '../state-access.ts';

export const status = defineCommand({
  usage: 'status',
  group: 'maintenance',
  summary: 'show sessions, their changes since the last autocommit, and problems',
  description:
    'Show the sessions as agt list does, and what is wrong. UNSAVED counts the paths that changed since the last ' +
    'autocommit, in all folders of a session; COMPLETE says when agt last captured everything. In a folder that has ' +
    'snapshots without a session, show these as agt snapshot status does.',
  options: { json: JSON_OPTION },
  examples: [['agt status', 'show the state of this repository and its sessions']],
  run: async (args, context) => {
    const repository = await context.repositoryIfAny();
    if (repository === undefined) return reportFolder(context, args.json);
    const { records } = listRecords(repository);
    const present = records.filter((record) => !isEnded(record));
    const previews = new Map<string, Promise<CaptureResult>>();
    const preview: Preview = (record) => {
      const { session_id: id } = record;
      const begin = async () => previewCapture(repository, record, { now: context.now() });
      const known = previews.get(id) ?? begin();
      previews.set(id, known);
      return known;
    };
    // While git answers for the survey, agt has time.
    const previewAll = async () => {
      for (const record of present.filter(isActive)) await preview(record).catch(() => undefined);
    };
    const [views] = await Promise.all([
      surveySessions(repository, present, { counts: args.json }),
      previewAll(),
    ]);
    const sessions: StatusLine[] = [];
    for (const view of views) sessions.push(await readStatus(preview, view));
    const { attached, problem } = await attachedIfUsable(context);
    const folder = attached && (await readFolderStatus(context, attached));
    const findings = [
      ...checkState(context, problem),
      ...(await checkRepository(repository, finishers, { preview })),
      ...(attached === undefined ? [] : await checkRepository(attached.repository, finishers)),
    ];
    const settings = await context.settingValues();
    const here = [...records.map((record) => ({ repository, record })), ...(attached ? [attached] : [])];
    const { commonDir, worktree } = repository;
    const hookFailures = failuresHere(context, here, [commonDir, ...(worktree ? [worktree] : [])]);
    if (args.json) {
      const { area = null } = repository;
      context.out(
        json({
          repository: commonDir,
          area,
          sessions: sessions.map(statusJson),
          folder: folder?.json ?? null,
          settings,
          findings,
          hook_failures: hookFailures,
        }),
      );
      return EXIT.done;
    }
    printRepository(context, repository, present.length, records.length - present.length);
    printSessions(context, sessions);
    if (folder !== undefined) context.out(`\nSnapshots without a session\n${folder.text}`);
    printSettings(context, settings);
    printProblems(context, findings);
    printHookFailures(context, hookFailures);
    return EXIT.done;
  },
});

/** Outside of repositories: the snapshots of the folder. */
async function reportFolder(context: Context, asJson: boolean): Promise<number> {
  const attached = await attachedHere(context);
  const { json: folder, text } = await readFolderStatus(context, attached);
  const findings = [
    ...checkState(context, undefined),
    ...(attached === undefined ? [] : await checkRepository(attached.repository, finishers)),
  ];
  const settings = await context.settingValues();
  const { folder: place } = await folderHere(context);
  const hookFailures = failuresHere(context, attached === undefined ? [] : [attached], [place]);
  if (asJson) {
    const none = { repository: null, area: null, sessions: [] };
    context.out(json({ ...none, folder, settings, findings, hook_failures: hookFailures }));
    return EXIT.done;
  }
  context.out(`${text}\nno sessions: this folder is in no git repository\n`);
  printSettings(context, settings);
  printProblems(context, findings);
  printHookFailures(context, hookFailures);
  return EXIT.done;
}

interface StatusLine {
  readonly view: SessionStatus;
  /** Paths that changed since the last autocommit; undefined if agt could not compare. */
  readonly changed?: number;
  readonly failed: readonly NotCaptured[];
  /** Why agt could not compare, as a printed error. */
  readonly problem?: string;
}

async function readStatus(preview: Preview, view: SessionStatus): Promise<StatusLine> {
  const { record } = view;
  if (!view.sandboxPresent || !isActive(record)) return { view, failed: [] };
  try {
    const result = await preview(record);
    return { view, changed: result.changes.length, failed: result.failed };
  } catch (error) {
    return { view, failed: [], problem: formatError(error, false) };
  }
}

function statusJson({ view, changed, failed, problem }: StatusLine) {
  return {
    ...sessionJson(view),
    changed_since: changed ?? null,
    failed,
    ...(problem === undefined ? {} : { problem }),
  };
}

function printRepository(
  context: Context,
  { commonDir, area }: Repository,
  present: number,
  removed: number,
): void {
  context.out(`Repository ${commonDir}${area === undefined ? '' : `, clone ${area}`}\n`);
  context.out(`${plural(present, 'session')}${removed > 0 ? `, ${removed} removed (snapshots kept)` : ''}\n`);
}

function printSessions(context: Context, sessions: readonly StatusLine[]): void {
  const changes = new Map(sessions.map(({ view, changed }) => [view, changed]));
  const views = sessions.map(({ view }) => view);
  const unsaved = {
    heading: 'UNSAVED',
    cell: (view: SessionStatus) => describeChanges(changes.get(view)),
    alignRight: true,
  } as const;
  const now = context.now();
  const complete = {
    heading: 'COMPLETE',
    cell: ({ lastComplete }: SessionStatus) =>
      lastComplete === undefined ? 'never' : `${shortAge(lastComplete, now)} ago`,
    dispensable: 7,
  } as const;
  if (views.length > 0) context.out(`\n${sessionTable(context, views, [unsaved, complete])}`);
  sayOutOfSight(context, views);
  for (const { view, failed, problem } of sessions) {
    if (problem !== undefined) context.err(problem);
    printNotCaptured(context, view.record, failed);
  }
}

/** Paths that no autocommit has captured yet. */
function describeChanges(changed: number | undefined): string {
  if (changed === undefined) return '?';
  return changed === 0 ? '' : `${changed}`;
}

function printSettings(context: Context, settings: readonly SettingValue[]): void {
  const changed = settings.filter(({ origin }) => origin !== 'default');
  context.out(`\nGit ${context.gitPath()}\n`);
  if (changed.length === 0) {
    context.out('Settings: all default (see: agt config list)\n');
    return;
  }
  const rows = changed.map(({ name, value, origin }) => [name, value, origin]);
  context.out(`Settings:\n${table(rows, '  ')}`);
}

function printProblems(context: Context, findings: readonly Finding[]): void {
  const serious = findings.filter(({ level }) => level !== 'note');
  if (serious.length === 0) return;
  const colours = paint(context.colour);
  context.out(`\n${colours('bold', plural(serious.length, 'problem'))}\n`);
  printFindings(context, serious);
}

/** agt does not disturb an agent with its own failures, so a person reads of them here. */
function printHookFailures(context: Context, failures: readonly LoggedFailure[]): void {
  if (failures.length === 0) return;
  const colours = paint(context.colour);
  const last = `the last ${failures.length === 1 ? 'failure' : 'failures'} of hooks`;
  context.out(`\n${colours('bold', `${last}, not older than a day`)}\n`);
  for (const { tool, event, at, reason } of failures)
    context.out(`${age(new Date(at), context.now())}, hook of ${tool} (${event}): ${showPath(reason)}\n`);
}
