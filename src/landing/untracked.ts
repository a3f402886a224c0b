/**
 * Untracked files of a sandbox. Nobody has decided yet that they belong into a commit, and a key, a dump of a database or
 * a directory of dependencies that no .gitignore names would land with the rest. A person is asked; without a terminal,
 * accept refuses the files that look so, by name, size and number.
 */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemPath } from '../disk/long-path.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { statOrUndefined } from '../disk/read-file.ts';
import { AgtError, attempt, listSome, plural, SOME, someLines } from '../errors.ts';
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import { fieldsOf, gitBytes, PLAIN_INDEX } from '../git/run/git.ts';
import { shellQuote } from '../process/shell-quote.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { DEPENDENCIES, isBuildOutput, MAYBE_DEPENDENCIES } from '../snapshot/build-output.ts';
import { parentDirectories } from '../snapshot/tree.ts';
import type { AcceptRequest, UntrackedFile } from './accept-request.ts';
import { acceptAgain, excluding, wayWithout } from './landing-errors.ts';
import type { SandboxContent } from './sandbox-content.ts';

/** The new files that the index of the sandbox lacks; paths hold one byte per character. */
export async function untrackedAmong(session: Session, changes: readonly DiffEntry[]): Promise<string[]> {
  const added = changes.filter(({ before, after }) => before === undefined && after !== undefined);
  if (added.length === 0) return [];
  const output = await gitBytes(session.sandboxGit, [...PLAIN_INDEX, 'ls-files', '-z']);
  const tracked = new Set(output.toString('latin1').split('\0'));
  return [...new Set(added.map(({ path }) => path))].filter((path) => !tracked.has(path));
}

/** Paths that git ignores, and that the user's worktree lacks or has in another form; directories that it lacks as a whole. */
export async function ignoredAlone({ sandboxGit, repository }: Session, worktree = repository.worktree) {
  const listing = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  const listed = new Set(fieldsOf(await gitBytes(sandboxGit, [...PLAIN_INDEX, ...listing])));
  // git lists a directory of ignored files alone, and those as well.
  const isInside = (path: string) =>
    parentDirectories(path.replace(/\/$/, '')).some((directory) => listed.has(`${directory}/`));
  const paths = [...listed].filter((path) => !isInside(path)).map(displayPath);
  if (worktree === undefined) return paths;
  const alone = (path: string, isBelow = false): string[] => {
    const [own, there] = [join(sandboxGit.cwd, path), join(worktree, path)];
    if (!existsSync(there)) return [path];
    if (!path.endsWith('/')) return isOtherFile(own, there, isBelow ? 0 : MIB) ? [path] : [];
    const entries = isBuildOutput(basename(path))
      ? []
      : attempt(() => readdirSync(own, { withFileTypes: true }));
    return (entries ?? []).flatMap((one) => alone(`${path}${one.name}${one.isDirectory() ? '/' : ''}`, true));
  };
  return paths.flatMap((path) => alone(path));
}

/** Of files larger than `most` only the sizes count. */
function isOtherFile(one: string, other: string, most: number): boolean {
  const sizes = [one, other].map((file) => statOrUndefined(file)?.size);
  if (sizes[0] !== sizes[1]) return true;
  if ((sizes[0] ?? 0) > most) return false;
  return attempt(() => !readFileSync(one).equals(readFileSync(other))) ?? false;
}

/** Which of these untracked files stay out. @throws AgtError if agt must not take them, and nobody says what to do. */
export async function untrackedToLeaveOut(
  { repository, record }: Session,
  paths: readonly string[],
  hasCommits: boolean,
  request: AcceptRequest,
): Promise<ReadonlySet<string>> {
  const { untracked = repository.settings.untracked, include, askUntracked } = request;
  // The patterns name the files.
  if (untracked === 'all' || include.length > 0 || paths.length === 0) return new Set();
  if (untracked === 'none') return new Set(paths);
  const files = judge(record.sandbox, paths);
  if (askUntracked !== undefined)
    return (await askUntracked(files, hasCommits)) === 'all' ? new Set() : new Set(paths);
  const doubtful = files.filter(({ doubt }) => doubt !== undefined);
  if (doubtful.length > 0) throw refusal(record, doubtful, hasCommits, request);
  return new Set();
}

/** A key or a login, by the name of the file. Examples and public keys are none. */
const SECRET = new RegExp(
  [
    '\\.env(\\.(?!example|sample|template|dist|defaults?)[^.]+)*',
    '(?!(example|sample|template|dist|defaults?)\\.).+\\.env',
    'id_(rsa|dsa|ecdsa|ed25519)(_sk)?',
    '.*\\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)',
    '(credentials?|secrets?|service[-_]account.*)(\\.(json|ya?ml|toml|ini|env|txt|csv))?',
    '[._](netrc|npmrc|pgpass|pypirc|htpasswd|dockercfg|s3cfg)',
    '\\.(git-credentials|my\\.cnf)',
  ]
    .map((name) => `^${name}$`)
    .join('|'),
  'is',
);

