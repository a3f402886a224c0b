/**
 * Reads git-config syntax in process, for the few small files that agt owns and for startup paths where a child
 * process would cost more than the work itself. Does not follow `include.path`: agt's own files need none, and for the
 * user's git configuration git itself is asked.
 */

export interface ConfigEntry {
  /** `section.name` or `section.subsection.name`; section and name in lower case, the subsection as written. */
  key: string;
  value: string;
}

/** @throws SyntaxError naming the line that git-config would reject too. */
export function parseGitConfig(text: string): ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  let section = '';
  let lineNumber = 0;
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    lineNumber = i + 1;
    let line = (lines[i] ?? '').trimStart();
    if (line.startsWith('[')) {
      const header = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
      if (header === null) throw new SyntaxError(`bad section header in line ${lineNumber}`);
      const subsection = header[2];
      section = (header[1] ?? '').toLowerCase();
      if (subsection !== undefined) section += `.${subsection.replace(/\\(.)/g, '$1')}`;
      line = line.slice(header[0].length).trimStart();
    }
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const name = /^([A-Za-z][A-Za-z0-9-]*)\s*(=?)/.exec(line);
    if (name === null || section === '') throw new SyntaxError(`bad config line ${lineNumber}`);
    const key = `${section}.${(name[1] ?? '').toLowerCase()}`;
    if (name[2] === '') {
      if (!/^\s*(?:[#;].*)?$/.test(line.slice(name[0].length))) {
        throw new SyntaxError(`bad config line ${lineNumber}`);
      }
      entries.push({ key, value: 'true' });
      continue;
    }
    let raw = line.slice(name[0].length);
    while (/(?:^|[^\\])(?:\\\\)*\\$/.test(raw) && i + 1 < lines.length) raw = raw.slice(0, -1) + lines[++i];
    entries.push({ key, value: unquote(raw, lineNumber) });
  }
  return entries;
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' };

function unquote(raw: string, lineNumber: number): string {
  let value = '';
  let kept = 0; // how much of `value` survives the trimming of trailing blanks
  let quoted = false;
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i] as string;
    if (c === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (c === '\\') {
      const escaped = ESCAPES[raw[++i] ?? ''];
      if (escaped === undefined) throw new SyntaxError(`bad escape in line ${lineNumber}`);
      value += escaped;
      kept = value.length;
    } else if (!quoted && (c === '#' || c === ';')) {
      break;
    } else if (!quoted && (c === ' ' || c === '\t')) {
      if (value !== '') value += c;
    } else {
      value += c;
      kept = value.length;
    }
  }
  if (quoted) throw new SyntaxError(`missing closing quote in line ${lineNumber}`);
  return value.slice(0, kept);
}

/** The last value of `key` (any case), as git gives it. */
export function lastValue(entries: readonly ConfigEntry[], key: string): string | undefined {
  const wanted = key.toLowerCase();
  return entries.findLast((entry) => entry.key === wanted)?.value;
}
