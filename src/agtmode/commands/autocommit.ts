import type { CaptureResult } from '../../autocommit/capture.ts';
import { AgtError, EXIT, formatError, usageError } from '../../errors.ts';
import { resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { findSession } from '../../session/find-session.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import { retryWhileBusy } from '../../session/retry.ts';
import { autocommit as captureSession } from '../../triggers/autocommit.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../command-line/command.ts';
import { milliseconds } from '../command-line/durations.ts';
import { captureJson, printCapture } from '../output/capture.ts';
import { json } from '../output/print.ts';
import type { Program } from '../program.ts';

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
    label: { type: 'string', describe: 'a name for this snapshot, used as the subject' },
    'if-changed': { type: 'boolean', default: false, describe: 'a label alone is not worth an autocommit' },
    keep: {
      type: 'string',
      array: true,
      describe: 'a commit that the state keeps reachable, such as a stash before it is dropped',
    },
    tool: { type: 'string', describe: 'the tool call that led here, kept with the commit' },
    siblings: { type: 'string', describe: 'scan only these top-level folders: sandbox,xdg,config' },
    timestamp: {
      type: 'string',
      describe: 'read every file again that was modified at this Unix time or later',
    },
    wait: {
      type: 'string',
      default: '0',
      describe: 'seconds to wait for another agt that works on the session',
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
    const wait = milliseconds('wait', args.wait);
    const options = {
      onlyIfChanged: args['if-changed'],
      keep: await Promise.all((args.keep ?? []).map((name) => resolveCommit(repository, name))),
      now: program.now(),
      dryRun: args['dry-run'],
      ...(args.label === undefined ? {} : { label: args.label }),
      ...(args.tool === undefined ? {} : { tool: args.tool }),
      ...(args.siblings === undefined ? {} : { siblings: parseSiblings(args.siblings) }),
      ...(args.timestamp === undefined ? {} : { rereadSince: parseTimestamp(args.timestamp) }),
    };
    const capture = (record: SessionRecord) =>
      retryWhileBusy(wait, () => captureSession(repository, record, options));
    if (args.all) return captureAll(program, repository, capture, args.json);
    const record = findSession(repository, args['session-id'], program.cwd);
    const result = await capture(record);
    if (args.json) program.out(json(captureJson(record, result)));
    else printCapture(program, record, result, { quietWhenUnchanged: false, list: args['dry-run'] });
    return exitCodeOf(result);
  },
});

async function resolveCommit({ git }: Repository, name: string): Promise<string> {
  const commit = await resolveObject(git, `${name}^{commit}`);
  if (commit !== undefined) return commit;
  throw new AgtError(`'${name}' is no commit in this repository`, { hints: ['nothing was captured'] });
}

function exitCodeOf({ failed }: CaptureResult): number {
  return failed.length > 0 ? EXIT.failed : EXIT.done;
}

/** Goes on past a session that fails; the worst exit code counts. */
async function captureAll(
  program: Program,
  repository: Repository,
  capture: (record: SessionRecord) => Promise<CaptureResult>,
  asJson: boolean,
): Promise<number> {
  const { records, damaged } = listRecords(repository);
  for (const { problem } of damaged) program.err(`error: ${problem}\n`);
  let worst: number = damaged.length > 0 ? EXIT.failed : EXIT.done;
  const results: unknown[] = [];
  for (const record of records.filter(({ state }) => state === 'active')) {
    try {
      const result = await capture(record);
      results.push(captureJson(record, result));
      if (worst === EXIT.done || worst === EXIT.busy) worst = exitCodeOf(result) || worst;
      if (!asJson) printCapture(program, record, result, { quietWhenUnchanged: true, list: false });
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
