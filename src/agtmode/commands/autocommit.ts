import type { CaptureResult } from '../../autocommit/capture.ts';
import { AgtError, EXIT, exitCodeFor, formatError, usageError, worstExitCode } from '../../errors.ts';
import { isActive, isCapturedByItself } from '../../filter/session-file.ts';
import { resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { findSession } from '../../session/find-session.ts';
import { listRecords, readRecord, type SessionRecord } from '../../session/record.ts';
import { retryWhileBusy } from '../../session/retry.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { autocommit as captureSession } from '../../triggers/autocommit.ts';
import type { AutocommitOptions } from '../../workspace/capture-session.ts';
import {
  DRY_RUN_OPTION,
  defineCommand,
  flag,
  JSON_OPTION,
  QUIET_OPTION,
  withValue,
} from '../command-line/command.ts';
import { parseDuration } from '../command-line/duration.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../command-line/session-command.ts';
import type { Context } from '../context.ts';
import { autocommitJson, printAutocommit, reportAutocommit } from '../output/autocommit.ts';
import { errorJson, json } from '../output/format.ts';
import { sweepFirst } from '../sweeping.ts';
import { whyOff } from '../switched-off.ts';

export const autocommit = defineCommand({
  usage: 'autocommit [id]',
  group: 'snapshots',
  summary: 'record the session folder as a snapshot on the shadow branch',
  description:
    'Commit the whole session folder to the shadow branch: sandbox/, xdg/ and config/ byte for byte, with untracked and ' +
    'ignored files and the index. If nothing changed, do nothing. The files, the index and the work branch stay as they ' +
    'are. Warn about files that are never captured, such as sockets and files larger than agt.maxFileSize; .agtignore ' +
    'in the session folder excludes files without a warning. If a file cannot be read, report an error, keep its last ' +
    'captured version in the snapshot, and exit with 1.',
  positionals: { id: SESSION_ARGUMENT },
  options: {
    session: SESSION_OPTION,
    all: flag('autocommit every active session (for cron)'),
    label: withValue('name the snapshot; the label becomes the commit subject'),
    'if-changed': flag('if nothing but the label is new, add no snapshot'),
    keep: {
      type: 'string',
      array: true,
      describe: 'keep this commit reachable from the snapshot, such as a stash before it is dropped',
    },
    tool: withValue('store the name of the tool call that made the changes'),
    siblings: withValue('scan only these folders, separated by commas: sandbox,xdg,config'),
    timestamp: withValue('reread every file that was modified at this Unix time or later'),
    wait: {
      type: 'string',
      default: '0',
      describe: 'wait this many seconds if another agt is working on the session',
    },
    'dry-run': DRY_RUN_OPTION,
    quiet: QUIET_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt autocommit', 'record the session of the current directory'],
    ['agt autocommit fix-login --label "tests pass"', 'record a session, with a name for the snapshot'],
    ['agt autocommit --all', 'record every active session'],
  ],
  run: async (args, context) => {
    const repository = await context.repository();
    const off = await whyOff(context);
    if (off !== undefined) return { json: args.all ? [] : null, text: off };
    const given = givenSession(args);
    if (args.label === '') throw usageError('--label is empty', 'give a name, or leave the option out');
    if (args.all && given !== undefined) throw usageError(`give --all or the session "${given}", not both`);
    const options = await autocommitOptions(args, repository, context.now());
    const waitMs = parseDuration('wait', args.wait);
    const capture: Capture = (record) =>
      retryWhileBusy(waitMs, () => captureSession(repository, record, options));
    if (args.all && !args['dry-run']) await sweepFirst(context, repository);
    if (args.all) return autocommitAll(context, repository, capture, args.json);
    const record = findSession(repository, given, context.cwd);
    const result = await capture(record);
    return reportAutocommit(context, record, result, args);
  },
});

type Capture = (record: SessionRecord) => Promise<CaptureResult>;

interface Arguments {
  readonly 'if-changed': boolean;
  readonly 'dry-run': boolean;
  readonly keep: readonly string[] | undefined;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  readonly siblings: string | undefined;
  readonly timestamp: string | undefined;
}

async function autocommitOptions(
  args: Arguments,
  repository: Repository,
  now: Date,
): Promise<AutocommitOptions> {
  return {
    now,
    dryRun: args['dry-run'],
    onlyIfChanged: args['if-changed'],
    keep: await Promise.all((args.keep ?? []).map((name) => resolveCommit(repository, name))),
    ...(args.label === undefined ? {} : { label: args.label }),
    ...(args.tool === undefined ? {} : { tool: args.tool }),
    ...(args.siblings === undefined ? {} : { siblings: parseFolders(args.siblings) }),
    ...(args.timestamp === undefined ? {} : { rereadSince: parseTimestamp(args.timestamp) }),
  };
}

async function resolveCommit({ git }: Repository, name: string): Promise<string> {
  const commit = await resolveObject(git, `${name}^{commit}`);
  if (commit !== undefined) return commit;
  throw new AgtError(`no commit "${name}" in this repository`, { hints: ['nothing was captured'] });
}

function parseFolders(text: string): string[] {
  const folders = text.split(',').map((name) => name.trim());
  const unknown = folders.find((name) => !TOP_FOLDERS.includes(name));
  if (unknown === undefined) return folders;
  throw usageError(`no folder "${unknown}" in a session`, `the folders are: ${TOP_FOLDERS.join(', ')}`);
}

function parseTimestamp(text: string): number {
  const seconds = Number(text);
  if (text.trim() === '' || !Number.isFinite(seconds)) {
    throw usageError(`invalid Unix time "${text}"`, 'for example: --timestamp "$(date +%s)"');
  }
  return seconds;
}

function exitCodeOf({ failed }: CaptureResult): number {
  return failed.length > 0 ? EXIT.failed : EXIT.done;
}

/** Goes on after a session that fails. */
async function autocommitAll(
  context: Context,
  repository: Repository,
  capture: Capture,
  asJson: boolean,
): Promise<number> {
  const { records, damaged } = listRecords(repository);
  for (const { problem } of damaged) context.err(`error: ${problem}\n`);
  const exitCodes: number[] = damaged.map(() => EXIT.failed);
  const results: unknown[] = [];
  for (const record of records.filter(isCapturedByItself)) {
    try {
      const result = await capture(record);
      exitCodes.push(exitCodeOf(result));
      results.push(autocommitJson(record, result));
      if (!asJson) printAutocommit(context, record, result, { quietIfUnchanged: true, listChanges: false });
    } catch (error) {
      if (hasEnded(repository, record)) continue;
      context.err(formatError(error, false));
      exitCodes.push(exitCodeFor(error));
      results.push({ session_id: record.session_id, outcome: 'failed', ...errorJson(error) });
    }
  }
  if (asJson) context.out(json(results));
  return worstExitCode(exitCodes);
}

/** Whether somebody has removed the session since it was listed. */
function hasEnded(repository: Repository, { session_id: id }: SessionRecord): boolean {
  const record = readRecord(repository, id);
  return record === undefined || !isActive(record);
}
