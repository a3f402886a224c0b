/** The view of a real repository: from its files where they are enough, and else from git. */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prefixesInUse } from '../../config/prefixes.ts';
import { readJson, readSmallFile } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import {
  type AllPrefixes,
  localNamespaces,
  namesBelowRemotes,
  namespaceOf,
  remoteNamespaces,
  SHARED_STASH,
} from '../../filter/agent-refs.ts';
import { configValues } from '../../git/files/config-file.ts';
import { readHeadFile } from '../../git/files/head-file.ts';
import {
  hasRef,
  hasRefFiles,
  looseRefNames,
  packedRefNames,
  REMOTES,
  readPackedRefs,
  subdirectories,
} from '../../git/files/ref-files.ts';
import { isAtLeast, parseGitVersion } from '../../git/run/version.ts';
import { agentsInHistoryFile, agtDirectory, visibleHistoryFile } from '../../layout.ts';
import { once } from '../../once.ts';
import { sessionOfWorktree } from '../guard/sessions.ts';
import type { Invocation } from '../invocation.ts';
import { objectsOfVisibleReflogs } from './replaced-refs.ts';
import type { View } from './view.ts';
import { findHiddenWorktrees, headReader } from './worktrees.ts';

/** Undefined outside a repository. */
export function openView(invocation: Invocation): View | undefined {
  const { repository } = invocation;
  if (repository === undefined) return undefined;
  const { settings, env } = invocation;
  const { ask, capture } = invocation.git;
  const { commonDir, gitDir } = repository;
  const refFiles = hasRefFiles(commonDir, env);
  const prefixes = prefixesInUse(agtDirectory(commonDir), settings);
  const remotes = once(() => configuredRemotes(commonDir));
  const remoteSet = once(() => new Set(remotes()));
  const readHead = headReader(repository, refFiles, ask);
  // In a sandbox the session has a stash of its own.
  const hasOwnStash = once(() => refFiles && sessionOfWorktree(repository) !== undefined);
  const hiddenNamespaceOf = (ref: string) => namespaceOf(ref, prefixes, remoteSet());
  const isAgentRef = (ref: string) => hiddenNamespaceOf(ref) !== undefined;
  const currentAgentBranch = once(() => {
    const branch = readHead(gitDir);
    return branch !== undefined && isAgentRef(branch) ? branch : undefined;
  });
  const isHidden = (ref: string) =>
    ref === SHARED_STASH ? hasOwnStash() : ref !== currentAgentBranch() && isAgentRef(ref);
  const allRefs = once(() => ask(['for-each-ref', '--format=%(refname)']).stdout.split('\n').filter(Boolean));
  const namespaces = once(() => {
    const candidates = refFiles ? candidateNames(commonDir, prefixes, remotes()) : allRefs();
    const found = candidates.flatMap((ref) => (isHidden(ref) ? (hiddenNamespaceOf(ref) ?? []) : []));
    const stash = hasOwnStash() && hasRef(commonDir, SHARED_STASH) ? [SHARED_STASH] : [];
    return [...new Set([...found, ...stash])].sort();
  });
  const worktrees = once(() => findHiddenWorktrees(repository, readHead, isAgentRef));
  const configuration = once(() => configValues(ask(['config', '--null', '--list']).stdout));
  const version = once(() => parseGitVersion(ask(['version']).stdout) ?? { major: 0, minor: 0 });
  const view: View = {
    ask,
    capture,
    gitDir,
    commonDir,
    prefixes,
    agentEmail: settings.agentEmail,
    get namespaces() {
      return namespaces();
    },
    get currentAgentBranch() {
      return currentAgentBranch();
    },
    get hiddenWorktrees() {
      return worktrees().map(({ id }) => id);
    },
    visibleRefs: once(() => allRefs().filter((ref) => !isHidden(ref))),
    hiddenRefs: once(() => allRefs().filter(isHidden)),
    isHidden,
    isAgentRef,
    visibleReflogObjects: once(() => (refFiles ? objectsOfVisibleReflogs(view) : undefined)),
    isHiddenWorktree: (path) => worktrees().some((worktree) => worktree.path === path),
    config: (key) => configuration().get(key) ?? [],
    remotes,
    submodulesKnow: (remote) => submodulesKnow(remote, [...new Set([commonDir, gitDir])]),
    hasVisibleAgentCommits: once(() => findVisibleAgentCommits(view)),
    canReplaceRefs: once(() => refFiles && isAtLeast(version(), 2, 54)),
    hasPcre: once(() => ask(['log', '-P', '--author=x', '--max-count=0']).exitCode === 0),
    gitIsAtLeast: (major, minor) => isAtLeast(version(), major, minor),
  };
  return view;
}

