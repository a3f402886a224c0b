/**
 * The view of a real repository, worked out from its files where they say it and from git where they do not
 * (reftable, configuration with its includes).
 */

import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { localSpaces, type Prefixes, remoteSpaces, spaceOf } from '../../filter/agent-refs.ts';
import type { DiscoveredRepository } from '../../git/files/discover-repository.ts';
import { readSmallFile } from '../../git/files/read-small-file.ts';
import {
  looseRefNames,
  packedRefNames,
  readPackedRefs,
  subdirectories,
  usesReftable,
} from '../../git/files/ref-files.ts';
import type { GitOutput } from '../../git/run/run-sync.ts';
import { isAtLeast, parseGitVersion } from '../../git/run/version.ts';
import { agtDirectory, recordsDirectory } from '../../repository/layout.ts';
import { lookForAgents } from './agents-in-history.ts';
import { HEADS, REMOTES, type View } from './view.ts';

export type Ask = (args: readonly string[], input?: string) => GitOutput;

export interface Door {
  readonly ask: Ask;
  readonly show: (args: readonly string[]) => GitOutput;
  readonly print: (text: string) => void;
}

export function openView(
  repository: DiscoveredRepository,
  settings: Prefixes & { agentEmail: string },
  { ask, show, print }: Door,
): View {
  const { commonDir, gitDir } = repository;
  const reftable = usesReftable(commonDir);
  const remoteNames = once(() => configuredRemotes(commonDir));
  const isHiddenName = (ref: string) => spaceOf(ref, settings, new Set(remoteNames())) !== undefined;
  const head = once(() => (reftable ? symbolicHead(ask, 'HEAD') : branchOf(join(gitDir, 'HEAD'))));
  const current = once(() => {
    const branch = head();
    return branch !== undefined && isHiddenName(branch) ? branch : undefined;
  });
  const isHidden = (ref: string) => ref !== current() && isHiddenName(ref);
  const all = once(() => ask(['for-each-ref', '--format=%(refname)']).stdout.split('\n').filter(Boolean));
  const spaces = once(() => {
    const names = reftable ? all() : candidateNames(commonDir, settings, remoteNames());
    const found = new Set<string>();
    for (const name of names) {
      const space = isHidden(name) ? spaceOf(name, settings, new Set(remoteNames())) : undefined;
      if (space !== undefined) found.add(space);
    }
    return [...found].sort();
  });
  const worktrees = once(() => hiddenWorktrees(repository, isHiddenName, reftable ? ask : undefined));
  const configuration = once(() => readConfiguration(ask));
  const version = once(() => parseGitVersion(ask(['version']).stdout) ?? { major: 0, minor: 0 });

  return {
    gitDir,
    commonDir,
    prefixes: settings,
    agentEmail: settings.agentEmail,
    get spaces() {
      return spaces();
    },
    get current() {
      return current();
    },
    get worktrees() {
      return worktrees().map(({ id }) => id);
    },
    isSandbox: (path) => worktrees().some((worktree) => worktree.path === path),
    hiddenOnRemotes: localSpaces(settings),
    isHiddenName,
    show,
    print,
    visibleRefs: once(() => all().filter((name) => !isHidden(name))),
    hiddenRefs: once(() => all().filter(isHidden)),
    isHidden,
    config: (key) => configuration().get(key) ?? [],
    remotes: () => remoteNames(),
    ask,
    agentsInHistory: once(() =>
      lookForAgents({ ask, isHidden, gitDir, commonDir, agentEmail: settings.agentEmail }),
    ),
    hasPerlPatterns: once(() => ask(['log', '-P', '--author=x', '--max-count=0']).exitCode === 0),
    gitIsAtLeast: (major, minor) => isAtLeast(version(), major, minor),
  };
}

