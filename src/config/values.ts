/** Sizes, times and booleans as people write them in settings, and sizes as agt prints them. */

/** A boolean as git reads it, or undefined. */
export function parseBoolean(text: string): boolean | undefined {
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  return /^(false|no|off|0|)$/i.test(text) ? false : undefined;
}

/** Bytes of a size in git's notation (`512m`), or undefined. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+)([kmgt]?)b?$/i.exec(text.trim());
  if (match === null) return undefined;
  const power = ['', 'k', 'm', 'g', 't'].indexOf((match[2] ?? '').toLowerCase());
  const bytes = Number(match[1]) * 1024 ** power;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** In the form of `git count-objects -H`: `12 bytes`, `3.46 KiB`, `1.20 GiB`. */
export function showSize(bytes: number): string {
  const power = [3, 2, 1].find((power) => bytes >= 1024 ** power) ?? 0;
  if (power === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${(bytes / 1024 ** power).toFixed(2)} ${['', 'KiB', 'MiB', 'GiB'][power]}`;
}

/** A whole number that is not negative, or undefined. */
export function parseCount(text: string): number | undefined {
  return /^\d{1,6}$/.test(text.trim()) ? Number(text) : undefined;
}

/** Whether `agt session accept` takes untracked files. */
export const UNTRACKED = ['ask', 'all', 'none'] as const;

/** For agt.refuse. */
export function checkRefusals(value: string): string | undefined {
  const unknown = parseWords(value).find((word) => !/^(force|no-verify|push:.+)$/.test(word));
  return unknown && `"${unknown}" is neither push:BRANCH nor force nor no-verify`;
}

/** The words of a list, separated by spaces or commas. */
export function parseWords(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

const SECONDS_PER_UNIT: Readonly<Record<string, number>> = {
  second: 1,
  min: 60,
  minute: 60,
  h: 3_600,
  hour: 3_600,
  d: 86_400,
  day: 86_400,
  w: 7 * 86_400,
  week: 7 * 86_400,
  month: 30 * 86_400,
  y: 365 * 86_400,
  year: 365 * 86_400,
};

/** Seconds of `30 days`, `30d` or git's `30.days.ago`; Infinity for `never`; otherwise undefined. */
export function parsePeriod(text: string): number | undefined {
  if (/^never$/i.test(text.trim())) return Number.POSITIVE_INFINITY;
  const match = /^(\d+)[ .]?([a-z]+?)s?(?:[ .]ago)?$/i.exec(text.trim());
  const unit = SECONDS_PER_UNIT[(match?.[2] ?? '').toLowerCase()];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

/** A kind of values: why one is not valid, and a valid one as agt uses it. */
export function kind<T>(parse: (text: string) => T | undefined, problem: string) {
  return {
    check: (value: string) => (parse(value) === undefined ? problem : undefined),
    parse: parse as (value: string) => T,
  };
}

export function text(check: (value: string) => string | undefined = () => undefined) {
  return { check, parse: (value: string) => value };
}

export function oneOf<const T extends string>(
  values: readonly T[],
  problem = `choose one of ${values.join(', ')}`,
) {
  return { ...kind((value) => values.find((one) => one === value), problem), choices: values };
}

export function supported(...values: string[]) {
  const named = `${values.slice(0, -1).join(', ')} and ${values.at(-1)}`;
  return oneOf(values, `not supported; supported values are ${named}`);
}

export const BOOLEAN = { ...kind(parseBoolean, 'neither true nor false'), choices: ['true', 'false'] };

/** In seconds; Infinity for `never`. */
export function period(example: string, other: string) {
  return kind(parsePeriod, `not a time such as "${example}" or "${other}", nor "never"`);
}

/** Whether agt.readOnlyTools or the like has it; `*` in a name stands for anything. */
export function isNamed(tool: string, names: readonly string[]): boolean {
  return names.some((name) => {
    const parts = name.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`, 's').test(tool);
  });
}

/** The words that a template may have in braces. */
const PLACEHOLDERS: readonly string[] = ['summary', 'session', 'branch'];

export function checkTemplate(value: string): string | undefined {
  const unknown = [...value.matchAll(/\{(\w+)\}/g)].find(([, name = '']) => !PLACEHOLDERS.includes(name));
  if (value.trim() === '') return 'empty';
  return unknown === undefined ? undefined : `has ${unknown[0]}; agt knows {${PLACEHOLDERS.join('}, {')}}`;
}

/** A prefix of refs: whole path components that git-check-ref-format(1) accepts, and a final slash. */
export function checkPrefix(value: string): string | undefined {
  if (!value.endsWith('/')) return 'must end with a slash';
  const good = value
    .slice(0, -1)
    .split('/')
    .every(
      (part) =>
        /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(part) && !part.includes('..') && !/\.(lock)?$/.test(part),
    );
  return good ? undefined : 'must be made of letters, digits, ".", "_" and "-", with slashes between';
}

export interface SettingKey {
  readonly name: string;
  readonly defaultValue: string;
  /** The meaning of the empty value, if it is valid. */
  readonly emptyMeans?: string;
  readonly env?: string;
  /** The variable says the opposite: it switches off. */
  readonly envIsOff?: true;
  /** Read only from the user's own file and the environment: a repository must not choose which program agt runs. */
  readonly globalOnly?: true;
  /** All lines count, not only the last one. */
  readonly isList?: true;
  readonly choices?: readonly string[];
  /** Git mode reads it too. A wrong value of another setting must not stop git. */
  readonly inGitMode?: true;
  readonly summary: string;
  /** Why a value is not valid, or undefined. */
  readonly check: (value: string) => string | undefined;
  /** A valid value as agt uses it. */
  readonly parse: (value: string) => unknown;
}
