/** agt session sweep and fail: what becomes of sessions that nobody works in. */
import { AgtError, EXIT } from '../../../errors.ts';
import { isActive } from '../../../filter/session-file.ts';
import { type Abandoned, findAbandoned, isHalfEnded, type Swept, sweep } from '../../../running/sweep.ts';
import { defineCommand, defineSessionCommand, option } from '../../command-line/command.ts';
import { errorJson } from '../../output/format.ts';
import { reportFailure, sweptLine } from '../../sweeping.ts';

export const sessionSweep = defineCommand({
  usage: 'session sweep',
  summary: 'revert sessions that nobody works in and nobody has accepted',
  description:
    'Revert each session whose command was killed, in which agt could not record a step, or in which nothing has changed ' +
    'for agt.sessionTimeout. To revert a session is to remove it: agt captures it a last time, deletes its folder, and ' +
    'keeps its snapshots until agt gc. agt.autoRevert says which sessions are meant: by default only those in your own ' +
    'checkout, never sandboxes. With agt.keepFailed, failed sessions stay. agt session new and agt autocommit --all do ' +
    'the same first.',
  options: option.shared('dry-run', 'json'),
  examples: [['agt session sweep -n', 'list the sessions that would be reverted, and why']],
  run: async (args, context) => {
    const repository = await context.repository();
    if (args.dryRun) {
      const found = await findAbandoned(repository, context.now());
      const text = found.map(
        ({ record, reason }) => `${record.session_id}: would be reverted, because ${reason}\n`,
      );
      return { json: found.map((one) => sweptJson(one, 'would-revert')), text: text.join('') };
    }
    const swept = await sweep(repository, context.now());
    const { done = [], failed = [] } = Object.groupBy(swept, ({ error }) =>
      error === undefined ? 'done' : 'failed',
    );
    return {
      json: swept.map((one) => sweptJson(one, one.hasEnded ? 'reverted' : 'failed')),
      text: done.map(sweptLine).join(''),
      notes: failed.map(sweptLine).join(''),
      failed: failed.length > 0,
    };
  },
});

function sweptJson({ record, reason, error }: Abandoned & Partial<Swept>, outcome: string) {
  return { session_id: record.session_id, outcome, reason, ...errorJson(error) };
}

export const sessionFail = defineSessionCommand({
  name: 'session fail',
  summary: 'say that the agent of a session has failed',
  description:
    'For a harness whose agent has failed: mark the session as failed, with the reason, and revert it if agt.autoRevert ' +
    'says so, as agt session sweep does. Otherwise the session stays as it is, and is active again when its agent goes on.',
  options: { reason: option.required('why; agt session show prints it') },
  examples: [['agt session fail fix-login --reason "no memory"', 'the agent ended without a result']],
  run: async (args, context, session) => {
    const { record } = session;
    if (!isActive(record) && !isHalfEnded(record)) {
      const killed = 'an agt was killed meanwhile; finish its work: agt doctor --fix';
      throw new AgtError(`session "${record.session_id}" is already ${record.state}`, {
        hints: record.intent === undefined ? [] : [killed],
      });
    }
    await reportFailure(context, session, args.reason);
    return EXIT.done;
  },
});
