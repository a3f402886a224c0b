import { AgtError, EXIT } from '../../../errors.ts';
import { rejectSession } from '../../../landing/reject.ts';
import { findSession } from '../../../session/find-session.ts';
import { isEnded } from '../../../session/state.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../../command-line/session-argument.ts';
import { json } from '../../output/format.ts';
import { interruptible } from '../../output/interrupted.ts';
import { printReject } from '../../output/landing.ts';
import { recordJson } from '../../output/session.ts';

export const sessionReject = defineCommand({
  usage: 'session reject [id]',
  group: 'sessions',
  summary: 'end a session without taking anything of its work',
  description:
    'Autocommit the session, then delete its sandbox and its work branch. No branch of yours changes. The snapshots ' +
    'stay until agt gc deletes them after agt.retention, and agt undo brings the session back.',
  positionals: { id: SESSION_ARGUMENT },
  options: {
    session: SESSION_OPTION,
    reason: { type: 'string', describe: 'why; agt session show prints it' },
    running: { type: 'boolean', default: false, describe: 'also while a command of agt run works there' },
    force: {
      type: 'boolean',
      alias: 'f',
      default: false,
      describe: 'as --running, and also with files that agt could not capture',
    },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt reject fix-login --reason "breaks the API"', 'the session ends, and its work goes nowhere'],
  ],
  run: async (args, context) => {
    const repository = await context.repository();
    const record = findSession(repository, givenSession(args), context.cwd);
    const { session_id: id } = record;
    if (record.state === 'rejected') {
      context.out(
        args.json ? json(recordJson(record)) : `${id}: rejected before; bring it back: agt undo ${id}\n`,
      );
      return EXIT.done;
    }
    if (isEnded(record)) {
      throw new AgtError(`session "${id}" is already ${record.state}`, {
        hints: [`bring it back: agt undo ${id}`],
      });
    }
    const { reason, running, force, 'dry-run': dryRun } = args;
    const options = { reason, running, force, dryRun, now: context.now() };
    const rejected = await interruptible(context, repository, record, () =>
      rejectSession(repository, record, options),
    );
    printReject(context, record, { ...rejected, reason }, args);
    return EXIT.done;
  },
});
