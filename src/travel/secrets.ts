/**
 * Secrets: by the forms that services give them, and values that stand in files of keys and logins. Before a session leaves
 * without encryption, what would be sent is searched for them.
 */
import { basename } from 'node:path';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, attempt, listSome, plural, someLines } from '../errors.ts';
import { shortOid } from '../git/files/ref-files.ts';
import { findObjects, readContents, readObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTreeWords, parseRawDiff } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import { type Git, gitBytes, gitText } from '../git/run/git.ts';
import { INTEGRATIONS } from '../integrations/tools.ts';
import { looksSecret } from '../landing/untracked.ts';
import type { SessionRecord } from '../session/record.ts';
import { decodePath } from '../snapshot/tree-names.ts';

const LOGINS = new Set(
  INTEGRATIONS.flatMap(({ isolation }) => isolation?.login ?? []).map((path) => basename(path)),
);

/** By its name, a file of keys or of a login. */
export function holdsSecrets(path: string): boolean {
  const name = basename(path);
  return LOGINS.has(name) || looksSecret(name);
}

interface Secret {
  readonly kind: string;
  /** In the text. */
  readonly start: number;
  readonly end: number;
}

/** The first letter of a token follows no letter. */
const FORMS: readonly (readonly [kind: string, form: string])[] = [
  ['token of GitHub', 'gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\\w{22,}'],
  ['token of GitLab', 'gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-[\\w-]{20,}'],
  ['key of AWS', '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])'],
  ['token of Slack', 'xox[abeoprs]-[\\w-]{10,}|xapp-[\\w-]{10,}|hooks\\.slack\\.com/services/\\w+/\\w+/\\w+'],
  ['key of Stripe', '(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{20,}'],
  ['key of Anthropic', 'sk-ant-[\\w-]{20,}'],
  ['key of OpenAI', 'sk-(?:proj|svcacct|admin)-[\\w-]{20,}|sk-[A-Za-z0-9]{32,}'],
  ['key of Google', 'AIza[\\w-]{35}'],
  ['token of npm', 'npm_[A-Za-z0-9]{36}'],
  ['token', 'eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]{16,}'],
  ['private key', '-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----'],
  ['key of age', 'AGE-SECRET-KEY-1[0-9A-Za-z]{50,}'],
  [
    'password in an address',
    '[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\\s/:@\'"`<>]*:(?![$<{*%]|(?:pass(?:word)?|secret|x+)@)[^\\s/@\'"`<>]{3,}@[\\w.-]',
  ],
];
const FORM = new RegExp(`(?<![A-Za-z0-9])(?:${FORMS.map(([, form]) => `(${form})`).join('|')})`, 'g');

const NAMED = /key|token|secret|passw(?:or)?d|passphrase|pwd|credential/i;
const ASSIGNED = new RegExp(
  `(?:${NAMED.source})[\\w.-]{0,30}["'\`\\]]{0,2}\\s{0,3}(?:=>|:=|[=:])\\s{0,3}["'\`]?([\\w+/.~=-]{16,})(?![\\w+/.~=(-])`,
  'gi',
);

/** `text` has one byte per character. */
function findSecrets(text: string, values: SecretValues): Secret[] {
  const found: Secret[] = [];
  const add = (kind: string, start: number, end: number) => {
    if (!found.some((one) => one.start < end && start < one.end)) found.push({ kind, start, end });
  };
  for (const match of text.matchAll(FORM)) {
    const form = FORMS[match.slice(1).findIndex((group) => group !== undefined)];
    add(form?.[0] ?? '', match.index, match.index + match[0].length);
  }
  for (const [value, kind] of values)
    for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length))
      add(kind, at, at + value.length);
  for (const { 0: whole, 1: value = '', index } of text.matchAll(ASSIGNED)) {
    const end = index + whole.length;
    if (looksRandom(value)) add('random value of a key or a password', end - value.length, end);
  }
  return found;
}

