/**
 * The user's crontab, by crontab(1). agt has one line in it for each repository, and keeps all other lines byte for byte.
 * Strings hold one byte per character. cron reads an unescaped `%` as a line break.
 */
import { AgtError, errorCode, usageError } from '../errors.ts';
import { runProgram } from '../process/program.ts';

const ALTERNATIVES = 'use a systemd timer, launchd or agt watch';

/** Empty if the user has none. @throws AgtError if that is not certain, since agt would then overwrite a crontab. */
export async function readCrontab(env: NodeJS.ProcessEnv): Promise<string> {
  const { exitCode, stdout, stderr } = await runCrontab(['-l'], env);
  if (exitCode === 0) return stdout;
  if (/no crontab for|no such file or directory/i.test(stderr)) return '';
  throw failed('read', stderr);
}

export async function writeCrontab(env: NodeJS.ProcessEnv, crontab: string): Promise<void> {
  const { exitCode, stderr } = await runCrontab(['-'], env, crontab);
  if (exitCode !== 0) throw failed('change', stderr);
}

function failed(verb: string, stderr: string): AgtError {
  return new AgtError(`cannot ${verb} the crontab: ${stderr.trim().split('\n')[0]}`, {
    hints: ['nothing was changed', `instead of cron, ${ALTERNATIVES}`],
  });
}

async function runCrontab(args: readonly string[], env: NodeJS.ProcessEnv, input = '') {
  const options = { env: { ...env, LC_ALL: 'C' }, input: Buffer.from(input, 'latin1') };
  const run = await runProgram('crontab', args, options).catch((cause: unknown) => {
    const code = errorCode(cause);
    throw new AgtError(
      code === 'ENOENT' ? 'no crontab program found on PATH' : `cannot run crontab: ${code}`,
      { hints: [`install cron, or ${ALTERNATIVES}`], cause },
    );
  });
  return { ...run, stdout: run.stdout.toString('latin1') };
}

export interface CronJob {
  /** Variables that cron does not set. */
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly schedule: string;
  /** Marks the line; no other line of agt has it. */
  readonly repository: string;
}

/** The five time fields of a crontab line. @throws AgtError for an interval that they cannot express. */
export function cronSchedule(minutes: number): string {
  const hours = minutes / 60;
  const every = (n: number) => (n === 1 ? '*' : `*/${n}`);
  if (Number.isInteger(minutes) && minutes >= 1 && minutes < 60 && 60 % minutes === 0)
    return `${every(minutes)} * * * *`;
  if (hours === 24) return '0 0 * * *';
  if (Number.isInteger(hours) && hours >= 1 && 24 % hours === 0) return `0 ${every(hours)} * * *`;
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

/** The line of `repository`, or undefined. */
export function findLine(crontab: string, repository: string): string | undefined {
  return crontab.split('\n').find((line) => isLineOf(line, repository));
}

/** Replaces the line of `repository`, or adds one at the end. */
export function putLine(crontab: string, repository: string, line: string): string {
  const lines = crontab.split('\n');
  const index = lines.findIndex((candidate) => isLineOf(candidate, repository));
  if (index >= 0) return lines.with(index, line).join('\n');
  return `${crontab}${crontab === '' || crontab.endsWith('\n') ? '' : '\n'}${line}\n`;
}

export function removeLine(crontab: string, repository: string): string {
  const lines = crontab.split('\n');
  return lines.filter((line) => !isLineOf(line, repository)).join('\n');
}

function isLineOf(line: string, repository: string): boolean {
  return !line.trimStart().startsWith('#') && line.endsWith(` ${mark(repository)}`);
}

/** A comment to the shell. */
function mark(repository: string): string {
  return `# agt autocommit of ${quote(repository)}`;
}

/** Quotes a word for sh behind cron. `\%` must stand outside of quotes: there, cron and sh both drop the backslash. */
function quote(word: string): string {
  if (/[\n\r]/.test(word)) throw new AgtError(`a crontab cannot hold a line break: ${JSON.stringify(word)}`);
  if (/^[\w@:,./+=-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`).replaceAll('%', `'\\%'`)}'`;
}
