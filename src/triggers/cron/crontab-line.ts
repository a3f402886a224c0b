/**
 * A crontab as text: the one line of agt's for a repository, and all the others, byte for byte. All strings hold one
 * byte per character. cron takes `%` for a line break unless a backslash stands right before it.
 */
import { AgtError, usageError } from '../../errors.ts';

export interface CronJob {
  /** Variables that cron does not have, then the program and its arguments. */
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly schedule: string;
  /** What tells the line of this repository from all others. */
  readonly repository: string;
}

/** The five fields for every so many minutes. @throws AgtError for what cron cannot say. */
export function cronSchedule(minutes: number): string {
  if (Number.isInteger(minutes) && minutes >= 1) {
    if (minutes === 1) return '* * * * *';
    if (minutes < 60 && 60 % minutes === 0) return `*/${minutes} * * * *`;
    const hours = minutes / 60;
    if (hours === 1) return '0 * * * *';
    if (hours === 24) return '0 0 * * *';
    if (Number.isInteger(hours) && 24 % hours === 0) return `0 */${hours} * * *`;
  }
  throw usageError(
    `cron cannot run a command every ${minutes} minutes`,
    'choose a divisor of 60 (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60) or whole hours that divide a day (120, 180, …, 1440)',
  );
}

export function cronLine({ environment, command, schedule, repository }: CronJob): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${quote(value)}`);
  const words = [...variables, ...command.map(quote)].join(' ');
  return `${schedule} ${words} >/dev/null ${mark(repository)}`;
}

/** The line of `repository`, if there is one. */
export function findLine(crontab: string, repository: string): string | undefined {
  return crontab.split('\n').find((line) => isOf(line, repository));
}

/** In the place of the line that is there, or at the end. */
export function putLine(crontab: string, repository: string, line: string): string {
  const lines = crontab.split('\n');
  const at = lines.findIndex((candidate) => isOf(candidate, repository));
  if (at >= 0) return lines.with(at, line).join('\n');
  return `${crontab}${crontab === '' || crontab.endsWith('\n') ? '' : '\n'}${line}\n`;
}

export function removeLine(crontab: string, repository: string): string {
  const lines = crontab.split('\n');
  return lines.filter((line) => !isOf(line, repository)).join('\n');
}

function isOf(line: string, repository: string): boolean {
  return !line.trimStart().startsWith('#') && line.endsWith(` ${mark(repository)}`);
}

/** A comment to the shell. */
function mark(repository: string): string {
  return `# agt autocommit of ${quote(repository)}`;
}

/** For sh, after cron has read it. Outside of the quotes a backslash takes nothing from `%`, for sh as for cron. */
function quote(word: string): string {
  if (/[\n\r]/.test(word)) throw new AgtError(`a crontab cannot hold a line break: ${JSON.stringify(word)}`);
  if (/^[\w@:,./+=-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`).replaceAll('%', `'\\%'`)}'`;
}
