import type { CaptureResult } from '../../autocommit/capture.ts';
import { AgtError, EXIT, formatError, usageError } from '../../errors.ts';
import { autocommit as captureSession } from '../../session/autocommit.ts';
import { findSession } from '../../session/locate.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import type { Repository } from '../../session/repository.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../command.ts';
import { json, plural, showPath } from '../print.ts';
import type { Program } from '../program.ts';
import { printFailed } from './printed-session.ts';

export const autocommit = defineCommand({
  usage: 'autocommit',
  group: 'states',
  summary: 'capture the whole session folder on its shadow branch',
  description:
    'Captures sandbox, xdg and config byte for byte, ignored files and the index included, as one commit on the shadow ' +
    'branch. Does nothing where nothing has changed. What a rule leaves out is named (a socket, a file larger than ' +
    'agt.maxFileSize; not what .agtignore names). What cannot be captured, such as a file that cannot be read, is named ' +
    'too, keeps its last state, and makes the exit code 1: the capture is not complete.',
  options: {
    'session-id': SESSION_ID_OPTION,
    all: { type: 'boolean', default: false, describe: 'every active session, for cron' },
    label: { type: 'string', describe: 'a name for this moment, used as the subject' },
    tool: { type: 'string', describe: 'the tool call that led here, kept with the commit' },
    siblings: { type: 'string', describe: 'scan only these top-level folders: sandbox,xdg,config' },
    timestamp: {
      type: 'string',
      describe: 'read every file again that was modified at this Unix time or later',
    },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt autocommit', 'the session that the current folder belongs to'],
    ['agt autocommit --session-id fix-login --label "tests pass"', 'with a name to find it by'],
    ['agt autocommit --all', 'from cron'],
  ],
  run: async (args, program) => {
    const repository = await program.repository();
    if (args.all && args['session-id'] !== undefined)
      throw usageError('--all and --session-id exclude each other');
    const options = {
      now: program.now(),
      dryRun: args['dry-run'],
      ...(args.label === undefined ? {} : { label: args.label }),
      ...(args.tool === undefined ? {} : { tool: args.tool }),
      ...(args.siblings === undefined ? {} : { siblings: parseSiblings(args.siblings) }),
      ...(args.timestamp === undefined ? {} : { rereadSince: parseTimestamp(args.timestamp) }),
    };
    if (args.all) return captureAll(program, repository, options, args.json);
    const record = findSession(repository, args['session-id'], program.cwd);
    const result = await captureSession(repository, record, options);
    if (args.json) program.out(json(resultJson(record, result)));
    else report(program, record, result, { quietWhenUnchanged: false, list: args['dry-run'] });
    return exitCodeOf(result);
  },
});

function exitCodeOf({ failed }: CaptureResult): number {
  return failed.length > 0 ? EXIT.failed : EXIT.done;
}

/** Goes on past a session that fails; the worst exit code counts. */
async function captureAll(
  program: Program,
  repository: Repository,
  options: Parameters<typeof captureSession>[2],
  asJson: boolean,
): Promise<number> {
  const { records, damaged } = listRecords(repository);
  for (const { problem } of damaged) program.err(`error: ${problem}\n`);
  let worst: number = damaged.length > 0 ? EXIT.failed : EXIT.done;
  const results: unknown[] = [];
  for (const record of records.filter(({ state }) => state === 'active')) {
    try {
      const result = await captureSession(repository, record, options);
      results.push(resultJson(record, result));
      if (worst === EXIT.done || worst === EXIT.busy) worst = exitCodeOf(result) || worst;
      if (!asJson) report(program, record, result, { quietWhenUnchanged: true, list: false });
    } catch (error) {
      program.err(formatError(error, false));
      const code = error instanceof AgtError ? error.exitCode : EXIT.failed;
      results.push({ session_id: record.session_id, outcome: 'failed', error: (error as Error).message });
      if (worst === EXIT.done || worst === EXIT.busy) worst = code;
    }
  }
  if (asJson) program.out(json(results));
  return worst;
}

interface ReportOptions {
  readonly quietWhenUnchanged: boolean;
  /** Each path on a line of its own. */
  readonly list: boolean;
}

function report(
  program: Program,
  record: SessionRecord,
  result: CaptureResult,
  options: ReportOptions,
): void {
  for (const warning of result.warnings) program.err(`warning: ${record.session_id}: ${warning}\n`);
  for (const { path, reason } of result.skipped) {
    program.err(`warning: ${record.session_id}: not captured: ${showPath(path)}: ${reason}\n`);
  }
  printFailed(program, record, result.failed);
  const { outcome, changes, commit, failed } = result;
  if (failed.length > 0) program.err(`error: ${record.session_id}: not everything could be captured\n`);
  if (outcome === 'unchanged') {
    if (!options.quietWhenUnchanged) program.out(`${record.session_id}: nothing changed\n`);
    return;
  }
  if (options.list) {
    const letters = { added: 'A', changed: 'M', deleted: 'D', mode: 'M' };
    for (const { path, kind } of changes) program.out(`${letters[kind]} ${showPath(path)}\n`);
  }
  const what = plural(changes.length, 'path');
  if (outcome === 'would-commit') program.out(`${record.session_id}: would capture ${what}\n`);
  else program.out(`${record.session_id}: captured ${what} as ${commit?.slice(0, 10)}\n`);
}

function resultJson(record: SessionRecord, result: CaptureResult) {
  return { session_id: record.session_id, ...result, commit: result.commit ?? null };
}

function parseSiblings(text: string): string[] {
  const known = ['sandbox', 'xdg', 'config'];
  const named = text.split(',').map((name) => name.trim());
  for (const name of named) {
    if (!known.includes(name))
      throw usageError(`'${name}' is no folder of a session`, `siblings: ${known.join(', ')}`);
  }
  return named;
}

function parseTimestamp(text: string): number {
  const seconds = Number(text);
  if (text.trim() === '' || !Number.isFinite(seconds)) {
    throw usageError(`'${text}' is not a Unix time in seconds`, 'for example: --timestamp "$(date +%s)"');
  }
  return seconds;
}
