import { type Abandoned, findAbandoned, type Swept, sweep } from '../../../running/sweep.ts';
import { DRY_RUN_JSON, defineCommand } from '../../command-line/command.ts';
import { errorJson } from '../../output/format.ts';
import { sweptLine } from '../../sweeping.ts';

export const sessionSweep = defineCommand({
  usage: 'session sweep',
  group: 'maintenance',
  summary: 'revert sessions that nobody works in and nobody has accepted',
  description:
    'Revert each session whose command was killed, in which agt could not record a step, or in which nothing has changed ' +
    'for agt.sessionTimeout. To revert a session is to remove it: agt captures it a last time, deletes its folder, and ' +
    'keeps its snapshots until agt gc. agt.autoRevert says which sessions are meant: by default only those in your own ' +
    'checkout, never sandboxes. With agt.keepFailed, failed sessions stay. agt session new and agt autocommit --all do ' +
    'the same first.',
  options: DRY_RUN_JSON,
  examples: [['agt session sweep -n', 'list the sessions that would be reverted, and why']],
  run: async (args, context) => {
    const repository = await context.repository();
    if (args['dry-run']) {
      const found = await findAbandoned(repository, context.now());
      const lines = found.map(
        ({ record, reason }) => `${record.session_id}: would be reverted, because ${reason}\n`,
      );
      return { json: found.map((one) => sweptJson(one, 'would-revert')), text: lines.join('') };
    }
    const swept = await sweep(repository, context.now());
    const failed = swept.filter(({ error }) => error !== undefined);
    const done = swept.filter(({ error }) => error === undefined);
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
