/**
 * The environment of agt's own git calls. A hook, an alias or a rebase sets variables that point git to another
 * repository, index or object store. None of them may redirect what agt reads or writes.
 */

export interface Git {
  /** Absolute path of the real git. */
  readonly path: string;
  /** The directory in which git runs; absolute. */
  readonly cwd: string;
  /** Already clean (environment.ts), with settings that keep git from starting programs (programs.ts). */
  readonly env: NodeJS.ProcessEnv;
  /** The user's own language, for calls whose messages the user reads. */
  readonly userLocale: NodeJS.ProcessEnv;
}

/** Variables by which git finds a repository and its parts: a command in another directory must not inherit them. */
export const REPOSITORY_VARIABLES = `
  GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE
  GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_QUARANTINE_PATH GIT_REFERENCE_BACKEND
  GIT_SHALLOW_FILE GIT_WORK_TREE`
  .trim()
  .split(/\s+/);

/** The list of `git rev-parse --local-env-vars` (2.39 to 2.55), and others that change what a call does. */
const REMOVED = `
  GIT_ATTR_SOURCE GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_DEFAULT_HASH GIT_DIFF_OPTS GIT_EXTERNAL_DIFF
  GIT_GLOB_PATHSPECS GIT_GRAFT_FILE GIT_ICASE_PATHSPECS GIT_INDEX_VERSION GIT_LITERAL_PATHSPECS GIT_NOGLOB_PATHSPECS
  GIT_NO_REPLACE_OBJECTS GIT_REF_PARANOIA GIT_REPLACE_REF_BASE`
  .trim()
  .split(/\s+/)
  .concat(REPOSITORY_VARIABLES);

/** With GIT_CONFIG_COUNT: a setting and its value. */
const SETTING = /^GIT_CONFIG_(KEY|VALUE)_\d+$/;

const LOCALE = ['LC_ALL', 'LC_MESSAGES', 'LANGUAGE'];

/** Messages in English, because agt shows a few of them; no replace refs; no lock for a command that only reads. */
const FIXED = { LC_MESSAGES: 'C', GIT_NO_REPLACE_OBJECTS: '1', GIT_OPTIONAL_LOCKS: '0' };

/** Set for each git that agt starts (find-git.ts). */
export const CIRCLE_MARK = 'AGT_STARTED_GIT';

export function marked(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, [CIRCLE_MARK]: '1' };
}

export function cleanGitEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const clean: NodeJS.ProcessEnv = { ...env };
  for (const name of [...REMOVED, ...LOCALE]) delete clean[name];
  for (const name of Object.keys(clean)) if (SETTING.test(name)) delete clean[name];
  if (clean['LC_CTYPE'] === undefined && env['LC_ALL'] !== undefined) clean['LC_CTYPE'] = env['LC_ALL'];
  return Object.assign(marked(clean), FIXED);
}

export function localeOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(LOCALE.map((name) => [name, env[name]]));
}

/** With settings that hold before those of any file; git passes them on to the gits that it starts in submodules. */
export function withSettings(git: Git, settings: Readonly<Record<string, string>>): Git {
  const first = Number(git.env['GIT_CONFIG_COUNT'] ?? 0);
  const added = Object.entries(settings).flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${first + i}`, key],
    [`GIT_CONFIG_VALUE_${first + i}`, value],
  ]);
  const count = String(first + added.length / 2);
  return { ...git, env: { ...git.env, ...Object.fromEntries(added), GIT_CONFIG_COUNT: count } };
}

/** Files that a program makes, if it is started meanwhile, are for their owner alone, unless core.sharedRepository says more. */
export function forOwnerAlone<T>(start: () => T): T {
  const before = process.umask(0o077);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}

/** A path in a list that colons separate: git reads a quoted one as in C. */
export function inPathList(path: string): string {
  return /["\\:\n]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"` : path;
}
