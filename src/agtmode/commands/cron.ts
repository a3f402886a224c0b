/** agt cron install, remove, show: the crontab line that captures every session of a repository now and then. */
import { usageError } from '../../errors.ts';
import { ownCommand } from '../../process/invocation.ts';
import { cronLine, findLine, scheduleOf, withLine, withoutLine } from '../../triggers/cron/crontab.ts';
import { readCrontab, writeCrontab } from '../../triggers/cron/crontab-program.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION } from '../command-line/command.ts';
import { json } from '../output/print.ts';
import type { Program } from '../program.ts';

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
  run: async (args, program) => {
    const minutes = /^\d{1,4}$/.test(args.interval) ? Number(args.interval) : Number.NaN;
    if (Number.isNaN(minutes)) throw usageError(`invalid number of minutes "${args.interval}"`);
    const { commonDir } = await program.repository();
    const repository = latin1(commonDir);
    const line = cronLine({
      schedule: scheduleOf(minutes),
      environment: gitEnvironment(program),
      command: [...ownCommand().map(latin1), '-C', repository, 'autocommit', '--all'],
      repository,
    });
    const before = await readCrontab(program.env);
    const after = withLine(before, repository, line);
    if (after !== before && !args['dry-run']) await writeCrontab(program.env, after);
    program.out(`${utf8(line)}\n`);
    return 0;
  },
});

export const cronRemove = defineCommand({
  usage: 'cron remove',
  group: 'setup',
  summary: 'remove the crontab line of this repository',
  options: { 'dry-run': DRY_RUN_OPTION },
  examples: [['agt cron remove', 'stop autocommits from cron']],
  run: async (args, program) => {
    const repository = latin1((await program.repository()).commonDir);
    const before = await readCrontab(program.env);
    const line = findLine(before, repository);
    if (line === undefined) {
      program.out('no crontab line for this repository\n');
      return 0;
    }
    if (!args['dry-run']) await writeCrontab(program.env, withoutLine(before, repository));
    program.out(`${args['dry-run'] ? 'would remove' : 'removed'}: ${utf8(line)}\n`);
    return 0;
  },
});

export const cronShow = defineCommand({
  usage: 'cron show',
  group: 'setup',
  summary: 'show the crontab line of this repository',
  options: { json: JSON_OPTION },
  examples: [['agt cron show', 'show whether cron autocommits this repository']],
  run: async (args, program) => {
    const { commonDir } = await program.repository();
    const line = findLine(await readCrontab(program.env), latin1(commonDir));
    if (args.json) program.out(json({ repository: commonDir, line: line === undefined ? null : utf8(line) }));
    else program.out(line === undefined ? 'no crontab line for this repository\n' : `${utf8(line)}\n`);
    return 0;
  },
});

/** cron looks for programs in /usr/bin and /bin alone. */
function gitEnvironment(program: Program): Record<string, string> {
  const path = program.gitPath();
  return ['/usr/bin/git', '/bin/git'].includes(path) ? {} : { AGT_GIT_PATH: latin1(path) };
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}
