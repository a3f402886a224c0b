import { formatError } from '../../errors.ts';
import { shortBranch } from '../../git/files/refnames.ts';
import { examine } from '../../maintenance/doctor/examine.ts';
import type { Finding } from '../../maintenance/doctor/finding.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionView, viewSession } from '../../session/inspect.ts';
import { listRecords } from '../../session/record.ts';
import { finishRestore } from '../../timetravel/restore/finish.ts';
import { autocommit } from '../../triggers/autocommit.ts';
import { defineCommand, JSON_OPTION } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { age, json, paint, plural, table } from '../output/format.ts';
import { lastAutocommitText, printNotCaptured, sessionJson } from '../output/session.ts';
import { printFindings } from './doctor.ts';

export const status = defineCommand({
  usage: 'status',
  group: 'maintenance',
  summary: 'show sessions, their changes since the last autocommit, and problems',
  options: { json: JSON_OPTION },
  examples: [['agt status', 'show the state of this repository and its sessions']],
  run: async (args, context) => {
    const repository = await context.repository();
    const { records } = listRecords(repository);
    const active = records.filter(({ state }) => state !== 'removed');
    const sessions = [];
    for (const record of active) {
      const view = await viewSession(repository, record);
      sessions.push({ view, ...(await changedSince(repository, view, context)) });
    }
    const findings = await examine(repository, finishRestore);
    const settings = await context.settingValues();
    if (args.json) {
      context.out(
        json({
          repository: repository.commonDir,
          area: repository.area ?? null,
          sessions: sessions.map(({ view, changed, failed, problem }) => ({
            ...sessionJson(view),
            changed_since: changed ?? null,
            failed,
            ...(problem === undefined ? {} : { problem }),
          })),
          settings,
          findings,
        }),
      );
      return 0;
    }
    const removed = records.length - active.length;
    context.out(
      `Repository ${repository.commonDir}${repository.area === undefined ? '' : `, clone ${repository.area}`}\n`,
    );
    const kept = removed > 0 ? `, ${removed} removed (snapshots kept)` : '';
    context.out(`${plural(active.length, 'session')}${kept}\n`);
    const rows = sessions.map(({ view, changed }) => [
      view.record.session_id,
      view.sandboxPresent ? view.record.state : 'sandbox missing',
      view.head ?? (view.sandboxPresent ? '(detached)' : shortBranch(view.record.work_branch)),
      `last autocommit ${lastAutocommitText(view, context.now())}`,
      changed === undefined
        ? 'changes unknown'
        : changed === 0
          ? 'nothing changed since'
          : `${plural(changed, 'path')} changed since`,
      `last complete autocommit ${completeText(view, context)}`,
    ]);
    if (rows.length > 0) context.out(`\n${table(rows, '  ')}`);
    for (const { view, failed, problem } of sessions) {
      if (problem !== undefined) context.err(problem);
      printNotCaptured(context, view.record, failed);
    }
    printSettings(context, settings);
    printProblems(context, findings);
    return 0;
  },
});

async function changedSince(repository: Repository, view: SessionView, context: Context) {
  if (!view.sandboxPresent || view.record.state !== 'active')
    return { changed: undefined, failed: [], problem: undefined };
  try {
    const result = await autocommit(repository, view.record, { now: context.now(), dryRun: true });
    return { changed: result.changes.length, failed: result.failed, problem: undefined };
  } catch (error) {
    return { changed: undefined, failed: [], problem: formatError(error, false) };
  }
}

function completeText({ lastComplete }: SessionView, context: Context): string {
  return lastComplete === undefined ? 'never' : age(lastComplete, context.now());
}

function printSettings(context: Context, settings: Awaited<ReturnType<Context['settingValues']>>): void {
  const changed = settings.filter(({ origin }) => origin !== 'default');
  context.out(`\nGit ${context.gitPath()}\n`);
  if (changed.length === 0) context.out('Settings: all default (see: agt config list)\n');
  else
    context.out(
      `Settings:\n${table(
        changed.map(({ name, value, origin }) => [name, value, origin]),
        '  ',
      )}`,
    );
}

function printProblems(context: Context, findings: readonly Finding[]): void {
  const serious = findings.filter(({ level }) => level !== 'note');
  if (serious.length === 0) return;
  const colours = paint(context.colour);
  context.out(`\n${colours('bold', plural(serious.length, 'problem'))}\n`);
  printFindings(context, serious);
}