/** Names that may be hidden: what lies loose in the spaces, and packed names with a prefix in them. */
function candidateNames(commonDir: string, prefixes: Prefixes, configured: readonly string[]): string[] {
  const packed = readPackedRefs(commonDir);
  const names = localSpaces(prefixes).flatMap((space) => [
    ...looseRefNames(commonDir, space),
    ...packedRefNames(packed, space),
  ]);
  const remotes = new Set([...configured, ...subdirectories(join(commonDir, REMOTES))]);
  for (const remote of remotes) {
    for (const space of remoteSpaces(remote, prefixes)) names.push(...looseRefNames(commonDir, space));
  }
  const marks = [`/${prefixes.branchPrefix}`, `/${prefixes.workPrefix}`];
  if (marks.some((mark) => packed.includes(mark))) {
    names.push(
      ...packedRefNames(packed, REMOTES).filter((name) => marks.some((mark) => name.includes(mark))),
    );
  }
  return names;
}

/** The branch that a HEAD file names. */
function branchOf(headFile: string): string | undefined {
  const line = readSmallFile(headFile);
  return line?.startsWith('ref: ') ? line.slice('ref: '.length).trim() : undefined;
}

function symbolicHead(ask: Ask, head: string): string | undefined {
  const { exitCode, stdout } = ask(['symbolic-ref', '-q', head]);
  return exitCode === 0 ? stdout.trim() : undefined;
}

interface Worktree {
  readonly id: string;
  /** Absolute. */
  readonly path: string;
}

/**
 * The other worktrees that belong to sessions: those on a hidden branch, and those that the session list names (an
 * agent may have detached its HEAD). The id '' stands for the main worktree.
 */
function hiddenWorktrees(
  { commonDir, gitDir }: DiscoveredRepository,
  isHiddenName: (ref: string) => boolean,
  ask: Ask | undefined,
): Worktree[] {
  const sandboxes = once(() => new Set(sessionSandboxes(commonDir)));
  const linked = subdirectories(join(commonDir, 'worktrees')).flatMap((id) => {
    const dir = join(commonDir, 'worktrees', id);
    const place = readSmallFile(join(dir, 'gitdir'));
    if (dir === gitDir || place === undefined) return [];
    const path = dirname(resolve(dir, place));
    const branch =
      ask === undefined ? branchOf(join(dir, 'HEAD')) : symbolicHead(ask, `worktrees/${id}/HEAD`);
    const hidden = (branch !== undefined && isHiddenName(branch)) || sandboxes().has(path);
    return hidden ? [{ id, path }] : [];
  });
  if (gitDir === commonDir || ask !== undefined) return linked;
  const main = branchOf(join(commonDir, 'HEAD'));
  const hidden = main?.startsWith(HEADS) && isHiddenName(main) && basename(commonDir) === '.git';
  return hidden ? [{ id: '', path: dirname(commonDir) }, ...linked] : linked;
}

function sessionSandboxes(commonDir: string): string[] {
  const dir = recordsDirectory(agtDirectory(commonDir));
  let files: string[];
  try {
    files = readdirSync(dir);
  } catch {
    return [];
  }
  return files
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      try {
        const { sandbox } = JSON.parse(readFileSync(join(dir, file), 'utf8')) as { sandbox?: unknown };
        return typeof sandbox === 'string' ? [sandbox] : [];
      } catch {
        return []; // half of a session is agt doctor's business
      }
    });
}

/** Remotes by the repository's own file; only their names matter, and an included file rarely names one. */
function configuredRemotes(commonDir: string): string[] {
  const text = readSmallFile(join(commonDir, 'config')) ?? '';
  return [...text.matchAll(/^\s*\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]/gim)].map((match) =>
    (match[1] ?? '').replace(/\\(.)/g, '$1'),
  );
}

function readConfiguration(ask: Ask): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const entry of ask(['config', '--null', '--list']).stdout.split('\0')) {
    if (entry === '') continue;
    const [key = '', ...rest] = entry.split('\n');
    values.set(key, [...(values.get(key) ?? []), rest.length === 0 ? 'true' : rest.join('\n')]);
  }
  return values;
}

function once<T>(compute: () => T): () => T {
  let value: { result: T } | undefined;
  return () => {
    value ??= { result: compute() };
    return value.result;
  };
}
