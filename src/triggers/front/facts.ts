/**
 * Facts for the front (agtmode/front/front-text.ts), the script that answers in place of agt if nothing has changed. After
 * a complete scan agt leaves a file that says what has to be the same and what must not be newer than the scan. The
 * file has the time of the scan; each write of the session's metadata deletes it. No facts are left where a change might
 * leave every time as it was.
 *
 * agt notes before the scan which files exist: a change meanwhile makes a difference.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { CaptureResult } from '../../autocommit/capture.ts';
import { type FolderParts, PLAIN } from '../../autocommit/folder-parts.ts';
import { directoryTimesAreReliable } from '../../autocommit/stat-cache/cached-directories.ts';
import { localConfigPath } from '../../config/local-config.ts';
import { globalConfigPath } from '../../config/settings.ts';
import { fileSystemType } from '../../disk/mounts.ts';
import { readIfThere, readSmallFile } from '../../disk/read-file.ts';
import { systemFailure } from '../../errors.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { gitDirOf, listWorktrees } from '../../git/files/discover-repository.ts';
import { readHeadFile } from '../../git/files/head-file.ts';
import { hasRefFiles } from '../../git/files/ref-files.ts';
import { ownFiles } from '../../git/run/find-git.ts';
import {
  areaFile,
  callsDirectory,
  frontDirectory,
  frontFactsFile,
  frontUntilFile,
  pruneLockFile,
  recordFile,
  sessionLockFile,
} from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { isAttached, type SessionRecord, sessionFolder } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { IGNORE_FILE } from '../../snapshot/ignore-file.ts';
import { CannotTell, FactLines, globPattern, grepPattern } from './fact-lines.ts';

/** The front starts agt for a whole scan after so long: a clock that was wrong for a while may have hidden a change. */
const VALID_MS = 10 * 60 * 1000;

/** The time of the facts is a little before the scan, so that whatever changed in the clock tick of the scan is newer. */
const BEFORE_SCAN_MS = 1;

const MOST_LAST_CHANGED = 20;

/** File systems take the time from the kernel's last tick. */
const CLOCK_TICK_MS = 20;

/** The facts that hold before a scan; undefined if there can be none. The caller holds the session's lock. */
export function factsBeforeScan({ repository, record }: Session): FactLines | undefined {
  if (record.intent !== undefined) return undefined;
  return unlessImpossible(() => {
    const facts = new FactLines();
    noteFolder(facts, record);
    noteMachine(facts, repository);
    if (!isAttached(record)) noteGitDirectory(facts, repository, record);
    noteAgt(facts, repository, record);
    if (record.checkout === undefined && repository.settings.fence !== 'off')
      noteOthers(facts, repository, record);
    return facts;
  });
}

/** Leaves the facts after a scan and the last write of the metadata, or none. */
export function leaveFacts(
  { repository, record }: Session,
  facts: FactLines | undefined,
  { seen, commit, changes, warnings, skipped }: CaptureResult,
): void {
  const { session_id: id, branch } = record;
  const { agtDir, commonDir } = repository;
  const isLeft = unlessImpossible(() => {
    if (facts === undefined || seen === undefined) return false;
    const { clock, parts } = seen;
    // A repository in an attached folder has rules of its own for what git ignores.
    if (isAttached(record) && skipped.some(({ path }) => path.endsWith('/.git'))) return false;
    noteRefs(facts.in(commonDir), commonDir, [tipRef(id), branch], commit);
    // Otherwise agt has more to say each time.
    if (warnings.length + skipped.length === 0) facts.check(`says ${id}: nothing changed`);
    if (parts !== undefined) noteParts(facts, record, parts);
    noteLastChanged(facts, agtDir, record, changes);
    for (const directory of [frontDirectory(agtDir), callsDirectory(agtDir, id)])
      mkdirSync(directory, { recursive: true }); // the front starts no mkdir
    writeAt(frontUntilFile(agtDir, id), '', clock + VALID_MS);
    writeAt(frontFactsFile(agtDir, id), facts.text(), clock - BEFORE_SCAN_MS);
    return true;
  });
  if (isLeft !== true) rmSync(frontFactsFile(agtDir, id), { force: true });
}

/** A full disk is no reason to fail: without facts, agt scans. */
function unlessImpossible<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof CannotTell || systemFailure(error) !== undefined) return undefined;
    throw error;
  }
}