/** Bits for each character, by how often each comes. A word of a language or a name of a program has fewer. */
const LEAST_ENTROPY = 3.4;
const LEAST_DIGITS = 3;

function looksRandom(value: string): boolean {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let entropy = 0;
  for (const count of counts.values()) entropy -= (count / value.length) * Math.log2(count / value.length);
  const digits = value.replace(/\D/g, '').length;
  const isAddress = /^[\d.-]+$|\/.*\/.*\/|\.\w+\./.test(value);
  return entropy >= LEAST_ENTROPY && digits >= LEAST_DIGITS && /[A-Za-z]/.test(value) && !isAddress;
}

/** What files of keys and logins hold, and where it is from. */
type SecretValues = ReadonlyMap<string, string>;

/** Of a file, by its path for people. */
function secretsInFile(path: string, content: Buffer): [value: string, kind: string][] {
  if (content.includes(0)) return [];
  const found = valuesIn(content.toString('latin1')).filter(([name, value]) => isTelling(name, value));
  return found.map(([, value]) => [value, `value of ${path}`]);
}

/** Strings of JSON; else what follows the first sign of each line, and every word. */
function valuesIn(text: string): [name: string, value: string][] {
  const strings: [name: string, value: string][] = [];
  const note = (name: string, value: unknown) => {
    if (typeof value === 'string') strings.push([name, Buffer.from(value, 'latin1').toString('latin1')]);
    return value;
  };
  const json = attempt(() => JSON.parse(text, note) as unknown);
  if (typeof json === 'object' && json !== null) return strings;
  return text.split('\n').flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = /^\s*(?:export\s+)?([^=:\s]+)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    const unquoted = value.replace(/^(["'`])(.*?)\1.*$/, '$2').replace(/\s+#.*$/, '');
    const words = line.split(/[\s"'`,;=]+/);
    return [[name, unquoted], ...words.map((word, i): [string, string] => [words[i - 1] ?? '', word])];
  });
}

const LEAST_LENGTH = 8;

/** No plain word, and if its name says nothing, more than words and small numbers: an address, a date, a region. */
function isTelling(name: string, value: string): boolean {
  if (value.length < LEAST_LENGTH || /^[A-Za-z]+$/.test(value) || /^\W+$/.test(value)) return false;
  const isReference = /^\$\{?\w+\}?$|^<.*>$/.test(value);
  const hasWordsAlone = value.split(/[^A-Za-z0-9]+/).every((part) => /^([A-Za-z]*|\d{0,5})$/.test(part));
  return !isReference && (NAMED.test(name) || !hasWordsAlone);
}

/** Bytes of a file of keys or a login. */
const LARGEST = 2 ** 20;

/** Every version of every file that commits of `range` have, by its path in a tree: lines for git rev-list. */
export async function filesIn(git: Git, range: string): Promise<DiffEntry[]> {
  const commits = await gitText(git, ['rev-list', '--stdin'], { input: range });
  const words = [...diffTreeWords(false), '--stdin', '--root', '--diff-merges=first-parent'];
  const output = await gitBytes(withoutIndex(git), words, { input: `${commits}\n` });
  return [...parseRawDiff(output.toString('latin1'), (path) => path).values()].flat();
}

/** Values in files of keys and logins, also of those that are left out. */
export async function secretsOf(git: Git, files: readonly DiffEntry[]): Promise<SecretValues> {
  const paths = new Map<string, string>();
  for (const { path, after } of files)
    if (after?.mode.startsWith('100') && holdsSecrets(decodePath(path))) paths.set(after.oid, shown(path));
  const sizes = await findObjects(git, [...paths.keys()]);
  const small = [...paths.keys()].filter((_, i) => (sizes[i]?.size ?? 0) <= LARGEST);
  const found = await readObjects(git, small);
  return new Map(found.flatMap((one) => (one ? secretsInFile(paths.get(one.oid) ?? '', one.content) : [])));
}

/**
 * In what `range` has, which is lines for git rev-list. `originals`: the snapshots here, by the names that they have on the
 * remote. `encrypted`: how to send it encrypted. @throws AgtError that names every place
 */
export async function refuseSecrets(
  git: Git,
  range: string,
  record: SessionRecord,
  values: SecretValues,
  originals: ReadonlyMap<string, string>,
  encrypted: string,
): Promise<void> {
  const secrets = new Map<string, { kind: string; places: Set<string> }>();
  const search = (text: string, place: string) => {
    for (const { kind, start, end } of findSecrets(text, values)) {
      const secret = text.slice(start, end);
      const known = secrets.get(secret) ?? { kind, places: new Set() };
      secrets.set(secret, known);
      known.places.add(withoutSecrets(place, values, mask));
    }
  };
  const { token: _, ...rest } = record;
  search(Buffer.from(JSON.stringify(rest)).toString('latin1'), 'the metadata of the session');
  const words = ['rev-list', '--objects', '--in-commit-order', '--stdin'];
  const objects = (await gitBytes(git, words, { input: range })).toString('latin1').split('\n').slice(0, -1);
  const oids = objects.map((line) => line.split(' ', 1)[0] as string);
  let commit = '';
  const placeOf = objects.map((line, i) => {
    const path = line.slice((oids[i] as string).length + 1);
    if (line === oids[i]) commit = shortOid(originals.get(line) ?? line);
    return line === oids[i] ? `the message of ${commit}` : [shown(path), commit].filter(Boolean).join(' in ');
  });
  await readContents(git, oids, async (i, chunks, type) => {
    const place = `${type === 'tree' ? 'the name of a file in ' : ''}${placeOf[i]}`;
    for await (const text of windows(chunks)) search(text, place);
  });
  if (secrets.size === 0) return;
  const id = withoutSecrets(record.session_id, values, mask);
  const listed = [...secrets].map(
    ([secret, { kind, places }]) => `${kind}, ${mask(secret)}: ${listSome([...places], PLACES)}`,
  );
  const what = `${plural(secrets.size, 'secret')} would leave session "${id}" in plain text`;
  throw new AgtError(`${what}, and nothing was sent`, {
    hints: [
      ...someLines(listed, LISTED),
      `to send all of it encrypted: ${encrypted}`,
      'or send them all the same: --allow-secrets',
    ],
  });
}

/** `text` with asterisks in place of secrets. */
export function cutSecrets(text: string, values: SecretValues): string {
  const bytes = Buffer.from(text).toString('latin1');
  const cut = withoutSecrets(bytes, values, () => '***');
  return cut === bytes ? text : Buffer.from(cut, 'latin1').toString();
}

/** For one secret, and for the message. */
const PLACES = 3;
const LISTED = 1000;

/** Also a name or a path may be one. */
function withoutSecrets(text: string, values: SecretValues, replace: (secret: string) => string): string {
  const secrets = findSecrets(text, values).toSorted((a, b) => b.start - a.start);
  return secrets.reduce(
    (rest, { start, end }) => rest.slice(0, start) + replace(rest.slice(start, end)) + rest.slice(end),
    text,
  );
}

function mask(secret: string): string {
  return `${displayPath(secret.slice(0, SHOWN))}…`;
}

const SHOWN = 4;

function shown(path: string): string {
  const text = displayPath(decodePath(path)).replace(/^_\/staged\/(.+)/, 'sandbox/$1 (staged)');
  return text.replace(/^sandbox(\/|$)/, '');
}

/** Pieces of a file of any size; each begins with the end of the one before. */
async function* windows(chunks: AsyncGenerator<Buffer>): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk.toString('latin1');
    if (text.length < WINDOW) continue;
    yield text;
    text = text.slice(-OVERLAP);
  }
  yield text;
}

const WINDOW = 2 ** 20;
const OVERLAP = 4096;
