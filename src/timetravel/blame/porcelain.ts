/** Calls `git blame` and reads what it prints for programs. */
import { withSettings } from '../../git/run/environment.ts';
import { type Git, gitBytes } from '../../git/run/git.ts';

export interface BlamedLine {
  readonly commit: string;
  /** In that commit; one byte per character, like all text here. */
  readonly path: string;
  /** Numbers of the line there and in the file, counted from 1. */
  readonly original: number;
  readonly number: number;
  /** `author`, `author-mail`, `author-time`, `author-tz`, `summary`, and what else git says of the commit. */
  readonly details: ReadonlyMap<string, string>;
  readonly content: string;
  /** The first of so many lines that follow each other in both. */
  readonly group: string;
}

/** The commit of a line that is only on disk. */
export const NOT_COMMITTED = /^0+$/;

/** `words`: options and a range of commits. `path`: one byte per character. */
export async function gitBlame(git: Git, words: readonly string[], path: string): Promise<BlamedLine[]> {
  const args = ['blame', '--porcelain', '--no-textconv', ...words, '--'];
  const name = Buffer.from(path, 'latin1').toString();
  if (!name.includes('\ufffd')) return parse((await gitBytes(git, [...args, name])).toString('latin1'));
  // An argument that is not UTF-8 comes from a shell: Node has none.
  const octal = Array.from(path, (byte) => `\\0${byte.charCodeAt(0).toString(8).padStart(3, '0')}`).join('');
  const script = `path=$(printf %b '${octal}/') && exec "$@" "\${path%/}"`;
  const shell = { ...git, path: '/bin/sh' };
  return parse((await gitBytes(shell, ['-c', script, 'sh', git.path, ...args])).toString('latin1'));
}

/** For a blame of agt's own: without the user's list of commits to pass over. */
export function forOwnBlame(git: Git): Git {
  return withSettings(git, { 'blame.ignoreRevsFile': '' });
}

function parse(output: string): BlamedLine[] {
  const lines: BlamedLine[] = [];
  const known = new Map<string, Map<string, string>>();
  let [commit, original, number, group] = ['', 0, 0, ''];
  let details = new Map<string, string>();
  let isBetween = true;
  for (const line of output.split('\n')) {
    if (line.startsWith('\t')) {
      isBetween = true;
      const path = details.get('filename') ?? '';
      lines.push({ commit, path: unquoted(path), original, number, details, content: line.slice(1), group });
      continue;
    }
    if (isBetween) {
      const [oid = '', there, here, size] = line.split(' ');
      [commit, original, number, group] = [oid, Number(there), Number(here), size ? ` ${size}` : ''];
      isBetween = false;
      details = known.get(oid) ?? new Map();
      known.set(oid, details);
      continue;
    }
    const space = line.indexOf(' ');
    const name = space < 0 ? line : line.slice(0, space);
    // Its lines may come from several files.
    if (name === 'filename' && details.has(name)) {
      details = new Map(details);
      known.set(commit, details);
    }
    if (name !== '') details.set(name, space < 0 ? '' : line.slice(space + 1));
  }
  return lines;
}

/** git quotes a name with odd bytes as C does. */
export function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const letters: Readonly<Record<string, string>> = {
    n: '\n',
    t: '\t',
    r: '\r',
    a: '\x07',
    b: '\b',
    f: '\f',
    v: '\v',
  };
  return name
    .slice(1, -1)
    .replace(/\\([0-7]{3}|.)/gs, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (letters[code] ?? code),
    );
}

/** A blob with the bytes that git would write to the file. */
export function asInWorktree(git: Git, object: string, path: string): Promise<Buffer> {
  const name = Buffer.from(path, 'latin1').toString();
  return gitBytes(git, ['cat-file', '--filters', `--path=${name}`, object]);
}
