/**
 * Paths of all files that agt keeps about a repository. No other module spells them. This one only joins strings and
 * reads nothing, so every module may import it. `common` is the common git directory, `agtDir` is `<common>/agt`.
 */
import { basename, dirname, join } from 'node:path';

/** `<common>/agt`: the directory of these files. */
export const agtDirectory = (common: string) => join(common, 'agt');

/** Contains the path of an agt clone's area, relative to the bare repository. */
export const areaFile = (agtDir: string) => join(agtDir, 'area');

/** Settings of an ordinary repository. */
export const configFile = (agtDir: string) => join(agtDir, 'config');

/** The prefixes of branches that sessions have, one pair a line; absent if there were never others than the default ones. */
export const prefixesFile = (agtDir: string) => join(agtDir, 'prefixes');

export const areaConfigFile = (area: string) => join(area, '.agt', 'config');
export const areaSessions = (area: string) => join(area, 'sessions');

/** Where agt moves a session folder before it deletes it. No session id begins with a dot. */
export const departingFolder = (sessionFolder: string) =>
  join(dirname(sessionFolder), `.removing-${basename(sessionFolder)}`);

export const recordsDirectory = (agtDir: string) => join(agtDir, 'sessions');
export const recordFile = (agtDir: string, sessionId: string) =>
  join(recordsDirectory(agtDir), `${sessionId}.json`);

/** Those that every agt clone has from the beginning. */
export function dataDirectories(agtDir: string): string[] {
  return [recordsDirectory(agtDir), dirname(timestampFile(agtDir, 'any'))];
}

/** Unix time of the last complete autocommit. */
export const timestampFile = (agtDir: string, sessionId: string) => join(agtDir, 'timestamps', sessionId);

/** The stat cache of a session. */
export const statCacheFile = (agtDir: string, sessionId: string) => join(agtDir, 'scan', sessionId);

/** Copies of the repositories that were at the place of an attached folder's: objects as hard links. */
export const keptGitDirectory = (agtDir: string) => join(agtDir, 'kept');

/** Copies of the repositories inside of an attached folder. */
export const keptNestedDirectory = (agtDir: string) => join(agtDir, 'kept-nested');

/** Git directories of submodules of a sandbox that is gone: a directory with a number for each removal. */
export const submodulesDirectory = (agtDir: string, sessionId: string) => join(agtDir, 'modules', sessionId);

/** Copies of the git directories inside of the checkout in which a session works, while it does. */
export const nestedDirectory = (agtDir: string, sessionId: string) => join(agtDir, 'nested', sessionId);

/** git's answers about the refs of a session at its last capture. */
export const knownRefsFile = (agtDir: string, sessionId: string) => join(agtDir, 'refs', sessionId);

export const locksDirectory = (agtDir: string) => join(agtDir, 'locks');
export const sessionLockFile = (agtDir: string, sessionId: string) => join(locksDirectory(agtDir), sessionId);

/** Held while agt deletes unreachable objects. No session id begins with a dot, so no session lock has this name. */
export const pruneLockFile = (agtDir: string) => join(locksDirectory(agtDir), '.prune');

/** Held while a session begins in the user's own checkout, whose git directory is `gitDir`. */
export const checkoutLockFile = (agtDir: string, gitDir: string) =>
  join(locksDirectory(agtDir), `.in-place-${basename(gitDir)}`);

/** Held while agt combines or rewrites packs. */
export const packLockFile = (agtDir: string) => join(locksDirectory(agtDir), '.pack');

/** Bytes that snapshots added, one file for each session. */
export const usageDirectory = (agtDir: string) => join(agtDir, 'usage');

/** Grows with each slow capture in a row for an agent's hook. */
export const slowCaptureFile = (agtDir: string, sessionId: string) => join(agtDir, 'slow', sessionId);

/** A file for each conversation with a call at work there. */
export const callsDirectory = (agtDir: string, sessionId: string) => join(agtDir, 'calls', sessionId);

/** A file for each command of `agt session exec` that runs there, named by its process. */
export const commandsDirectory = (agtDir: string, sessionId: string) => join(agtDir, 'commands', sessionId);

/** The states of its agents: a file for each conversation. */
export const agentStates = (agtDir: string, sessionId: string) => join(agtDir, 'states', sessionId);

/** The path of the transcript that the session has a copy of. */
export const transcriptNote = (agtDir: string, sessionId: string) => join(agtDir, 'transcripts', sessionId);

