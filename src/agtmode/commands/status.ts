import type { NotCaptured } from '../../autocommit/capture.ts';
import type { SettingValue } from '../../config/settings.ts';
import { EXIT, formatError } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import { checkRepository } from '../../maintenance/doctor/check-repository.ts';
import type { Finding } from '../../maintenance/doctor/finding.ts';
import type { Repository } from '../../repository/repository.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import { isEnded } from '../../session/state.ts';
import { readSessionStatus, type SessionStatus } from '../../session/status.ts';
import { autocommit } from '../../triggers/autocommit.ts';
import { defineCommand, JSON_OPTION } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { finishers } from '../finishers.ts';
import { printFindings } from '../output/findings.ts';
import { age, json, paint, plural, table } from '../output/format.ts';
import { currentBranch, lastAutocommitAge, printNotCaptured, sessionJson } from '../output/session.ts';

export const status = defineCommand({
  usage: 'status',
  group: 'maintenance',
  summary: 'show sessions, their changes since the last autocommit, and problems',
  options: { json: JSON_OPTION },
  examples: [['agt status', 'show the state of this repository and its sessions']],
  run: async (args, context) => {
    const repository = await context.repository();
    const { records } = listRecords(repository);
    const present = records.filter((record) => !isEnded(record));
    const sessions: StatusLine[] = [];
    for (const record of present) sessions.push(await readStatus(context, repository, record));
    const findings = await checkRepository(repository, finishers);
    const settings = await context.settingValues();
    if (args.json) {
      const { commonDir, area = null } = repository;
      context.out(
        json({ repository: commonDir, area, sessions: sessions.map(statusJson), settings, findings }),
      );
      return EXIT.done;
    }
    printRepository(context, repository, present.length, records.length - present.length);
    printSessions(context, sessions);
    printSettings(context, settings);
    printProblems(context, findings);
    return EXIT.done;
  },
});

interface StatusLine {
  readonly view: SessionStatus;
  /** Paths that changed since the last autocommit; undefined if agt could not compare. */
  readonly changed?: number;
  readonly failed: readonly NotCaptured[];
  /** Why agt could not compare, as a printed error. */
  readonly problem?: string;
}

async function readStatus(
  context: Context,
  repository: Repository,
  record: SessionRecord,
): Promise<StatusLine> {
  const view = await readSessionStatus(repository, record);
  if (!view.sandboxPresent || !isActive(record)) return { view, failed: [] };
  try {
    const result = await autocommit(repository, record, { now: context.now(), dryRun: true });
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
  const now = context.now();
  const rows = sessions.map(({ view, changed }) => [
    view.record.session_id,
    view.sandboxPresent ? view.record.state : 'sandbox missing',
    currentBranch(view),
    `last autocommit ${lastAutocommitAge(view, now)}`,
    describeChanges(changed),
    `last complete autocommit ${view.lastComplete === undefined ? 'never' : age(view.lastComplete, now)}`,
  ]);
  if (rows.length > 0) context.out(`\n${table(rows, '  ')}`);
  for (const { view, failed, problem } of sessions) {
    if (problem !== undefined) context.err(problem);
    printNotCaptured(context, view.record, failed);
  }
}

function describeChanges(changed: number | undefined): string {
  if (changed === undefined) return 'changes unknown';
  return changed === 0 ? 'nothing changed since' : `${plural(changed, 'path')} changed since`;
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
