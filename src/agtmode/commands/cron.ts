/** agt cron install, remove, show: the crontab line that captures every session of a repository now and then. */
import { usageError } from '../../errors.ts';
import { ownCommand } from '../../process/invocation.ts';
import { readCrontab, writeCrontab } from '../../triggers/cron/crontab.ts';
import { cronLine, cronSchedule, findLine, putLine, removeLine } from '../../triggers/cron/crontab-line.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { json } from '../output/format.ts';

export const cronInstall = defineCommand({
  usage: 'cron install',
  group: 'setup',
  summary: 'autocommit every session of this repository from cron',
  description:
    'Add a line to your crontab that runs agt autocommit --all for this repository, or replace that line. Other lines ' +
    'stay as they are. Errors go where cron sends output, usually to your mail.',
  options: {
    interval: { type: 'string', default: '5', describe: 'minutes between two autocommits' },
    'dry-run': DRY_RUN_OPTION,
  },
  examples: [
    ['agt cron install', 'autocommit every five minutes'],
    ['agt cron install --interval 15 --dry-run', 'show the line for every 15 minutes'],
  ],
  run: async (args, context) => {
    const minutes = /^\d{1,4}$/.test(args.interval) ? Number(args.interval) : Number.NaN;
    if (Number.isNaN(minutes)) throw usageError(`invalid number of minutes "${args.interval}"`);
    const { commonDir } = await context.repository();
    const repository = latin1(commonDir);
    const line = cronLine({
      schedule: cronSchedule(minutes),
      environment: gitEnvironment(context),
      command: [...ownCommand().map(latin1), '-C', repository, 'autocommit', '--all'],
      repository,
    });
    const before = await readCrontab(context.env);
    const after = putLine(before, repository, line);
    if (after !== before && !args['dry-run']) await writeCrontab(context.env, after);
    context.out(`${utf8(line)}\n`);
    return 0;
  },
});

export const cronRemove = defineCommand({
  usage: 'cron remove',
  group: 'setup',
  summary: 'remove the crontab line of this repository',
  options: { 'dry-run': DRY_RUN_OPTION },
  examples: [['agt cron remove', 'stop autocommits from cron']],
  run: async (args, context) => {
    const repository = latin1((await context.repository()).commonDir);
    const before = await readCrontab(context.env);
    const line = findLine(before, repository);
    if (line === undefined) {
      context.out('no crontab line for this repository\n');
      return 0;
    }
    if (!args['dry-run']) await writeCrontab(context.env, removeLine(before, repository));
    context.out(`${args['dry-run'] ? 'would remove' : 'removed'}: ${utf8(line)}\n`);
    return 0;
  },
});

export const cronShow = defineCommand({
  usage: 'cron show',
  group: 'setup',
  summary: 'show the crontab line of this repository',
  options: { json: JSON_OPTION },
  examples: [['agt cron show', 'show whether cron autocommits this repository']],
  run: async (args, context) => {
    const { commonDir } = await context.repository();
    const line = findLine(await readCrontab(context.env), latin1(commonDir));
    if (args.json) context.out(json({ repository: commonDir, line: line === undefined ? null : utf8(line) }));
    else context.out(line === undefined ? 'no crontab line for this repository\n' : `${utf8(line)}\n`);
    return 0;
  },
});

/** cron looks for programs in /usr/bin and /bin alone. */
function gitEnvironment(context: Context): Record<string, string> {
  const path = context.gitPath();
  return ['/usr/bin/git', '/bin/git'].includes(path) ? {} : { AGT_GIT_PATH: latin1(path) };
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}