/** Calls of the session's agent that are under way and name another folder: a file each. The directory goes with the last. */
export const strayCalls = (agtDir: string, sessionId: string) => join(agtDir, 'strays', sessionId);

/** What remotes have of sessions (travel/), one file each. */
export const sharedDirectory = (agtDir: string) => join(agtDir, 'shared');
export const sharedFile = (agtDir: string, sessionId: string) =>
  join(sharedDirectory(agtDir), `${sessionId}.json`);

/**
 * Held while a push, a pull or a deletion changes a copy, and while a push in the background waits until it is time. No
 * session id begins with a dot.
 */
export const pushLocks = (agtDir: string, sessionId: string) => ({
  running: join(locksDirectory(agtDir), `.push-${sessionId}`),
  waiting: join(locksDirectory(agtDir), `.push-later-${sessionId}`),
});

/** A cache: what the remotes said of their sessions. */
export const knownSharesFile = (agtDir: string) => join(sharedDirectory(agtDir), '.known');

/** By this file the front (agtmode/front/) knows what has to be the same. Its time is that of the last scan. */
export const frontFactsFile = (agtDir: string, sessionId: string) => join(frontDirectory(agtDir), sessionId);

export const frontDirectory = (agtDir: string) => join(agtDir, 'front');

/** Empty files whose times count. No session id begins with a dot. */
export const FRONT_TIMES = { until: '.until-', clock: '.clock-', seen: '.seen-' } as const;

/** Its time: until when the front may answer. */
export const frontUntilFile = (agtDir: string, sessionId: string) =>
  join(frontDirectory(agtDir), `${FRONT_TIMES.until}${sessionId}`);

/** Its time: when the front last found that nothing has changed. */
export const frontSeenFile = (agtDir: string, sessionId: string) =>
  join(frontDirectory(agtDir), `${FRONT_TIMES.seen}${sessionId}`);

/** The `agt watch` that answers the front, and the pipe for questions. No session id begins with a dot. */
export const watcherFile = (agtDir: string) => join(frontDirectory(agtDir), '.watcher');
export const questionsPipe = (agtDir: string) => join(frontDirectory(agtDir), '.questions');

/** Files about one session that agt deletes together with its metadata. */
export function sessionFiles(agtDir: string, sessionId: string): string[] {
  return [
    submodulesDirectory(agtDir, sessionId),
    nestedDirectory(agtDir, sessionId),
    statCacheFile(agtDir, sessionId),
    knownRefsFile(agtDir, sessionId),
    timestampFile(agtDir, sessionId),
    join(usageDirectory(agtDir), sessionId),
    slowCaptureFile(agtDir, sessionId),
    callsDirectory(agtDir, sessionId),
    commandsDirectory(agtDir, sessionId),
    agentStates(agtDir, sessionId),
    transcriptNote(agtDir, sessionId),
    strayCalls(agtDir, sessionId),
    sharedFile(agtDir, sessionId),
    frontFactsFile(agtDir, sessionId),
    ...Object.values(FRONT_TIMES).map((start) => join(frontDirectory(agtDir), `${start}${sessionId}`)),
  ];
}

/** Disk space of all snapshots when agt last measured it. */
export const measuredUsageFile = (agtDir: string) => join(agtDir, 'usage.json');

/** The git that `agt session run` puts first on PATH. */
export const binDirectory = (agtDir: string) => join(agtDir, 'bin');

/** Programs that let an agent call agt in one run. */
export const injectedDirectory = (agtDir: string) => join(agtDir, 'agents');

/** Temporary objects of running commands. */
export const scratchDirectory = (agtDir: string) => join(agtDir, 'scratch');

/** The answers of merges of sandboxes with their branches. */
export const knownMergesFile = (agtDir: string) => join(agtDir, 'merges');

/** Cache of git mode: whether a visible history contains an agent's commit. */
export const visibleHistoryFile = (agtDir: string) => join(agtDir, 'visible-history');

/** Exists if a visible history contains an agent's commit; the shim checks for this file. */
export const agentsInHistoryFile = (agtDir: string) => join(agtDir, 'agents-in-history');

/** The stores of attached folders, outside of every repository. `stateHome` is XDG_STATE_HOME. */
export const foldersDirectory = (stateHome: string) => join(stateHome, 'agt', 'folders');

