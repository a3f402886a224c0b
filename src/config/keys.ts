/**
 * Every setting of agt: its name, default, environment variable and valid values. agt reads settings, checks them,
 * lists them and writes its manual from this table.
 */
import { parseBoolean, parseRetention, parseSize } from './values.ts';

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
