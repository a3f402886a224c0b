import { formatError } from '../../../errors.ts';
import { endAs } from '../../../running/command.ts';
import { execTool } from '../../../running/exec.ts';
import { isReadOnly } from '../../../running/record-call.ts';
import { defineCommand, flag } from '../../command-line/command.ts';
import { parseDuration } from '../../command-line/duration.ts';
import { SESSION_ARGUMENT, SESSION_OPTION, sessionInRepository } from '../../command-line/session-command.ts';
import { describeProblems } from '../../output/autocommit.ts';
import {
  commandArgument,
  directoryFor,
  environmentFor,
  IF_REPO_OPTION,
  PROFILE_OPTION,
  reportNotRecorded,
  requireRunnable,
  requireTool,
  runUnrecorded,
  TOOL_OPTIONS,
} from '../../running.ts';

export const sessionExec = defineCommand({
  usage: 'session exec [id]',
  takesRest: true,
  group: 'snapshots',
  summary: 'run a tool in the sandbox and record its call as a snapshot',
  description:
    'Run the command after -- as agt session run does, then record the call as agt session record does: as failed unless ' +
    "the exit code is 0. The exit code is the command's own, also if agt cannot record the call; then agt says why, and " +
    'the session is failed until the next complete autocommit. SIGINT, SIGTERM and SIGHUP go to the command; agt ' +
    'records what it has left, then ends by the same signal.',
  positionals: { id: SESSION_ARGUMENT },
  options: {
    session: SESSION_OPTION,
    ...TOOL_OPTIONS,
    'if-changed': flag('record the call only if files have changed'),
    profile: PROFILE_OPTION,
    'if-repo': IF_REPO_OPTION,
  },
  runsLong: true,
  examples: [
    [
      'agt session exec --tool Bash --summary "run the tests" -- npm test',
      'run a command of the agent and record it',
    ],
  ],
  run: async (args, context) => {
    const words = commandArgument(args, 'agt session exec --tool Bash -- npm test');
    const tool = requireTool(args.tool);
    const waitMs = parseDuration('wait', args.wait);
    if (args['if-repo'] && (await context.repositoryIfAny()) === undefined)
      return runUnrecorded(context, words);
    const session = await sessionInRepository(context, args);
    const { record } = session;
    await requireRunnable(context, record);
    const result = await execTool(session, {
      tool,
      callId: args['call-id'],
      summary: args.summary,
      isReadOnly: isReadOnly(tool, session.repository.settings.readOnlyTools),
      onlyIfChanged: args['if-changed'],
      waitMs,
      now: context.now,
      line: {
        words,
        cwd: directoryFor(context, record),
        env: await environmentFor(context, record, args.profile),
      },
    });
    if (result.startError !== undefined) context.err(formatError(result.startError, false));
    if (result.recorded !== undefined) context.err(describeProblems(record, result.recorded));
    if (result.recordError !== undefined) reportNotRecorded(context, record, result.recordError);
    return endAs(result.end);
  },
});
