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
import { age, json, paint, plural, table } from '../output/print.ts';
import { lastAutocommitText, printFailed, sessionJson } from '../output/session.ts';
import type { Program } from '../program.ts';
import { printFindings } from './doctor.ts';

export const status = defineCommand({
  usage: 'status',
  group: 'maintenance',
  summary: 'show sessions, their changes since the last autocommit, and problems',
  options: { json: JSON_OPTION },
  examples: [['agt status', 'show the state of this repository and its sessions']],
  run: async (args, program) => {
    const repository = await program.repository();
    const { records } = listRecords(repository);
    const active = records.filter(({ state }) => state !== 'removed');
    const sessions = [];
    for (const record of active) {
      const view = await viewSession(repository, record);
      sessions.push({ view, ...(await changedSince(repository, view, program)) });
    }
    const findings = await examine(repository, finishRestore);
    const settings = await program.settingValues();
    if (args.json) {
      program.out(
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
    program.out(
      `Repository ${repository.commonDir}${repository.area === undefined ? '' : `, clone ${repository.area}`}\n`,
    );
    const kept = removed > 0 ? `, ${removed} removed (snapshots kept)` : '';
    program.out(`${plural(active.length, 'session')}${kept}\n`);
    const rows = sessions.map(({ view, changed }) => [
      view.record.session_id,
      view.sandboxPresent ? view.record.state : 'sandbox missing',
      view.head ?? (view.sandboxPresent ? '(detached)' : shortBranch(view.record.work_branch)),
      `last autocommit ${lastAutocommitText(view, program.now())}`,
      changed === undefined
        ? 'changes unknown'
        : changed === 0
          ? 'nothing changed since'
          : `${plural(changed, 'path')} changed since`,
      `last complete autocommit ${completeText(view, program)}`,
    ]);
    if (rows.length > 0) program.out(`\n${table(rows, '  ')}`);
    for (const { view, failed, problem } of sessions) {
      if (problem !== undefined) program.err(problem);
      printFailed(program, view.record, failed);
    }
    printSettings(program, settings);
    printProblems(program, findings);
    return 0;
  },
});

async function changedSince(repository: Repository, view: SessionView, program: Program) {
  if (!view.sandboxPresent || view.record.state !== 'active')
    return { changed: undefined, failed: [], problem: undefined };
  try {
    const result = await autocommit(repository, view.record, { now: program.now(), dryRun: true });
    return { changed: result.changes.length, failed: result.failed, problem: undefined };
  } catch (error) {
    return { changed: undefined, failed: [], problem: formatError(error, false) };
  }
}

function completeText({ lastComplete }: SessionView, program: Program): string {
  return lastComplete === undefined ? 'never' : age(lastComplete, program.now());
}

function printSettings(program: Program, settings: Awaited<ReturnType<Program['settingValues']>>): void {
  const changed = settings.filter(({ origin }) => origin !== 'default');
  program.out(`\nGit ${program.gitPath()}\n`);
  if (changed.length === 0) program.out('Settings: all default (see: agt config list)\n');
  else
    program.out(
      `Settings:\n${table(
        changed.map(({ name, value, origin }) => [name, value, origin]),
        '  ',
      )}`,
    );
}

function printProblems(program: Program, findings: readonly Finding[]): void {
  const serious = findings.filter(({ level }) => level !== 'note');
  if (serious.length === 0) return;
  const colours = paint(program.colour);
  program.out(`\n${colours('bold', plural(serious.length, 'problem'))}\n`);
  printFindings(program, serious);
}