function noteParts(facts: FactLines, { checkout }: SessionRecord, { split, parts }: FolderParts): void {
  // find enters no link that it is given.
  const list = (names: readonly string[]) =>
    names.map((name) => (name === 'sandbox' && checkout !== undefined ? 'sandbox/.' : name)).join(' ');
  facts.look(...parts.map((names) => `part ${list(names)}`), `split ${list(split)}`);
}

/** An agent often changes the same files again, so the front looks at them first. */
function noteLastChanged(
  facts: FactLines,
  agtDir: string,
  record: SessionRecord,
  changes: CaptureResult['changes'],
): void {
  const before = /^last (.*)$/m.exec(readIfThere(frontFactsFile(agtDir, record.session_id)))?.[1] ?? '';
  const paths = changes.length === 0 ? before.split(' ') : changes.map(({ path }) => path);
  const present = paths
    .slice(0, MOST_LAST_CHANGED)
    .filter((path) => PLAIN.test(path) && existsSync(join(sessionFolder(record), path)));
  if (present.length > 0) facts.look(`last ${present.join(' ')}`);
}

function noteMachine(facts: FactLines, { git }: Repository): void {
  const [own] = ownFiles();
  if (own === undefined) throw new CannotTell();
  facts.in('/proc/sys/kernel/random').same('boot_id');
  facts.check(`home ${git.env['HOME'] ?? ''}`, `agt ${own}`).look(`root ${own}`);
}

/**
 * f_type of ext2 to ext4, XFS, Btrfs, F2FS: there, the first write through a new memory map gives a file a new time. After a
 * scan all maps count as new: agt leaves no facts while a process in the folder has a file mapped for writing.
 */
const MAPS_CHANGE_TIMES: readonly (number | undefined)[] = [0xef53, 0x58465342, 0x9123683e, 0xf2f52010];

function noteFolder(facts: FactLines, record: SessionRecord): void {
  const folder = sessionFolder(record);
  const tree = record.checkout ?? folder;
  const isReal = [folder, tree].every(
    (path) => realpathSync(path) === path && directoryTimesAreReliable(path),
  );
  if (!isReal || lstatSync(folder).dev !== lstatSync(tree).dev) throw new CannotTell();
  facts.look(`folder ${folder}`);
  if (tree !== folder) facts.look(`tree ${tree}`);
  if (globPattern(folder) !== folder) facts.look(`unchecked ${globPattern(folder)}`);
  const mustLookAtMaps = !MAPS_CHANGE_TIMES.includes(fileSystemType(folder));
  if (mustLookAtMaps) facts.look('maps');
  for (const path of new Set([folder, tree])) {
    facts.look(`grep  ${grepPattern(path)}/`);
    if (mustLookAtMaps) facts.look(`grep ^[^ ]* .w.s .* ${grepPattern(path)}/`);
  }
  facts.in(folder).keepDirectories(TOP_FOLDERS.filter((name) => tree === folder || name !== 'sandbox'));
  facts.keep([IGNORE_FILE]);
  facts.in(record.checkout ?? record.sandbox);
  if (lstatSync(join(record.sandbox, '.git'), { throwIfNoEntry: false })?.isFile()) facts.same('.git');
}

function noteGitDirectory(
  facts: FactLines,
  { commonDir, git }: Repository,
  { sandbox, work_branch: work }: SessionRecord,
): void {
  const gitDir = gitDirOf(sandbox);
  const head = gitDir === undefined ? undefined : readHeadFile(gitDir);
  if (gitDir === undefined || head === undefined || !hasRefFiles(commonDir, git.env)) throw new CannotTell();
  facts.in(gitDir).same('HEAD').keepGitFiles();
  facts.in(commonDir).keep(['config']);
  noteRefs(facts, commonDir, [...new Set([work, ...(head.ref === undefined ? [] : [head.ref])])]);
}

/** A packed ref stays what it is as long as the file of all packed ones does, and no loose one comes. */
function noteRefs(facts: FactLines, commonDir: string, refs: readonly string[], commit = '[0-9a-f]+'): void {
  const areLoose = refs.map((ref) => existsSync(join(commonDir, ref)));
  for (const ref of refs.filter((_, i) => areLoose[i])) facts.same(ref, RegExp(`^${commit}$`));
  if (areLoose.includes(false)) facts.without(refs.filter((_, i) => !areLoose[i])).keep(['packed-refs']);
}

