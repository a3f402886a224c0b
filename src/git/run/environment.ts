/**
 * The environment of agt's own git calls. A hook, an alias or a rebase sets variables that point git to another
 * repository, index or object store. None of them may redirect what agt reads or writes.
 */

/** Variables by which git finds a repository and its parts: a command in another directory must not inherit them. */
export const REPOSITORY_VARIABLES = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_DIR',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_REFERENCE_BACKEND',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
];

/**
 * Variables that agt removes: git's own list (`git rev-parse --local-env-vars`, 2.39 to 2.55) and others that change what
 * a call does.
 */
const REMOVED = [
  ...REPOSITORY_VARIABLES,
  'GIT_ATTR_SOURCE',
  'GIT_CONFIG',
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_PARAMETERS',
  'GIT_DEFAULT_HASH',
  'GIT_DIFF_OPTS',
  'GIT_EXTERNAL_DIFF',
  'GIT_GLOB_PATHSPECS',
  'GIT_GRAFT_FILE',
  'GIT_ICASE_PATHSPECS',
  'GIT_INDEX_VERSION',
  'GIT_LITERAL_PATHSPECS',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_REF_PARANOIA',
  'GIT_REPLACE_REF_BASE',
];

const LOCALE = ['LC_ALL', 'LC_MESSAGES', 'LANGUAGE'];

/** Messages in English, because agt shows a few of them; no replace refs; no lock for a command that only reads. */
const FIXED = { LC_MESSAGES: 'C', GIT_NO_REPLACE_OBJECTS: '1', GIT_OPTIONAL_LOCKS: '0' };

export function cleanGitEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const clean: NodeJS.ProcessEnv = { ...env };
  for (const name of [...REMOVED, ...LOCALE]) delete clean[name];
  if (clean['LC_CTYPE'] === undefined && env['LC_ALL'] !== undefined) clean['LC_CTYPE'] = env['LC_ALL'];
  return Object.assign(clean, FIXED);
}

export function localeOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(LOCALE.map((name) => [name, env[name]]));
}
