/** Runs a command, and prints what it reports. */
import { EXIT, exitCodeFor, formatError, usageError, worstExitCode } from '../../errors.ts';
import { withProgress } from '../../process/progress.ts';
import type { Text } from '../../process/streams.ts';
import { withAdviceIn } from '../../session/advised-commands.ts';
import type { Context } from '../context.ts';
import { errorJson, json } from '../output/format.ts';
import { type Command, camelCase } from './command.ts';
import type { Report } from './report.ts';

/** Runs a command. With --quiet it prints nothing on standard output, unless that is what --json asks for. */
export function runCommand(command: Command, args: Readonly<Record<string, unknown>>, context: Context) {
  const isQuiet = args['quiet'] === true && args['json'] !== true;
  const { out, err } = context;
  const run = async (clear = () => {}) => {
    const print = (write: (text: Text) => unknown) => (text: Text) => {
      clear();
      return write(text);
    };
    const streams = { out: isQuiet ? () => undefined : print(out), err: print(err) };
    const answer = await answerOf(command, args, { ...context, ...streams });
    if (typeof answer === 'number') return answer;
    const report = typeof answer === 'string' ? { text: answer } : answer;
    return printReport(streams, report, args['json'] === true);
  };
  const showsProgress = args['progress'] === true || context.showsProgress;
  if (!showsProgress || args['quiet'] === true || command.runsLong === true) return run();
  return withProgress(err, context.env, run);
}

/** With --json an error is one object on standard output, unless the command has printed there. */
async function answerOf(command: Command, args: Readonly<Record<string, unknown>>, context: Context) {
  let isPrinted = false;
  const out = (text: Text) => {
    isPrinted ||= text !== '';
    return context.out(text);
  };
  try {
    return await command.run(argumentsOf(command, args) as never, { ...context, out });
  } catch (error) {
    const advised = withAdviceIn(context.cwd, error);
    if (args['json'] === true && !isPrinted) context.out(json(errorJson(advised)));
    throw advised;
  }
}

function argumentsOf(
  { options = {} }: Command,
  { '--': rest = [], ...parsed }: Readonly<Record<string, unknown>>,
) {
  const own = Object.entries(parsed).map(([name, value]) =>
    options[name]?.seconds === true && typeof value === 'string'
      ? [`${camelCase(name)}Ms`, milliseconds(name, value)]
      : [camelCase(name), value],
  );
  return { gitOptions: [], ...Object.fromEntries(own), rest: (rest as readonly unknown[]).map(String) };
}

/** A longer wait or interval is surely a mistake; also, timers of Node overflow after 24 days. */
const LONGEST_SECONDS = 86_400;

/** Takes a number of seconds, such as `5` or `0.5`. @throws AgtError for anything else. */
function milliseconds(option: string, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text))
    throw usageError(`invalid number of seconds "${text}"`, `for example: --${option} 5`);
  if (Number(text) > LONGEST_SECONDS)
    throw usageError(`--${option} is at most ${LONGEST_SECONDS} seconds, one day`);
  return Number(text) * 1000;
}

async function printReport(
  { out, err }: Pick<Context, 'out' | 'err'>,
  { json: value, text = '', warnings = '', notes = '', errors = [], failed = false, trouble }: Report,
  asJson: boolean,
): Promise<number> {
  if (asJson) out(json(value));
  else out(typeof text === 'string' ? text : await text());
  err(asJson ? warnings : warnings + notes);
  for (const error of errors) err(formatError(error, false));
  if (trouble !== undefined) throw trouble;
  return failed ? EXIT.failed : worstExitCode(errors.map(exitCodeFor));
}
