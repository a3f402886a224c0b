/**
 * Reads git-config syntax in process: the few small files that agt owns, and configuration that agt needs at startup,
 * where a child process would cost more than the work itself. It does not follow `include.path`: agt's own files have
 * none, and agt asks git for the user's configuration.
 */

export interface ConfigEntry {
  /** `section.name` or `section.subsection.name`: section and name in lower case, the subsection as written. */
  key: string;
  value: string;
}

/** @throws SyntaxError that names the line; git-config would reject it too. */
export function parseGitConfig(text: string): ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  let section = '';
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const lineNumber = i + 1;
    let line = (lines[i] ?? '').trimStart();
    if (line.startsWith('[')) {
      const header = readSectionHeader(line, lineNumber);
      section = header.section;
      line = header.rest;
    }
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const name = /^([A-Za-z][A-Za-z0-9-]*)\s*(=?)/.exec(line);
    if (name === null || section === '') throw new SyntaxError(`bad config line ${lineNumber}`);
    const key = `${section}.${(name[1] ?? '').toLowerCase()}`;
    let raw = line.slice(name[0].length);
    if (name[2] === '') {
      if (!/^\s*(?:[#;].*)?$/.test(raw)) throw new SyntaxError(`bad config line ${lineNumber}`);
      entries.push({ key, value: 'true' });
      continue;
    }
    while (/(?:^|[^\\])(?:\\\\)*\\$/.test(raw) && i + 1 < lines.length) raw = raw.slice(0, -1) + lines[++i];
    entries.push({ key, value: unquote(raw, lineNumber) });
  }
  return entries;
}

/** `line` begins with a section header; `rest` is what follows the header in the same line. */
function readSectionHeader(line: string, lineNumber: number): { section: string; rest: string } {
  const header = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
  if (header === null) throw new SyntaxError(`bad section header in line ${lineNumber}`);
  const section = (header[1] ?? '').toLowerCase();
  const subsection = header[2]?.replace(/\\(.)/g, '$1');
  return {
    section: subsection === undefined ? section : `${section}.${subsection}`,
    rest: line.slice(header[0].length).trimStart(),
  };
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' };

function unquote(raw: string, lineNumber: number): string {
  let value = '';
  let kept = 0; // length of `value` without trailing blanks
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

/** The last value of `key`, which wins in git too. The case of `key` does not matter. */
export function lastValue(entries: readonly ConfigEntry[], key: string): string | undefined {
  const wanted = key.toLowerCase();
  return entries.findLast((entry) => entry.key === wanted)?.value;
}

/** All values of `key` as one list; undefined if there is none. */
export function joinedValues(entries: readonly ConfigEntry[], key: string): string | undefined {
  const values = entries.filter((entry) => entry.key === key.toLowerCase()).map(({ value }) => value);
  return values.length === 0 ? undefined : values.join(' ');
}

/** The output of `git config --list --null` with `--show-scope` or `--show-origin`, which is the label. */
export function parseLabelledList(output: string): (ConfigEntry & { readonly label: string })[] {
  const fields = output.split('\0').slice(0, -1);
  return fields.flatMap((label, i) => (i % 2 === 0 ? [{ label, ...parseListed(fields[i + 1] ?? '') }] : []));
}

function parseListed(text: string): ConfigEntry {
  const end = text.indexOf('\n');
  return end < 0 ? { key: text, value: 'true' } : { key: text.slice(0, end), value: text.slice(end + 1) };
}

/** The same without a label: every value of each key, in git's order. Section and name are in lower case. */
export function configValues(output: string): Map<string, readonly string[]> {
  const listed = output.split('\0').filter((text) => text !== '');
  const byKey = Map.groupBy(listed.map(parseListed), ({ key }) => key);
  return new Map([...byKey].map(([key, entries]) => [key, entries.map(({ value }) => value)]));
}