function noteAgt(facts: FactLines, repository: Repository, record: SessionRecord): void {
  const { agtDir, git } = repository;
  const id = record.session_id;
  /** The settings of agt that count beside the user's own ones. */
  const ownConfig = isAttached(record)
    ? noteUsersGit(facts, repository, record.checkout ?? record.sandbox)
    : repository.configFile;
  if (!directoryTimesAreReliable(agtDir)) throw new CannotTell();
  const here = (path: string) => path.slice(agtDir.length + 1);
  // In a copy of the repository the same facts tell of the original's session.
  facts.in(agtDir).check(`file ${here(recordFile(agtDir, id))}`, `of ${frontDirectory(agtDir)}`);
  facts.without([sessionLockFile(agtDir, id), pruneLockFile(agtDir)].map(here));
  facts.keep([here(areaFile(agtDir))]);
  for (const path of [globalConfigPath(git.env), ownConfig].filter((path) => path !== undefined)) {
    // Perhaps this process has read them before they changed.
    const changed = statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
    if (changed > performance.timeOrigin - CLOCK_TICK_MS) throw new CannotTell();
    facts.in(dirname(path)).keepFile(basename(path));
  }
}

/** Settings that name other files, whose changes agt would not see. */
const NAMES_FILES = /include|excludesfile/i;

/** Variables of the user that name other settings files. agt itself sets those that are left out here, always alike. */
const OTHER_CONFIG = /^GIT_CONFIG(?!_(COUNT|KEY_\d+|VALUE_\d+)$)/;

/**
 * A capture of an attached folder has the state of the user's repository, and depends on the rules by which git ignores some
 * files. Those in the folder have times like all files; the others are in info/exclude and settings of the user. Returns the
 * settings file of agt that counts.
 */
function noteUsersGit(facts: FactLines, store: Repository, folder: string): string {
  const { env } = store.git;
  if (Object.keys(env).some((name) => OTHER_CONFIG.test(name))) throw new CannotTell();
  const own = gitDirOf(folder);
  const gitDir = own ?? store.commonDir;
  const common = resolve(gitDir, readSmallFile(join(gitDir, 'commondir')) ?? '.');
  const xdg = env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? '', '.config');
  facts.check(`xdg ${env['XDG_CONFIG_HOME'] ?? ''}`);
  const configs = [
    [common, 'config'],
    [gitDir, 'config.worktree'],
    [env['HOME'] ?? '', '.gitconfig'],
    [join(xdg, 'git'), 'config'],
    ['/etc', 'gitconfig'],
  ] as const;
  for (const [directory, name] of configs) {
    if (NAMES_FILES.test(readIfThere(join(directory, name)))) throw new CannotTell();
    facts.in(directory).keepFile(name);
  }
  facts.in(join(xdg, 'git')).keepFile('ignore');
  facts.in(common).keepFile('info/exclude');
  if (own === undefined) facts.in(folder).without(['.git']);
  else {
    facts.in(own).keep(['HEAD']).keepGitFiles();
    facts.in(common).keep(['refs', 'packed-refs', 'reftable', 'logs/refs/stash']);
  }
  return localConfigPath(common);
}

/** Worktrees that a call must not write into unseen. The front knows the other sandboxes by their directory. */
function noteOthers(facts: FactLines, { commonDir }: Repository, record: SessionRecord): void {
  const sessions = `${dirname(sessionFolder(record))}/`;
  const others = worktreesNow(commonDir).filter((path) => !path.startsWith(sessions));
  facts.look(...others.map((path) => `outside ${path}`));
}

/** With `--all`, 500 sessions would each read 500 registrations. The facts are older than this when they are used. */
const KNOWN_FOR_MS = 500;
let known = { commonDir: '', until: 0, paths: [] as readonly string[] };

function worktreesNow(commonDir: string): readonly string[] {
  const now = performance.now();
  if (known.commonDir !== commonDir || known.until < now)
    known = { commonDir, until: now + KNOWN_FOR_MS, paths: listWorktrees(commonDir) };
  return known.paths;
}

/** Replaces a file by one that has `time`, in milliseconds. */
function writeAt(path: string, text: string, time: number): void {
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, text, { mode: 0o644 });
  utimesSync(temporary, time / 1000, time / 1000);
  renameSync(temporary, path);
}
