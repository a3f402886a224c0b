/** The report of a command, and of one that goes on with other subjects after one that fails. */
import { AgtError, isAgtError } from '../../errors.ts';
import { errorJson } from '../output/format.ts';

/** The exit code of a command that has printed everything itself; or what is still to print. */
export type Answer = number | string | Report;

export interface Report {
  /** For --json. */
  readonly json?: unknown;
  /** Otherwise. */
  readonly text?: string | (() => Promise<string>) | undefined;
  /** For standard error. */
  readonly warnings?: string;
  /** For standard error, and for people alone. */
  readonly notes?: string;
  /** From the parts that failed while the command went on with others. They decide on the exit code. */
  readonly errors?: readonly unknown[];
  readonly failed?: boolean;
  /** To throw when everything is printed. */
  readonly trouble?: unknown;
}

type PartReport = Omit<Report, 'text' | 'trouble'> & { readonly text?: string };

export async function partOf(answer: Answer): Promise<PartReport> {
  if (typeof answer === 'number') return { failed: answer !== 0 };
  const report: Report = typeof answer === 'string' ? { text: answer } : answer;
  const { text = '', errors = [], trouble, ...others } = report;
  return {
    ...others,
    text: typeof text === 'function' ? await text() : text,
    errors: trouble === undefined ? errors : [...errors, trouble],
  };
}

/** `about` names a subject that failed in the list of JSON. */
export async function reportEach<T>(
  subjects: readonly T[],
  about: (subject: T) => object | Promise<object>,
  act: (subject: T) => Promise<PartReport>,
): Promise<Required<PartReport>> {
  const failure = async (subject: T, error: unknown): Promise<PartReport> => ({
    json: { ...(await about(subject)), outcome: 'failed', ...errorJson(error) },
    errors: [error],
  });
  const reports = await Array.fromAsync(subjects, (subject) =>
    act(subject).catch((error: unknown) => failure(subject, error)),
  );
  return {
    json: reports.flatMap((report) => report.json ?? []),
    text: reports.map(({ text = '' }) => text).join(''),
    warnings: reports.map(({ warnings = '' }) => warnings).join(''),
    notes: reports.map(({ notes = '' }) => notes).join(''),
    errors: reports.flatMap(({ errors = [] }) => errors),
    failed: reports.some(({ failed }) => failed === true),
  };
}

/** An error of one of several sessions: it names its session, and the others may have changed. */
export function about(id: string, error: unknown): unknown {
  if (!isAgtError(error) || error.message.includes(`"${id}"`)) return error;
  const message = error.message.replace(/,? and nothing has changed$/, '');
  return new AgtError(`${id}: ${message}`, { ...error, cause: error });
}

/** The same with warnings. */
export function warningsOf(id: string, text: string): string {
  return text.replace(/^warning: (.*)/gm, (line, words) =>
    words.includes(`"${id}"`) || words.startsWith(`${id}: `) ? line : `warning: ${id}: ${words}`,
  );
}
