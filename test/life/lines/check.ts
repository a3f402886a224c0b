/** Every line of agt blame against the life, and the sums of all lives. */
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import { agtOk } from '../../harness/world.ts';
import type { Files, Line, Pen } from './pen.ts';

/** `unknown`: agt does not say it, and could. `shared`: two agents were at work, so agt must not say it. */
export const sums = { lines: 0, unknown: 0, shared: 0 };

interface Blamed {
  readonly content: string;
  readonly origin: {
    readonly by: string;
    readonly session: string;
    readonly agent: string;
    readonly prompt: string;
    readonly call: string | null;
  } | null;
}

interface Answer {
  readonly text: string;
  readonly by: string;
  readonly call: string | undefined;
}

export class Checks {
  private readonly pen: Pen;
  private readonly digest = createHash('sha1');
  private readonly before = { ...sums };
  private readonly began = performance.now();

  constructor(pen: Pen) {
    this.pen = pen;
  }

  check(cwd: string, files: Files, when: string, names: Iterable<string> = files.keys()): void {
    for (const name of names) {
      const lines = files.get(name) ?? [];
      if (lines.length > 0) this.file(cwd, files, lines, { when, name }, []);
    }
  }

  /** With -w, a line that somebody has only indented is of the one who wrote it. */
  checkWithoutSpace(cwd: string, files: Files, name: string): void {
    const written = (line: Line): Line => (line.under === undefined ? line : written(line.under));
    const lines = (files.get(name) ?? []).map((line) => ({ ...written(line), text: line.text }));
    if (lines.length > 0) this.file(cwd, files, lines, { when: '-w', name }, ['-w']);
  }

  private file(cwd: string, files: Files, lines: readonly Line[], at: object, options: string[]): void {
    const { name } = at as { name: string };
    const blamed = JSON.parse(agtOk(cwd, 'blame', '--json', ...options, name)) as Blamed[];
    const said = blamed.map(({ content, origin }, i) => {
      const line = lines[i];
      const isAgent = origin?.by === 'agent';
      const by = isAgent
        ? `${origin.session} ${origin.agent} ${origin.prompt.replace('prompt ', '')}`
        : 'person';
      const answer: Answer = {
        text: content,
        by: origin?.by === 'unknown' ? 'unknown' : by,
        call: origin?.call ?? undefined,
      };
      sums.lines += 1;
      if (line?.by === 'unknown') sums.shared += 1;
      else if (answer.by === 'unknown') sums.unknown += 1;
      return answer;
    });
    this.digest.update(JSON.stringify([at, said]));
    const expected = lines.map((line, i) => expectedOf(line, said[i], files, this.pen));
    expect(said, Object.values(at).join(': ')).toEqual(expected);
  }

  /** AGT_TEST_LIVES_LOG names a file that gets a line for each life: the same seed has to give the same hash again. */
  end(seed: number): void {
    const log = process.env['AGT_TEST_LIVES_LOG'];
    if (log === undefined) return;
    const counts = (['lines', 'unknown', 'shared'] as const).map((key) => sums[key] - this.before[key]);
    const seconds = ((performance.now() - this.began) / 1000).toFixed(1);
    appendFileSync(log, `${[seed, this.digest.digest('hex'), ...counts, seconds].join(' ')}\n`);
  }
}

function expectedOf(line: Line, said: Answer | undefined, files: Files, pen: Pen): Answer {
  const { text, by, call, from } = line;
  if (said?.by === 'unknown' && by !== 'unknown') return { text, by: 'unknown', call };
  // If the file that it comes from is gone, git may take the copy for that file, or for another copy of it that is gone.
  const isMaybeRenamed = from?.names.some((name) => !files.has(name)) === true;
  const isOther = (one: Line) => one.by === said?.by && one.call === said.call;
  if (isMaybeRenamed && said !== undefined && pen.inGone(text, files).some(isOther)) return said;
  return isMaybeRenamed && (by !== said?.by || call !== said.call)
    ? expectedOf({ ...from.line, text }, said, files, pen)
    : { text, by, call };
}
