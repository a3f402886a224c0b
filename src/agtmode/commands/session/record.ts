import { isReadOnly, recordCall } from '../../../running/record-call.ts';
import { flag, JSON_OPTION } from '../../command-line/command.ts';
import { parseDuration } from '../../command-line/duration.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import { reportAutocommit } from '../../output/autocommit.ts';
import { requireTool, TOOL_OPTIONS } from '../../running.ts';

export const sessionRecord = defineSessionCommand({
  name: 'session record',
  alsoFolders: true,
  group: 'snapshots',
  summary: 'record the call of a tool as a snapshot',
  description:
    'Autocommit the session after a tool has run, and write down the tool, the id of the call, a summary, and whether it ' +
    'failed. agt session log shows them. A call that changed nothing is recorded too, unless --if-changed is given. ' +
    'Nothing is recorded for the tools that agt.readOnlyTools names. If agt cannot record the call, the session is ' +
    'failed until the next complete autocommit.',
  options: {
    ...TOOL_OPTIONS,
    failed: flag('the tool has failed'),
    'if-changed': flag('record the call only if files have changed'),
    json: JSON_OPTION,
  },
  examples: [
    ['agt session record --tool Edit --summary "fix the login form"', 'after an edit, in the sandbox'],
    ['agt session record fix-login --tool Bash --failed', 'after a command that failed'],
  ],
  check: (args) => ({ tool: requireTool(args.tool), waitMs: parseDuration('wait', args.wait) }),
  run: async (args, context, session, { tool, waitMs }) => {
    if (isReadOnly(tool, session.repository.settings.readOnlyTools))
      return { json: { session_id: session.id, outcome: 'read-only', commit: null } };
    const outcome = args.failed ? 'failed' : 'succeeded';
    const result = await recordCall(session, {
      tool,
      call: { outcome, id: args['call-id'], summary: args.summary },
      onlyIfChanged: args['if-changed'],
      waitMs,
      now: context.now(),
    });
    return reportAutocommit(session.record, result);
  },
});
