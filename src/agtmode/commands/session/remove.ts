import { createInterface } from 'node:readline/promises';
import { AgtError, usageError } from '../../../errors.ts';
import { shortBranch } from '../../../git/files/ref-files.ts';
import { planRemoval, type RemovalPlan, removeSession } from '../../../session/lifecycle/remove.ts';
import { findSession } from '../../../session/locate.ts';
import { DRY_RUN_OPTION, defineCommand, SESSION_ID_OPTION } from '../../command-line/command.ts';
import type { Program } from '../../program.ts';

export const sessionRemove = defineCommand({
  usage: 'session remove [id]',
  group: 'sessions',
  summary: 'capture a session once more, then remove its folder',
  description:
    'The branches stay, so that every state can be brought back. With --delete-branch they go too; where that would ' +
    'lose work that is neither exported nor merged, agt asks, or without a terminal wants --force.',
  positionals: { id: SESSION_ID_OPTION },
  options: {
    'delete-branch': { type: 'boolean', default: false, describe: 'delete its branches and all its states' },
    force: { type: 'boolean', alias: 'f', default: false, describe: 'even if work is lost' },
    'dry-run': DRY_RUN_OPTION,
  },
  examples: [
    ['agt session remove --id fix-login', 'its states are kept'],
    ['agt session remove --id fix-login --delete-branch', 'for good'],
  ],
  run: async (args, program) => {
    const repository = await program.repository();
    const record = findSession(repository, args.id, program.cwd);
    if (record.state === 'removed' && !args['delete-branch']) {
      throw usageError(
        `session "${record.session_id}" is removed already`,
        'forget its states too: --delete-branch',
      );
    }
    const plan = await planRemoval(repository, record, args['delete-branch']);
    if (args['dry-run']) {
      program.out(describePlan(plan, false));
      return 0;
    }
    if (plan.unsaved.length > 0 && !args.force) await confirm(program, plan);
    await removeSession(repository, plan, { force: args.force, now: program.now() });
    program.out(describePlan(plan, true));
    return 0;
  },
});

function describePlan({ folder, refs, record }: RemovalPlan, done: boolean): string {
  const verb = (past: string, future: string) => (done ? past : `would ${future}`);
  const branches = refs.filter(({ ref }) => ref.startsWith('refs/heads/'));
  const lines = [
    ...(folder === undefined ? [] : [`${verb('removed', 'remove')} ${folder}`]),
    ...branches.map(
      ({ ref, commit }) =>
        `${verb('deleted', 'delete')} branch ${shortBranch(ref)} (was ${commit.slice(0, 10)})`,
    ),
  ];
  if (refs.length === 0) lines.push(`${verb('kept', 'keep')} its states on ${shortBranch(record.branch)}`);
  return `${lines.join('\n')}\n`;
}

async function confirm(program: Program, { record, unsaved }: RemovalPlan): Promise<void> {
  const reason = `session "${record.session_id}" has ${unsaved.join(' and ')}`;
  if (!program.interactive) {
    throw new AgtError(`${reason}; --delete-branch would lose that`, {
      hints: [
        'export or merge it first, or keep the branches by leaving --delete-branch out, or use --force',
      ],
    });
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`${reason}. Delete them all the same? [y/N] `);
  prompt.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new AgtError('nothing removed');
}