/** The store of one attached folder: a bare repository. */
export const folderStore = (stateHome: string, name: string) =>
  join(foldersDirectory(stateHome), `${name}.git`);

/** A store that agt is still making. It gets its name when it is complete. */
export const newStorePrefix = (stateHome: string) => join(foldersDirectory(stateHome), '.new-');

/** A link for each repository that has or had sessions, so that `--everywhere` finds them. */
export const linkNameFile = (agtDir: string) => join(agtDir, 'link-name');
export const repositoriesDirectory = (stateHome: string) => join(stateHome, 'agt', 'repositories');

/** One file for each resource of a provider, outside of every repository. */
export const leasesDirectory = (stateHome: string) => join(stateHome, 'agt', 'leases');
export const leaseFile = (stateHome: string, nonce: string) =>
  join(leasesDirectory(stateHome), `${nonce}.json`);

/** Measures of the program agentfs, and the folders in which agt makes them. */
export const agentfsDirectory = (stateHome: string) => join(stateHome, 'agt', 'agentfs');

export const FROZEN = 'frozen';

/** Session folders that providers keep, beside the directory of those in use. */
export const frozenDirectory = (sessionsDir: string) => join(dirname(sessionsDir), FROZEN);

/** Snapshots that are mounted as folders, one file each. */
export const mountsDirectory = (agtDir: string) => join(agtDir, 'mounts');
export const mountFile = (agtDir: string, name: string) => join(mountsDirectory(agtDir), `${name}.json`);

/** Held while agt chooses a directory for a mount. No session id begins with a dot. */
export const mountsLockFile = (agtDir: string) => join(locksDirectory(agtDir), '.mounts');

/** Where agt mounts a snapshot if nobody names a directory: beside the sessions, or beside a store, which has them inside. */
export const mountPoints = (agtDir: string, sessionsDir: string) =>
  besideSessions(agtDir, sessionsDir, 'mounts');

/** Copies of snapshots in which `agt bisect run` tests a command. */
export const probesDirectory = (agtDir: string, sessionsDir: string) =>
  besideSessions(agtDir, sessionsDir, 'probes');

function besideSessions(agtDir: string, sessionsDir: string, name: string): string {
  const isStore = sessionsDir === attachedSessions(agtDir);
  const beside = isStore ? `${dirname(agtDir).replace(/\.git$/, '')}.agt` : dirname(sessionsDir);
  return join(beside, name);
}

/** The folder that new sessions are cloned from; its index and its stat cache have its nonce in their names. */
export function templateFiles(agtDir: string, nonce = '') {
  const directory = join(agtDir, 'template');
  return {
    record: join(directory, 'record.json'),
    index: join(directory, `${nonce}.index`),
    statCache: join(directory, `${nonce}.scan`),
  };
}

/** Records of the frozen moments of a session; the folders themselves are in `frozenDirectory`. */
export const momentsDirectory = (agtDir: string, sessionId: string) => join(agtDir, 'frozen', sessionId);

export function momentFiles(agtDir: string, sessionId: string, number: number) {
  const file = (end: string) => join(momentsDirectory(agtDir, sessionId), `${number}.${end}`);
  return { record: file('json'), statCache: file('scan') };
}

/** The start of the name of a frozen moment; its nonce is the end. */
export const momentPath = (sessionsDir: string, sessionId: string) =>
  join(frozenDirectory(sessionsDir), `moment-${sessionId}`);

/** Why agt does not attach a folder. */
export const refusalFile = (stateHome: string, name: string) =>
  join(foldersDirectory(stateHome), `${name}.refused`);

/** Its time is that of the last `agt gc --folders --daily`. */
export const lastTidyFile = (stateHome: string) => join(foldersDirectory(stateHome), '.tidied');

/** In a store: the session folder, whose sandbox is a link to the attached folder, is in this directory. */
export const attachedSessions = (agtDir: string) => join(agtDir, 'attached');

/** In the git directory of the user's own checkout: the id of the session that works there, for the guard. */
export const inPlaceFile = (gitDir: string) => join(gitDir, 'agt-in-place');

/** Start of the names of the temporary git directories for `git stash`, in the git directory of a sandbox. */
export const STASH_DIRECTORIES = 'agt-stash-';

/** Facts that git mode leaves for the shim, in the git directory of a worktree. */
export const shimFactsFile = (gitDir: string) => join(gitDir, 'agt-shim');
