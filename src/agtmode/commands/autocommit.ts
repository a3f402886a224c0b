import type { CaptureResult } from '../../autocommit/capture.ts';
import { AgtError, EXIT, formatError, usageError } from '../../errors.ts';
import { gitAnswer } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { findSession } from '../../session/locate.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import { patiently } from '../../session/wait.ts';
import { autocommit as captureSession } from '../../triggers/autocommit.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../command-line/command.ts';
import { parseDuration } from '../command-line/duration.ts';
import type { Context } from '../context.ts';
import { autocommitJson, printAutocommit } from '../output/autocommit.ts';
import { json } from '../output/format.ts';

export const autocommit = defineCommand({
  usage: 'autocommit',
  group: 'snapshots',
  summary: 'record the session folder as a snapshot on the shadow branch',
  description:
    'Commit the whole session folder to the shadow branch: sandbox/, xdg/ and config/ byte for byte, with untracked and ' +
    'ignored files and the index. If nothing changed, do nothing. The files, the index and the work branch stay as they ' +
    'are. Warn about files that are never captured, such as sockets and files larger than agt.maxFileSize; .agtignore ' +
    'in the session folder excludes files without a warning. If a file cannot be read, report an error, keep its last ' +
    'captured version in the snapshot, and exit with 1.',
  options: {
    'session-id': SESSION_ID_OPTION,
    all: { type: 'boolean', default: false, describe: 'autocommit every active session (for cron)' },
    label: { type: 'string', describe: 'name the snapshot; the label becomes the commit subject' },
    'if-changed': {
      type: 'boolean',
      default: false,
      describe: 'if nothing but the label is new, add no snapshot',
    },
    keep: {
      type: 'string',
      array: true,
      describe: 'keep this commit reachable from the snapshot, such as a stash before it is dropped',
    },
    tool: { type: 'string', describe: 'store the name of the tool call that made the changes' },
    siblings: {
      type: 'string',
      describe: 'scan only these folders, separated by commas: sandbox,xdg,config',
    },
    timestamp: {
      type: 'string',
      describe: 'reread every file that was modified at this Unix time or later',
    },
    wait: {
      type: 'string',
      default: '0',
      describe: 'wait this many seconds if another agt is working on the session',
    },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt autocommit', 'record the session of the current directory'],
    [
      'agt autocommit --session-id fix-login --label "tests pass"',
      'record a session, with a name for the snapshot',
    ],
    ['agt autocommit --all', 'record every active session'],
  ],
  run: async (args, context) => {
    const repository = await context.repository();
    if (args.all && args['session-id'] !== undefined)
      throw usageError('--all and --session-id cannot be used together');
    const wait = parseDuration('wait', args.wait);
    const options = {
      onlyIfChanged: args['if-changed'],
      keep: await Promise.all((args.keep ?? []).map((name) => resolveCommit(repository, name))),
      now: context.now(),
      dryRun: args['dry-run'],
      ...(args.label === undefined ? {} : { label: args.label }),
      ...(args.tool === undefined ? {} : { tool: args.tool }),
      ...(args.siblings === undefined ? {} : { siblings: parseSiblings(args.siblings) }),
      ...(args.timestamp === undefined ? {} : { rereadSince: parseTimestamp(args.timestamp) }),
    };
    const capture = (record: SessionRecord) =>
      patiently(wait, () => captureSession(repository, record, options));
    if (args.all) return captureAll(context, repository, capture, args.json);
    const record = findSession(repository, args['session-id'], context.cwd);
    const result = await capture(record);
    if (args.json) context.out(json(autocommitJson(record, result)));
    else printAutocommit(context, record, result, { quietWhenUnchanged: false, list: args['dry-run'] });
    return exitCodeOf(result);
  },
});

async function resolveCommit({ git }: Repository, name: string): Promise<string> {
  const commit = await gitAnswer(git, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${name}^{commit}`,
  ]);
  if (commit !== undefined) return commit;
  throw new AgtError(`no commit "${name}" in this repository`, { hints: ['nothing was captured'] });
}

function exitCodeOf({ failed }: CaptureResult): number {
  return failed.length > 0 ? EXIT.failed : EXIT.done;
}

/** Goes on past a session that fails; the worst exit code counts. */
async function captureAll(
  context: Context,
  repository: Repository,
  capture: (record: SessionRecord) => Promise<CaptureResult>,
  asJson: boolean,
): Promise<number> {
  const { records, damaged } = listRecords(repository);
  for (const { problem } of damaged) context.err(`error: ${problem}\n`);
  let worst: number = damaged.length > 0 ? EXIT.failed : EXIT.done;
  const results: unknown[] = [];
  for (const record of records.filter(({ state }) => state === 'active')) {
    try {
      const result = await capture(record);
      results.push(autocommitJson(record, result));
      if (worst === EXIT.done || worst === EXIT.busy) worst = exitCodeOf(result) || worst;
      if (!asJson) printAutocommit(context, record, result, { quietWhenUnchanged: true, list: false });
    } catch (error) {
      context.err(formatError(error, false));
      const code = error instanceof AgtError ? error.exitCode : EXIT.failed;
      results.push({ session_id: record.session_id, outcome: 'failed', error: (error as Error).message });
      if (worst === EXIT.done || worst === EXIT.busy) worst = code;
    }
  }
  if (asJson) context.out(json(results));
  return worst;
}

function parseSiblings(text: string): string[] {
  const known = ['sandbox', 'xdg', 'config'];
  const named = text.split(',').map((name) => name.trim());
  for (const name of named) {
    if (!known.includes(name))
      throw usageError(`no folder "${name}" in a session`, `the folders are: ${known.join(', ')}`);
  }
  return named;
}

function parseTimestamp(text: string): number {
  const seconds = Number(text);
  if (text.trim() === '' || !Number.isFinite(seconds)) {
    throw usageError(`invalid Unix time "${text}"`, 'for example: --timestamp "$(date +%s)"');
  }
  return seconds;
}
