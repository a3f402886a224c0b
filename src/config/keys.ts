/**
 * Every setting that agt has: its name, default, environment variable and what a valid value is.
 * The one table behind reading, `agt config`, the manual and the documentation.
 */

export interface SettingKey {
  readonly name: string;
  readonly fallback: string;
  /** What the empty value means, where that is a value. */
  readonly whenEmpty?: string;
  readonly env?: string;
  /** Honoured only from the user's own file and the environment: a repository must not choose what is executed. */
  readonly globalOnly?: true;
  readonly summary: string;
  /** What is wrong with a value, or undefined. */
  readonly check: (value: string) => string | undefined;
}

export const SETTING_KEYS = [
  {
    name: 'agt.gitPath',
    fallback: '',
    whenEmpty: 'search PATH',
    env: 'AGT_GIT_PATH',
    globalOnly: true,
    summary: 'path of the real git; if empty, the first git on PATH that is not agt',
    check: () => undefined,
  },
  {
    name: 'agt.agentEmail',
    fallback: 'agt@local',
    summary: 'author of snapshots; called as git, agt hides commits by this author',
    check: (value) =>
      /^[^\s<>"\\]+@[^\s<>"\\]+$/.test(value) ? undefined : 'not an email address of the form name@host',
  },
  {
    name: 'agt.branchPrefix',
    fallback: 'agtsessions/',
    summary: 'prefix of shadow branches',
    check: checkPrefix,
  },
  {
    name: 'agt.workPrefix',
    fallback: 'agt/',
    summary: 'prefix of work branches',
    check: checkPrefix,
  },
  {
    name: 'agt.maxFileSize',
    fallback: '512m',
    summary: 'size limit of files; larger files are left out of snapshots, with a warning',
    check: (value) => (parseSize(value) === undefined ? 'not a size such as 512m or 2g' : undefined),
  },
  {
    name: 'agt.retention',
    fallback: '30 days',
    summary:
      'how long agt gc keeps the snapshots of a removed session, such as 30 days or 2 weeks; never: it keeps them for good',
    check: (value) =>
      parseRetention(value) === undefined
        ? "not a time such as '30 days' or '2 weeks', nor 'never'"
        : undefined,
  },
  {
    name: 'agt.budget',
    fallback: '',
    whenEmpty: 'no limit',
    summary:
      'limit of the disk space that all snapshots of a repository use, such as 10g; past it, autocommits thin out ' +
      'snapshots, or fail; if empty, no limit',
    check: (value) =>
      value === '' || parseSize(value) !== undefined ? undefined : 'not a size such as 512m or 10g',
  },
  {
    name: 'agt.guard',
    fallback: 'true',
    summary: 'autocommit a session before a git command that can destroy work in its sandbox',
    check: (value) => (parseBoolean(value) === undefined ? 'neither true nor false' : undefined),
  },
  {
    name: 'fs.snapshots',
    fallback: 'auto',
    env: 'AGT_FS_SNAPSHOTS',
    summary: 'snapshot provider: auto, git, btrfs, zfs, agentfs, disable',
    check: oneOf('auto', 'git', 'btrfs', 'zfs', 'agentfs', 'disable'),
  },
  {
    name: 'fs.workingCopy',
    fallback: 'auto',
    env: 'AGT_WORKING_COPY',
    summary: 'how a sandbox is made: auto, worktree, in-place, cow-overlay',
    check: oneOf('auto', 'worktree', 'in-place', 'cow-overlay'),
  },
] as const satisfies readonly SettingKey[];

export type SettingName = (typeof SETTING_KEYS)[number]['name'];

/** The key by its name in any case, as git-config names are. */
export function findKey(name: string): (SettingKey & { name: SettingName }) | undefined {
  return SETTING_KEYS.find((key) => key.name.toLowerCase() === name.toLowerCase());
}

/** A value as people read it. */
export function showValue(name: SettingName, value: string): string {
  return value || `(${findKey(name)?.whenEmpty ?? 'empty'})`;
}

function oneOf(...values: string[]): (value: string) => string | undefined {
  return (value) => (values.includes(value) ? undefined : `not one of ${values.join(', ')}`);
}

/** A ref prefix: whole components, a slash at the end, nothing that git-check-ref-format(1) refuses. */
function checkPrefix(value: string): string | undefined {
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

/** As git reads one; undefined for what is none. */
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

/** As `git count-objects -H` writes it: `12 bytes`, `3.46 KiB`, `1.20 GiB`. */
export function showSize(bytes: number): string {
  const power = [3, 2, 1].find((power) => bytes >= 1024 ** power) ?? 0;
  if (power === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${(bytes / 1024 ** power).toFixed(2)} ${['', 'KiB', 'MiB', 'GiB'][power]}`;
}

const SECONDS: Readonly<Record<string, number>> = {
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
export function parseRetention(text: string): number | undefined {
  if (/^never$/i.test(text.trim())) return Number.POSITIVE_INFINITY;
  const match = /^(\d+)[ .]?([a-z]+?)s?(?:[ .]ago)?$/i.exec(text.trim());
  const unit = SECONDS[(match?.[2] ?? '').toLowerCase()];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}
