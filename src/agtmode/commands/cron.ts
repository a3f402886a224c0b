/** agt cron install, remove, show: the crontab line that autocommits every session of a repository. */
import { basename, dirname } from 'node:path';
import { displayPath } from '../../disk/path-bytes.ts';
import { usageError } from '../../errors.ts';
import { ownCommand } from '../../process/invocation.ts';
import {
  cronLine,
  cronSchedule,
  findLine,
  putLine,
  readCrontab,
  removeLine,
  writeCrontab,
} from '../../triggers/crontab.ts';
import { defineCommand, option } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { verb } from '../output/format.ts';

export const cronInstall = defineCommand({
  usage: 'cron install',
  summary: 'autocommit every session of this repository from cron',
  description:
    'Add a line to your crontab that runs agt autocommit --all for this repository, or replace that line. Other lines ' +
    'stay as they are. Errors go where cron sends output, usually to your mail.',
  options: {
    interval: { ...option.withDefault('5', 'minutes between two autocommits'), valueName: 'minutes' },
    ...option.shared('dry-run'),
  },
  examples: [
    ['agt cron install', 'autocommit every five minutes'],
    ['agt cron install --interval 15 --dry-run', 'show the line for every 15 minutes'],
  ],
  run: async (args, context) => {
    const minutes = parseMinutes(args.interval);
    const repository = toBytes((await context.repository()).commonDir);
    const line = cronLine({
      schedule: cronSchedule(minutes),
      environment: gitEnvironment(context),
      command: [...ownCommand().map(toBytes), '-C', repository, 'autocommit', '--all'],
      repository,
    });
    const before = await readCrontab(context.env);
    const after = putLine(before, repository, line);
    if (after !== before && !args.dryRun) await writeCrontab(context.env, after);
    return `${displayPath(line)}\n`;
  },
});

export const cronRemove = defineCommand({
  usage: 'cron remove',
  summary: 'remove the crontab line of this repository',
  options: option.shared('dry-run'),
  examples: [['agt cron remove', 'stop autocommits from cron']],
  run: async (args, context) => {
    const repository = toBytes((await context.repository()).commonDir);
    const before = await readCrontab(context.env);
    const line = findLine(before, repository);
    if (line === undefined) return NO_LINE;
    if (!args.dryRun) await writeCrontab(context.env, removeLine(before, repository));
    return `${verb(args.dryRun, 'removed', 'remove')}: ${displayPath(line)}\n`;
  },
});

export const cronShow = defineCommand({
  usage: 'cron show',
  summary: 'show the crontab line of this repository',
  options: option.shared('json'),
  examples: [['agt cron show', 'show whether cron autocommits this repository']],
  run: async (_, context) => {
    const { commonDir } = await context.repository();
    const bytes = findLine(await readCrontab(context.env), toBytes(commonDir));
    const line = bytes === undefined ? null : displayPath(bytes);
    return { json: { repository: commonDir, line }, text: line === null ? NO_LINE : `${line}\n` };
  },
});

const NO_LINE = 'no crontab line for this repository\n';

/** The number of minutes in a day, 1440, has four digits; cronSchedule refuses the rest. */
function parseMinutes(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw usageError(`invalid number of minutes "${text}"`, 'for example: --interval 5');
}

/** The PATH of cron has only /usr/bin and /bin. A git with another name comes from ~/.agtconfig, which cron reads. */
function gitEnvironment(context: Context): Record<string, string> {
  const path = context.gitPath();
  const [directory, name] = [dirname(path), basename(path)];
  if (['/usr/bin', '/bin'].includes(directory) || name !== 'git') return {};
  return { PATH: toBytes([directory, '/usr/bin', '/bin'].join(':')) };
}

/** A crontab is handled with one byte per character. */
function toBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