/** A directory that may hold sources, too, has so many new files if it holds dependencies. */
const MANY_FILES = 100;

const MIB = 2 ** 20;

function judge(sandbox: string, paths: readonly string[]): UntrackedFile[] {
  const below = new Map<string, number>();
  for (const path of paths)
    for (const directory of parentDirectories(path)) below.set(directory, (below.get(directory) ?? 0) + 1);
  const top = Buffer.from(`${sandbox}/`).toString('latin1');
  return paths.map((path) => {
    const size = lstatSync(systemPath(top + path), { throwIfNoEntry: false })?.size ?? 0;
    return { path: displayPath(path), size, doubt: doubtOf(path, size, below) };
  });
}

function doubtOf(path: string, size: number, below: ReadonlyMap<string, number>): string | undefined {
  const isFilled = (directory: string) => {
    const name = basename(directory);
    const count = below.get(directory) ?? 0;
    return DEPENDENCIES.test(name) || (MAYBE_DEPENDENCIES.test(name) && count >= MANY_FILES);
  };
  const directory = parentDirectories(path).find(isFilled);
  if (directory !== undefined) return `in ${displayPath(directory)}/, which looks like dependencies`;
  if (looksSecret(path)) return 'looks like a key or a login';
  return size > MIB ? `has ${(size / MIB).toFixed(1)} MiB` : undefined;
}

export function looksSecret(path: string): boolean {
  return SECRET.test(basename(path));
}

export const COMMITS_ALONE = "or take the agent's commits alone: --committed-only";

/** One line for each directory, and for each other file. */
function refusal(
  { session_id: id }: SessionRecord,
  files: readonly UntrackedFile[],
  hasCommits: boolean,
  request: AcceptRequest,
): AgtError {
  const found = new Map(
    files.map(({ path, doubt = '' }): [string, string] => {
      const directory = /^in (.*)\/, which (.*)$/.exec(doubt);
      return directory === null ? [path, doubt] : [`${directory[1]}/`, `${directory[2]}`];
    }),
  );
  const count = plural(files.length, 'untracked file');
  const lines = [...found].map(([path, doubt]) => `${path}: ${doubt}`);
  const isPicked = request.commits.length > 0; // with --commits go no patterns
  const none = isPicked || found.size > SOME ? ['--untracked=none'] : undefined;
  const commits = {
    does: "Take the agent's commits alone",
    words: ['--committed-only'],
    hint: COMMITS_ALONE,
  };
  const ways = [
    wayWithout(id, request, [...found.keys()], none),
    {
      does: 'Take these files, too',
      words: ['--untracked=all'],
      hint: `or take them all: --untracked=all${isPicked ? '' : '; or name those to take: --include PATTERN'}`,
    },
    ...(hasCommits && request.chooseTree === undefined ? [commits] : []),
  ];
  return new AgtError(`${count} of session "${id}" may not be meant to land, and nothing has changed`, {
    hints: [...someLines(lines), ...ways.map(({ hint }) => hint)],
    ways,
  });
}

/** Without untracked files, a file that the agent has only taken out of the index is deleted on the branch. */
export async function untrackedByCommits(
  session: Session,
  { uncommitted }: SandboxContent,
  { untracked = session.repository.settings.untracked, include, exclude, committedOnly }: AcceptRequest,
): Promise<DiffEntry[]> {
  if (untracked !== 'none' || include.length + exclude.length > 0 || committedOnly) return [];
  const paths = new Set(await untrackedAmong(session, uncommitted));
  return uncommitted.filter(({ path, after }) => after !== undefined && paths.has(path));
}

/** The agent, or a person after a hint, may have committed all files. */
export function secretWarning(
  { session_id: id }: SessionRecord,
  changes: readonly DiffEntry[],
  untracked: ReadonlySet<string>,
  request: AcceptRequest,
): string[] {
  const { dryRun, include } = request;
  if (include.length > 0) return [];
  const names = changes
    .filter(({ path, before, after }) => before === undefined && after !== undefined && looksSecret(path))
    .flatMap(({ path }) => (untracked.has(path) ? [] : displayPath(path)));
  if (names.length === 0) return [];
  const excluded = excluding(names)
    .map((option) => ` ${shellQuote(option)}`)
    .join('');
  const back = dryRun ? '' : `agt unaccept ${id}, then `;
  return [
    `${listSome(names, SECRETS)}: tracked in the sandbox, and looks like a key or a login; if it is one: ` +
      `${back}${acceptAgain(id, request)}${excluded}`,
  ];
}

/** Names in a warning. */
const SECRETS = 5;
