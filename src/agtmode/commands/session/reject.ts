import { AgtError } from '../../../errors.ts';
import { stashRef } from '../../../filter/agent-refs.ts';
import { resolveObject } from '../../../git/run/git.ts';
import { rejectSession } from '../../../landing/reject.ts';
import { isEnded } from '../../../session/state.ts';
import { DRY_RUN_JSON, flag, withValue } from '../../command-line/command.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import { interruptible } from '../../output/interrupted.ts';
import { reportReject } from '../../output/landing.ts';
import { recordJson } from '../../output/session.ts';

export const sessionReject = defineSessionCommand({
  name: 'session reject',
  group: 'sessions',
  summary: 'end a session without taking anything of its work',
  description:
    'Autocommit the session, then delete its sandbox and its work branch. No branch of yours changes. The snapshots ' +
    'stay until agt gc deletes them after agt.retention, and agt undo brings the session back.',
  options: {
    reason: withValue('why; agt session show prints it'),
    running: flag('also while a command of agt run works there'),
    force: { ...flag('as --running, and also with files that agt could not capture'), alias: 'f' },
    ...DRY_RUN_JSON,
  },
  examples: [
    ['agt reject fix-login --reason "breaks the API"', 'the session ends, and its work goes nowhere'],
  ],
  run: async (args, context, session) => {
    const { record, repository } = session;
    const { session_id: id } = record;
    if (record.state === 'rejected') {
      const text = `${id}: rejected before; bring it back: agt undo ${id}\n`;
      const stash = stashRef(id);
      const isSetAside = (await resolveObject(repository.git, stash)) !== undefined;
      const warnings = isSetAside ? `warning: ${stash} still has work of yours; see: agt doctor\n` : '';
      return { json: recordJson(record), text, warnings };
    }
    if (isEnded(record)) {
      throw new AgtError(`session "${id}" is already ${record.state}`, {
        hints: [`bring it back: agt undo ${id}`],
      });
    }
    const { reason, running, force, 'dry-run': dryRun } = args;
    const options = { reason, running, force, dryRun, now: context.now() };
    const rejected = await interruptible(context, session, rejectSession, options);
    return reportReject(record, rejected, reason, dryRun);
  },
});