/** Names that may be hidden: loose refs in the namespaces, and packed refs with a prefix in their names. */
function candidateNames(commonDir: string, prefixes: AllPrefixes, configured: readonly string[]): string[] {
  const packed = readPackedRefs(commonDir);
  const local = localNamespaces(prefixes).flatMap((namespace) => [
    ...looseRefNames(commonDir, namespace),
    ...packedRefNames(packed, namespace),
  ]);
  const remotes = new Set([...configured, ...subdirectories(join(commonDir, REMOTES))]);
  const loose = [...remotes]
    .flatMap((remote) => remoteNamespaces(remote, prefixes))
    .flatMap((namespace) => looseRefNames(commonDir, namespace));
  return [...local, ...loose, ...packedRemoteNames(packed, prefixes)];
}

function packedRemoteNames(packed: Buffer, prefixes: AllPrefixes): string[] {
  const marks = namesBelowRemotes(prefixes).map((name) => `/${name}`);
  if (!marks.some((mark) => packed.includes(mark))) return [];
  return packedRefNames(packed, REMOTES).filter((name) => marks.some((mark) => name.includes(mark)));
}

/** From the repository's own file: only the names matter, and an included file rarely names a remote. */
function configuredRemotes(commonDir: string): string[] {
  const text = readSmallFile(join(commonDir, 'config')) ?? '';
  return [...text.matchAll(/^\s*\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]/gim)].map((match) =>
    (match[1] ?? '').replace(/\\(.)/g, '$1'),
  );
}

/**
 * Whether every submodule has a remote of this name. Settings by `-c` also reach the git that a fetch starts in each
 * submodule, where a setting of an unknown remote would make one without a URL. Limit: a submodule whose git
 * directory is inside its own folder is not seen.
 */
function submodulesKnow(remote: string, gitDirs: readonly string[]): boolean {
  return gitDirs
    .flatMap((gitDir) => repositoriesBelow(join(gitDir, 'modules')))
    .every((gitDir) => configuredRemotes(gitDir).includes(remote));
}

/** The name of a submodule may hold slashes, and a submodule may have submodules. */
function repositoriesBelow(dir: string): string[] {
  return subdirectories(dir).flatMap((name) => {
    const path = join(dir, name);
    return existsSync(join(path, 'HEAD'))
      ? [path, ...repositoriesBelow(join(path, 'modules'))]
      : repositoriesBelow(path);
  });
}

interface Remembered {
  readonly email: string;
  readonly found: boolean;
  readonly tips: readonly string[];
}

/**
 * Whether a commit by an agent is an ancestor of a visible ref. git is asked once about the whole history, and then
 * only about new commits. `<common>/agt/visible-history` remembers the agent's address, the answer and the tips that
 * git was asked about; the file may be deleted at any time.
 */
function findVisibleAgentCommits(view: View): boolean {
  const agtDir = agtDirectory(view.commonDir);
  const file = visibleHistoryFile(agtDir);
  const cached = readJson(file) as Remembered | undefined;
  const remembered = cached?.email === view.agentEmail ? cached : undefined;
  if (remembered?.found) return true;
  const tips = visibleTips(view);
  const oldTips = new Set(remembered?.tips);
  const newTips = tips.filter((tip) => !oldTips.has(tip));
  if (newTips.length === 0) return false;
  const revisions = [...newTips, ...[...oldTips].map((tip) => `^${tip}`)].join('\n');
  const { exitCode, stdout } = view.ask(
    ['rev-list', '--max-count=1', '--ignore-missing', '-F', `--author=<${view.agentEmail}>`, '--stdin'],
    `${revisions}\n`,
  );
  if (exitCode !== 0) return false;
  const found = stdout !== '';
  writeCache(file, JSON.stringify({ email: view.agentEmail, found, tips } satisfies Remembered));
  if (found) writeCache(agentsInHistoryFile(agtDir), '');
  return found;
}

function visibleTips(view: View): string[] {
  const { stdout } = view.ask(['for-each-ref', '--format=%(objectname) %(refname)']);
  const lines = stdout.split('\n').filter(Boolean);
  const visible = lines.filter((line) => !view.isHidden(line.slice(line.indexOf(' ') + 1)));
  // A detached HEAD holds a commit itself; any other HEAD names a branch, which is among the refs.
  const head = readHeadFile(view.gitDir)?.commit ?? '';
  return [...new Set([head, ...visible.map((line) => line.slice(0, line.indexOf(' ')))])].filter(Boolean);
}

/** Without a cache, git is asked again: there may be no `<common>/agt`, or it may be read-only. */
function writeCache(file: string, text: string): void {
  attempt(() => {
    writeFileSync(`${file}.${process.pid}`, text);
    renameSync(`${file}.${process.pid}`, file);
  });
}
