/** agt session record and exec: the calls of an agent's tools as snapshots. */
import { isNamed } from '../../../config/values.ts';
import { formatError, usageError } from '../../../errors.ts';
import { endAs } from '../../../running/command.ts';
import { execTool, recordCall } from '../../../running/record-call.ts';
import {
  defineCommand,
  defineSessionCommand,
  option,
  SESSION_ARGUMENT,
  sessionInRepository,
} from '../../command-line/command.ts';
import { describeProblems, reportAutocommit } from '../../output/autocommit.ts';
import {
  commandArgument,
  environmentFor,
  namespaceFor,
  placeOf,
  reportNotRecorded,
  requireRunnable,
  runUnrecorded,
} from '../../running.ts';

const TOOL_OPTIONS = {
  tool: option.required('name of the tool'),
  'call-id': option.value('id of the call, as the agent knows it'),
  summary: option.value('one line about the call'),
  ...option.shared('wait'),
} as const;

const IF_CHANGED = option.flag('record the call only if files have changed');

function requireTool(tool: string): void {
  if (tool.trim() === '') throw usageError('--tool is empty', 'give the name of the tool: --tool Edit');
}

export const sessionRecord = defineSessionCommand({
  name: 'session record',
  alsoFolders: true,
  summary: 'record the call of a tool as a snapshot',
  description:
    'Autocommit the session after a tool has run, and write down the tool, the id of the call, a summary, and whether it ' +
    'failed. agt session log shows them. A call that changed nothing is recorded too, unless --if-changed is given. ' +
    'Nothing is recorded for the tools that agt.readOnlyTools names. If agt cannot record the call, the session is ' +
    'failed until the next complete autocommit.',
  options: {
    ...TOOL_OPTIONS,
    failed: option.flag('the tool has failed'),
    'if-changed': IF_CHANGED,
    ...option.shared('json'),
  },
  examples: [
    ['agt session record --tool Edit --summary "fix the login form"', 'after an edit, in the sandbox'],
    ['agt session record fix-login --tool Bash --failed', 'after a command that failed'],
  ],
  check: ({ tool }) => requireTool(tool),
  run: async (args, context, session) => {
    if (isNamed(args.tool, session.repository.settings.readOnlyTools))
      return { json: { session_id: session.id, outcome: 'read-only', commit: null } };
    const outcome = args.failed ? 'failed' : 'succeeded';
    const result = await recordCall(session, {
      ...args,
      call: { outcome, id: args.callId, summary: args.summary },
      onlyIfChanged: args.ifChanged,
      now: context.now(),
    });
    return reportAutocommit(session.record, result);
  },
});

export const sessionExec = defineCommand({
  usage: 'session exec [id]',
  takesRest: 'command',
  summary: 'run a tool in the sandbox and record its call as a snapshot',
  description:
    'Run the command after -- as agt session run does, then record the call as agt session record does: as failed unless ' +
    "the exit code is 0. The exit code is the command's own, also if agt cannot record the call; then agt says why, and " +
    'the session is failed until the next complete autocommit. SIGINT, SIGTERM and SIGHUP go to the command; agt ' +
    'records what it has left, then ends by the same signal.',
  positionals: { id: SESSION_ARGUMENT },
  options: {
    ...option.shared('session'),
    ...TOOL_OPTIONS,
    'if-changed': IF_CHANGED,
    ...option.shared('profile', 'if-repo'),
  },
  runsLong: true,
  examples: [
    [
      'agt session exec --tool Bash --summary "run the tests" -- npm test',
      'run a command of the agent and record it',
    ],
  ],
  run: async (args, context) => {
    const words = commandArgument(args.rest, 'agt session exec --tool Bash -- npm test');
    requireTool(args.tool);
    if (args.ifRepo && (await context.repositoryIfAny()) === undefined) return runUnrecorded(context, words);
    const session = await sessionInRepository(context, args);
    const { record } = session;
    requireRunnable(session);
    const namespace = await namespaceFor(context, session);
    const env = await environmentFor(context, record, args.profile, namespace);
    const result = await execTool(session, {
      ...args,
      isReadOnly: isNamed(args.tool, session.repository.settings.readOnlyTools),
      onlyIfChanged: args.ifChanged,
      now: context.now,
      line: { words, env, ...placeOf(context, record, words, namespace) },
    });
    if (result.startError !== undefined) context.err(formatError(result.startError, false));
    if (result.recorded !== undefined) context.err(describeProblems(record, result.recorded));
    if (result.recordError !== undefined) reportNotRecorded(context, record, result.recordError);
    return endAs(result.end);
  },
});
