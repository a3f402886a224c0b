import { AgtError, isAgtError, usageError } from '../../errors.ts';
import { isActive, isCapturedByItself } from '../../filter/session-file.ts';
import { resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { findSession, refuseMoved } from '../../session/find-session.ts';
import { listRecords, readRecord, type SessionRecord } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { autocommit as captureSession } from '../../triggers/autocommit.ts';
import type { AutocommitOptions } from '../../workspace/capture-session.ts';
import { defineCommand, givenSession, option, SESSION_ARGUMENT } from '../command-line/command.ts';
import { reportEach } from '../command-line/report.ts';
import type { Context } from '../context.ts';
import { reportAutocommit } from '../output/autocommit.ts';
import { adviceToSnapshot } from '../session-here.ts';
import { sweepFirst } from '../sweeping.ts';

export const autocommit = defineCommand({
  usage: 'autocommit [id]',
  summary: 'record the session folder as a snapshot on the shadow branch',
  description:
    'Commit the whole session folder to the shadow branch: sandbox/, xdg/ and config/ byte for byte, with untracked and ' +
    'ignored files and the index. If nothing changed, do nothing. The files, the index and the work branch stay as they ' +
    'are. Warn about files that are never captured, such as sockets and files larger than agt.maxFileSize; .agtignore ' +
    'in the session folder excludes files without a warning. If a file cannot be read, report an error, keep its last ' +
    'captured version in the snapshot, and exit with 1.',
  positionals: { id: SESSION_ARGUMENT },
  options: {
    ...option.shared('session'),
    all: option.flag('autocommit every active session (for cron)'),
    label: option.value('name the snapshot; the label becomes the commit subject', 'm'),
    'if-changed': option.flag('if nothing but the label is new, add no snapshot'),
    keep: option.many('keep this commit reachable from the snapshot, such as a stash before it is dropped'),
    tool: option.value('store the name of the tool call that made the changes'),
    siblings: option.value('scan only these folders, separated by commas: sandbox,xdg,config'),
    timestamp: option.value('reread every file that was modified at this Unix time or later'),
    ...option.shared('wait', 'dry-run', 'quiet', 'json'),
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
    const options: AutocommitOptions = {
      ...args,
      now: context.now(),
      isAskedByFront: !args.all,
      onlyIfChanged: args.ifChanged,
      keep: await Promise.all((args.keep ?? []).map((name) => resolveCommit(repository, name))),
      siblings: parseFolders(args.siblings),
      rereadSince: parseTimestamp(args.timestamp),
    };
    const capture = async (record: SessionRecord) => {
      const result = await captureSession(new Session(repository, record), options);
      return reportAutocommit(record, result, args.all);
    };
    if (!args.all) return capture(await sessionToCapture(context, repository, given));
    if (!args.dryRun) await sweepFirst(context, repository);
    const { records, damaged } = listRecords(repository);
    for (const { problem } of damaged) context.err(`error: ${problem}\n`);
    const captured = await reportEach(
      records.filter(isCapturedByItself),
      ({ session_id }) => ({ session_id }),
      (record) =>
        capture(record).catch((error: unknown) => {
          const now = readRecord(repository, record.session_id);
          if (now === undefined || !isActive(now)) return {}; // somebody has ended it since
          throw error;
        }),
    );
    return { ...captured, failed: captured.failed || damaged.length > 0 };
  },
});

async function resolveCommit({ git }: Repository, name: string): Promise<string> {
  const commit = await resolveObject(git, `${name}^{commit}`);
  if (commit !== undefined) return commit;
  throw new AgtError(`no commit "${name}" in this repository`, { hints: ['nothing was captured'] });
}

function parseFolders(text: string | undefined): string[] | undefined {
  const folders = text?.split(',').map((name) => name.trim());
  const unknown = folders?.find((name) => !TOP_FOLDERS.includes(name));
  if (unknown === undefined) return folders;
  throw usageError(`no folder "${unknown}" in a session`, `the folders are: ${TOP_FOLDERS.join(', ')}`);
}

function parseTimestamp(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (text.trim() === '' || !Number.isFinite(seconds)) {
    throw usageError(`invalid Unix time "${text}"`, 'for example: --timestamp "$(date +%s)"');
  }
  return seconds;
}

/** @throws AgtError that says how to record the folder without a session */
async function sessionToCapture(context: Context, repository: Repository, given: string | undefined) {
  if (given === undefined) refuseMoved(repository, context.cwd);
  try {
    return findSession(repository, given, context.cwd);
  } catch (error) {
    if (given === undefined && isAgtError(error))
      error.hints.push(await adviceToSnapshot(context, 'without a session'));
    throw error;
  }
}

/** Why a command that acts by itself does nothing here, by agt.enabled or AGT_OFF; undefined if it is not switched off. */
export async function whyOff(context: Context): Promise<string | undefined> {
  if ((await context.repository()).settings.enabled) return undefined;
  const setting = (await context.settingValues()).find(({ name }) => name === 'agt.enabled');
  return `agt is switched off here: agt.enabled is ${setting?.value} (${setting?.origin})\n`;
}
