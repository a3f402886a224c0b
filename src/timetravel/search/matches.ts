/** The places in the contents of files that a pattern matches. */
import { readObjects } from '../../git/objects/object-reader.ts';
import { type Git, gitFailed, runGit } from '../../git/run/git.ts';

export interface Pattern {
  readonly text: string;
  /** A POSIX extended regular expression, as git has them. */
  readonly isRegex: boolean;
  readonly ignoresCase: boolean;
}

/** A line that matches, or several that a text is in. */
export interface Line {
  readonly number: number;
  /** Undefined in a binary file. */
  readonly text: string | undefined;
}

/** By blob. git finds what matches a regular expression, in files that are not binary. */
export async function matchesIn(
  git: Git,
  pattern: Pattern,
  oids: readonly string[],
): Promise<ReadonlyMap<string, readonly Line[]>> {
  if (pattern.isRegex) return grep(git, pattern, oids);
  const contents = await readObjects(git, oids);
  return new Map(oids.map((oid, i) => [oid, textIn(contents[i]?.content.toString() ?? '', pattern)]));
}

/** A minified file is one line. */
const LONGEST_MATCH = 1000;

/** The lines of each place with the text. Nobody can read those of a binary file. */
function textIn(content: string, { text, ignoresCase }: Pattern): Line[] {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const isBinary = content.includes('\0');
  let [start, end, number] = [0, content.indexOf('\n'), 1];
  return [...content.matchAll(new RegExp(literal, ignoresCase ? 'giu' : 'gu'))].map(({ index }) => {
    for (; end >= 0 && end < index; end = content.indexOf('\n', start)) {
      start = end + 1;
      number += 1;
    }
    const last = end < index + text.length && end >= 0 ? content.indexOf('\n', index + text.length) : end;
    const lines = content.slice(start, last < 0 ? undefined : last).slice(0, LONGEST_MATCH);
    return { number, text: isBinary ? undefined : lines };
  });
}

async function grep(
  git: Git,
  { text, ignoresCase }: Pattern,
  oids: readonly string[],
): Promise<ReadonlyMap<string, readonly Line[]>> {
  const found = new Map(oids.map((oid): [string, Line[]] => [oid, []]));
  const how = ['-I', '-n', '-z', '-E', ...(ignoresCase ? ['-i'] : [])];
  const words = ['grep', '--no-color', '--no-column', ...how, '-e', text, ...oids];
  const run = await runGit(git, words);
  if (run.exitCode > 1) throw gitFailed(words, run);
  for (const line of run.stdout.toString().split('\n')) {
    const [oid = '', number, ...content] = line.split('\0');
    found.get(oid)?.push({ number: Number(number), text: content.join('\0').slice(0, LONGEST_MATCH) });
  }
  return found;
}
