import { basename } from 'node:path';
import { AgtError, EXIT, listSome, usageError } from '../../../errors.ts';
import { isActive } from '../../../filter/session-file.ts';
import { isAgent } from '../../../integrations/tools.ts';
import { removeSession } from '../../../lifecycle/remove.ts';
import { lostWithBranches } from '../../../lifecycle/unsaved-work.ts';
import { once } from '../../../once.ts';
import { shellQuote } from '../../../process/shell-quote.ts';
import type { Repository } from '../../../repository/repository.ts';
import { endAs, isNotStarted } from '../../../running/command.ts';
import { overlayOption } from '../../../running/namespace.ts';
import { runInSessions, type SessionToRun } from '../../../running/run.ts';
import { findSession, namedSession, sessionContaining } from '../../../session/find-session.ts';
import { listRecords, recordNamed, type SessionRecord, sessionIds } from '../../../session/record.ts';
import { connectAgain } from '../../../session/relocate.ts';
import { Session } from '../../../session/session.ts';
import { similar } from '../../../similar.ts';
import { defineCommand, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { createWanted, describeSetAside, isInPlace, notesOnStaying } from '../../creating.ts';
import { injectHooks } from '../../hooks/inject.ts';
import { lines, paint } from '../../output/format.ts';
import {
  commandArgument,
  environmentFor,
  namespaceFor,
  placeOf,
  reportNotRecorded,
  requireRunnable,
  runUnrecorded,
} from '../../running.ts';
import { runSetup } from '../../setup.ts';
import { reportFailure } from '../../sweeping.ts';

export const sessionRun = defineCommand({
  usage: 'session run [ids..]',
  takesRest: 'command',
  elsewhere: { '--with-changes': 'agt new ID --with-changes, then agt run ID -- COMMAND' },
  summary: 'run a command in the sandbox of a session, with autocommits',
  description:
    "Run the command after -- in the sandbox, with agt's git first on PATH. Its input, output, signals and exit code are " +
    'its own. Autocommit every --every seconds, and when the command has ended, by a signal too. The session names the ' +
    'command as its owner meanwhile. With several sessions, run the command in all of them at once, print each line of ' +
    'output after the id of its session, and exit with the highest exit code. With --all, run it in each active ' +
    'session, one after the other, as git submodule foreach does: the first that fails ends the run, and agt exits with ' +
    'its exit code. If the command is killed (SIGKILL, no memory), the session is failed at once, and reverted if agt.autoRevert says so. AGT_SESSION and AGT_SANDBOX name the ' +
    'session and its sandbox. XDG_DATA_HOME and XDG_CONFIG_HOME stay as they are, unless a profile in your settings sets ' +
    'them: [profile "x"] env = XDG_DATA_HOME={xdg}. The profiles claude-code, codex, opencode, gemini, qwen, pi, copilot, kilo, droid and cursor ' +
    'keep the conversation of that agent in the session; claude, opencode, kilo and pi then call agt in this run, as after agt hooks install.',
  positionals: { ids: option.many('session ids (default: the session of the current directory)') },
  options: {
    ...option.shared('session'),
    new: option.flag('create the session first, with a generated id if none is given'),
    from: option.value('with --new: start from this session, branch or commit (default: HEAD)'),
    ...option.shared('profile'),
    'working-copy': option.choice(
      ['auto', 'worktree', 'cow-overlay'],
      'cow-overlay: the command sees the sandbox at the path of your checkout, and nobody else does (default, and ' +
        'auto: as the session was created)',
    ),
    ...option.shared('if-repo'),
    all: option.flag('in each active session, one after the other', 'a'),
    quiet: option.flag('with --all, print no line before each session', 'q'),
    every: option.seconds('autocommit after so many seconds; 0: only at the end', '60'),
  },
  runsLong: true,
  examples: [
    ['agt session run fix-login -- my-agent', 'run an agent in a session'],
    ['agt run --new -- my-agent', 'the same in a new session'],
    ['agt run a b c -- npm test', 'run a command in three sessions at once'],
    ["agt run --all -- sh -c 'npm test || :'", 'in every session, also after one that fails'],
  ],
  run: async (args, context) => {
    const given = args.ids ?? [];
    const example = args.rest[0] ? '' : args.new ? exampleWith(given) : await exampleOf(context, given);
    const [id = '', ...more] = (args.new && given) || [];
    const named = id === '' ? [] : [`if ${id} is the id: ${exampleWith(more, id)}`];
    const words = commandArgument(args.rest, example, ...named);
    if (args.from !== undefined && !args.new) throw usageError('--from is for a new session', 'add --new');
    if (args.all && (args.new || args.session !== undefined || (args.ids ?? []).length > 0))
      throw usageError('--all stands for every active session', 'leave out the ids, --session and --new');
    if (args.ifRepo && (await context.repositoryIfAny()) === undefined) return runUnrecorded(context, words);
    const repository = await context.repository();
    const ids = [...new Set([...(args.ids ?? []), ...(args.session === undefined ? [] : [args.session])])];
    const made = args.new
      ? await createSessions(context, repository, ids, { ...args, showProgress: false, replace: true })
      : { records: [], said: '' };
    const found = args.new
      ? made.records
      : args.all
        ? listRecords(repository).records.filter(isActive)
        : ids.length === 0
          ? [findSession(repository, undefined, context.cwd)]
          : ids.map((id) => namedSession(repository, id, `to begin it: agt run --new ${id} -- COMMAND`));
    const onStarted = once(() => context.err(made.said));
    const start = async () => {
      const sessions = await Array.fromAsync(found, async (record) => {
        const session = await connectAgain(new Session(repository, record));
        requireRunnable(session);
        return session;
      });
      if (args.new) made.said += await adviceOfOverlay(context, repository, words, args.workingCopy);
      const width = Math.max(...sessions.map(({ id }) => id.length));
      const runs = await Array.fromAsync(sessions, async (session) => {
        const { id, record } = session;
        const label = paint(context.colour())('dim', `${id.padEnd(width)} |`);
        const namespace = await namespaceFor(context, session, args.workingCopy);
        const env = await environmentFor(context, record, args.profile, namespace);
        const profile = args.profile ?? record.profile;
        const command = await injectHooks(context, profile, { words, env }, namespace);
        const request = {
          ...command,
          ...placeOf(context, record, command.words, namespace),
          prefix: sessions.length > 1 && !args.all ? `${label} ` : undefined,
          everyMs: args.everyMs === 0 ? undefined : args.everyMs,
          now: context.now,
          isAgent,
          onStarted,
          onKilled: (killed: SessionRecord, reason: string) =>
            reportFailure(context, session.with(killed), reason),
          onProblem: (failed: SessionRecord, error: unknown) => reportNotRecorded(context, failed, error),
        };
        return { record, request };
      });
      if (args.all) return runOneByOne(context, repository, runs);
      const ends = await runInSessions(repository, runs).catch(async (error: unknown) => {
        throw args.new && isNotStarted(error) ? await withoutSessions(repository, sessions, error) : error;
      });
      return endAs(ends.reduce((worst, end) => (end.exitCode > worst.exitCode ? end : worst)));
    };
    return start().catch((error: unknown) => {
      if (!isNotStarted(error)) onStarted(); // the new sessions stay
      throw error;
    });
  },
});

/** With what was given before `--`, as it was meant. */
async function exampleOf(context: Context, given: readonly string[]): Promise<string> {
  const repository = await context.repositoryIfAny();
  const isId = (word: string) => repository !== undefined && recordNamed(repository, word) !== undefined;
  const end = given.findIndex((word) => !isId(word));
  const [ids, words] = end < 0 ? [given, []] : [given.slice(0, end), given.slice(end)];
  const [first = ''] = words;
  if (repository && ids.length === 0 && first !== '' && similar(first, sessionIds(repository)).length > 0)
    namedSession(repository, first);
  const isHere = ids.length > 0 || (repository && sessionContaining(repository, context.cwd) !== undefined);
  return isHere ? ['agt run', ...ids, '--', commandOf(words)].join(' ') : exampleWith(words);
}

/** In a new session. */
function exampleWith(words: readonly string[], ...ids: readonly string[]): string {
  return ['agt run --new', ...ids.map(shellQuote), '--', commandOf(words)].join(' ');
}

function commandOf(words: readonly string[]): string {
  if (words.length === 0) return 'COMMAND';
  const isLine = words.length === 1 && /\s/.test(words[0] ?? '');
  return `${isLine ? 'sh -c ' : ''}${words.map(shellQuote).join(' ')}`;
}

/** The command did not start: new sessions in which nothing was written go again. */
async function withoutSessions(
  repository: Repository,
  sessions: readonly Session[],
  { message, exitCode }: AgtError,
): Promise<AgtError> {
  const [gone, kept]: [string[], string[]] = [[], []];
  for (const { id } of sessions) {
    const session = new Session(repository, namedSession(repository, id));
    const isUsed = (await lostWithBranches(session)).length > 0;
    if (!isUsed) await removeSession(session, { force: false, deleteBranch: true, now: new Date() });
    (isUsed ? kept : gone).push(id);
  }
  const told = (what: string, ids: string[]) => (ids.length === 0 ? '' : `; ${what}: ${listSome(ids)}`);
  return new AgtError(message + told('removed again', gone) + told('kept', kept), { exitCode });
}

/** For a person who starts an agent and has chosen no working copy. */
async function adviceOfOverlay(
  context: Context,
  { worktree }: Repository,
  [program = '']: readonly string[],
  asked: string | undefined,
): Promise<string> {
  if (!isAgent(basename(program)) || worktree === undefined || asked !== undefined) return '';
  const chosen = (await context.settingValues()).find(({ name }) => name === 'fs.workingCopy');
  const option = chosen?.origin === 'default' && overlayOption(worktree);
  return lines([option && `hint: to keep all its commands from your checkout: agt run --new ${option}`]);
}

/** As `git submodule foreach`. Returns the exit code of the first command that fails. */
async function runOneByOne(context: Context, repository: Repository, sessions: readonly SessionToRun[]) {
  if (sessions.length === 0) context.err('note: no session is active\n');
  for (const [i, session] of sessions.entries()) {
    const { session_id: id } = session.record;
    context.out(`Entering '${id}'\n`);
    const [end] = await runInSessions(repository, [session]);
    if (end === undefined || end.exitCode === EXIT.done) continue;
    const others = sessions.slice(i + 1).map(({ record }) => record.session_id);
    const notRun = others.length === 0 ? '' : `; not run in ${listSome(others)}`;
    context.err(`error: the command failed in session "${id}" (exit code ${end.exitCode})${notRun}\n`);
    return endAs(end);
  }
  return EXIT.done;
}

/** `said`: for the moment when the command starts; a session whose command does not start goes again. */
async function createSessions(
  context: Context,
  repository: Repository,
  ids: readonly string[],
  wanted: Omit<Parameters<typeof createWanted>[2], 'id'>,
): Promise<{ readonly records: SessionRecord[]; said: string }> {
  await context.git(); // fails if git is too old
  if (ids.length > 1 && (await isInPlace(context, undefined)))
    throw usageError('several sessions cannot work in one checkout', 'name one, or unset fs.workingCopy');
  const made = { records: [] as SessionRecord[], said: '' };
  try {
    for (const id of ids.length === 0 ? [undefined] : ids) {
      const looksForWork = made.records.length === 0; // the others leave the same
      const { record, files } = await createWanted(context, repository, { ...wanted, id, looksForWork });
      made.said += `session ${record.session_id}\n`;
      made.said += await notesOnStaying(files);
      if (files.setAside?.length) made.said += `aside   ${describeSetAside(files.setAside)}\n`;
      if (record.checkout === undefined && (await runSetup(context, record)) !== EXIT.done)
        throw new AgtError('nothing was run');
      made.records.push(record);
    }
  } catch (error) {
    context.err(made.said);
    throw error;
  }
  return made;
}
