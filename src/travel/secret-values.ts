/** Secrets in text: by the forms that services give them, and values that stand in files of keys and logins. */
import { basename } from 'node:path';
import { attempt } from '../errors.ts';
import { INTEGRATIONS } from '../integrations/tools.ts';
import { looksSecret } from '../landing/untracked.ts';

const LOGINS = new Set(
  INTEGRATIONS.flatMap(({ isolation }) => isolation?.login ?? []).map((path) => basename(path)),
);

/** By its name, a file of keys or of a login. */
export function holdsSecrets(path: string): boolean {
  const name = basename(path);
  return LOGINS.has(name) || looksSecret(name);
}

export interface Secret {
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
export function findSecrets(text: string, values: SecretValues): Secret[] {
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
export type SecretValues = ReadonlyMap<string, string>;

/** Of a file, by its path for people. */
export function secretsInFile(path: string, content: Buffer): [value: string, kind: string][] {
  if (content.includes(0)) return [];
  const found = valuesIn(content.toString('latin1')).filter(([name, value]) => isTelling(name, value));
  return found.map(([, value]) => [value, `value of ${path}`]);
}

/** Strings of JSON; else what follows the first sign of each line, and every word. */
function valuesIn(text: string): [name: string, value: string][] {
  const json = attempt(() => JSON.parse(text) as unknown);
  if (typeof json === 'object' && json !== null) return stringsIn('', json);
  return text.split('\n').flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = /^\s*(?:export\s+)?([^=:\s]+)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    const unquoted = value.replace(/^(["'`])(.*?)\1.*$/, '$2').replace(/\s+#.*$/, '');
    const words = line.split(/[\s"'`,;=]+/);
    return [[name, unquoted], ...words.map((word, i): [string, string] => [words[i - 1] ?? '', word])];
  });
}

function stringsIn(name: string, json: unknown): [name: string, value: string][] {
  if (typeof json === 'string') return [[name, Buffer.from(json, 'latin1').toString('latin1')]];
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) => stringsIn(key, value));
}

const LEAST_LENGTH = 8;

/** No plain word, and if its name says nothing, more than words and small numbers: an address, a date, a region. */
function isTelling(name: string, value: string): boolean {
  if (value.length < LEAST_LENGTH || /^[A-Za-z]+$/.test(value) || /^\W+$/.test(value)) return false;
  const isReference = /^\$\{?\w+\}?$|^<.*>$/.test(value);
  const hasWordsAlone = value.split(/[^A-Za-z0-9]+/).every((part) => /^([A-Za-z]*|\d{0,5})$/.test(part));
  return !isReference && (NAMED.test(name) || !hasWordsAlone);
}
