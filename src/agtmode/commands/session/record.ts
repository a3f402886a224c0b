import { EXIT } from '../../../errors.ts';
import { isReadOnly, recordCall } from '../../../running/record-call.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { parseDuration } from '../../command-line/duration.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../../command-line/session-argument.ts';
import { autocommitJson, printAutocommit } from '../../output/autocommit.ts';
import { json } from '../../output/format.ts';
import { requireTool, TOOL_OPTIONS } from '../../running.ts';
import { sessionHere } from '../../session-here.ts';

export const sessionRecord = defineCommand({
  usage: 'session record [id]',
  group: 'snapshots',
  summary: 'record the call of a tool as a snapshot',
  description:
    'Autocommit the session after a tool has run, and write down the tool, the id of the call, a summary, and whether it ' +
    'failed. agt session log shows them. A call that changed nothing is recorded too, unless --if-changed is given. ' +
    'Nothing is recorded for the tools that agt.readOnlyTools names. If agt cannot record the call, the session is ' +
    'failed until the next complete autocommit.',
  positionals: { id: SESSION_ARGUMENT },
  options: {
    session: SESSION_OPTION,
    ...TOOL_OPTIONS,
    failed: { type: 'boolean', default: false, describe: 'the tool has failed' },
    'if-changed': { type: 'boolean', default: false, describe: 'record the call only if files have changed' },
    json: JSON_OPTION,
  },
  examples: [
    ['agt session record --tool Edit --summary "fix the login form"', 'after an edit, in the sandbox'],
    ['agt session record fix-login --tool Bash --failed', 'after a command that failed'],
  ],
  run: async (args, context) => {
    const tool = requireTool(args.tool);
    const waitMs = parseDuration('wait', args.wait);
    const { repository, record } = await sessionHere(context, givenSession(args));
    if (isReadOnly(tool, repository.settings.readOnlyTools)) {
      if (args.json) context.out(json({ session_id: record.session_id, outcome: 'read-only', commit: null }));
      return EXIT.done;
    }
    const outcome = args.failed ? 'failed' : 'succeeded';
    const result = await recordCall(repository, record, {
      tool,
      call: { outcome, id: args['call-id'], summary: args.summary },
      onlyIfChanged: args['if-changed'],
      waitMs,
      now: context.now(),
    });
    if (args.json) context.out(json(autocommitJson(record, result)));
    else printAutocommit(context, record, result, { quietIfUnchanged: false, listChanges: false });
    return result.failed.length > 0 ? EXIT.failed : EXIT.done;
  },
});
