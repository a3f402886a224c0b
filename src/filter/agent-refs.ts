/**
 * Which refs belong to agents; no other file spells their names. A *namespace* is a directory of refs, with its
 * slash, that holds nothing but agt's refs: `refs/heads/agt/`, `refs/remotes/origin/agtsessions/`, `refs/agt/`. Pure;
 * it does not decide how git mode hides them.
 */
import { HEADS, REMOTES, TAGS } from '../git/files/ref-files.ts';

export interface Prefixes {
  /** Starts the name of every shadow branch: `agtsessions/`. Both prefixes end with a slash. */
  readonly branchPrefix: string;
  /** Starts the name of every work branch: `agt/`. */
  readonly workPrefix: string;
}

/** The prefixes of the settings first, then all others that sessions of the repository have. */
export type AllPrefixes = readonly Prefixes[];

/** Refs that only agt writes. */
export const OWN_NAMESPACE = 'refs/agt/';
/** Below it are agt's own refs to the newest snapshots. */
export const TIPS = `${OWN_NAMESPACE}tip/`;

/** Where the shadow branch ends. Never `refs/agt/<id>`: git would prefer that to the branch agt/<id>. */
export function tipRef(sessionId: string): string {
  return `${TIPS}${sessionId}`;
}

/** The content of a sandbox as an acceptance took it. The session goes on, or may come back. */
export function landedRef(sessionId: string): string {
  return `${OWN_NAMESPACE}landed/${sessionId}`;
}

/** The user's uncommitted work that a session began with (`--with-changes`), on top of the start commit. */
export function takenRef(sessionId: string): string {
  return `${OWN_NAMESPACE}taken/${sessionId}`;
}

/** Below it are maps of where the lines of accepted commits come from (timetravel/blame/accept-map.ts). */
export const ATTRIBUTIONS = `${OWN_NAMESPACE}lines/`;

export function attributionRef(sessionId: string): string {
  return `${ATTRIBUTIONS}${sessionId}`;
}

/** Below it is what a person has seen of sessions (review/state.ts). */
export const REVIEWS = `${OWN_NAMESPACE}review/`;

export function reviewRef(sessionId: string): string {
  return `${REVIEWS}${sessionId}`;
}

/** On a remote: the sessions that were pushed there, two refs each. No ref says whose session it is, or its id. */
export const SHARED = `${OWN_NAMESPACE}shared/`;

/** A blob: what the session is, and who has it. */
export function sharedHeadRef(share: string): string {
  return `${SHARED}${share}/head`;
}

/** A chain of commits, each with a part of the session's objects. */
export function sharedPartsRef(share: string): string {
  return `${SHARED}${share}/parts`;
}

/** The end of the branch of another program's session, while agt takes that session over. */
export function adoptedRef(sessionId: string): string {
  return `${OWN_NAMESPACE}adopted/${sessionId}`;
}

/** Below it are the snapshots that are mounted as folders: `agt gc` deletes none of them meanwhile. */
export function mountedRef(name: string): string {
  return `${OWN_NAMESPACE}mounted/${name}`;
}

/** Below it is the uncommitted work of the user that agt set aside for sessions in the user's own checkout. */
export const STASHES = `${OWN_NAMESPACE}stash/`;

export function stashRef(sessionId: string): string {
  return `${STASHES}${sessionId}`;
}

/** In a repository inside of the user's checkout: the agent's commits there, of a session in place. */
export function nestedRef(sessionId: string): string {
  return `${OWN_NAMESPACE}in-place/${sessionId}`;
}

/** All worktrees share this ref. */
export const SHARED_STASH = 'refs/stash';

/** The stash of the session in whose sandbox git runs. It is a ref of that worktree alone. */
export const SESSION_STASH = 'refs/worktree/stash';

/** All of them: from the main worktree, git sees them as `worktrees/<id>/refs/worktree/stash`. */
export const STASHES_OF_SESSIONS = `*${SESSION_STASH}`;

export function shadowRef(prefixes: Prefixes, sessionId: string): string {
  return `${shadowNamespace(prefixes)}${sessionId}`;
}

export function workRef(prefixes: Prefixes, sessionId: string): string {
  return `${workNamespace(prefixes)}${sessionId}`;
}

/** Whether a session's work branch has this name, under one of the prefixes. */
export function isWorkRef(all: AllPrefixes, sessionId: string, ref: string | null): ref is string {
  return all.some((prefixes) => workRef(prefixes, sessionId) === ref);
}

function shadowNamespace({ branchPrefix }: Prefixes): string {
  return `${HEADS}${branchPrefix}`;
}

function workNamespace({ workPrefix }: Prefixes): string {
  return `${HEADS}${workPrefix}`;
}

export function shadowNamespaces(all: AllPrefixes): string[] {
  return unique(all.map(shadowNamespace));
}

/** Namespaces of the refs that keep snapshots: tips and shadow branches. */
export function snapshotNamespaces(all: AllPrefixes): string[] {
  return [TIPS, ...shadowNamespaces(all)];
}

/** Namespaces of all refs of sessions: tips, shadow and work branches. */
export function sessionNamespaces(all: AllPrefixes): string[] {
  return [TIPS, ...branchNamespaces(all)];
}

export function branchNamespaces(all: AllPrefixes): string[] {
  return unique(all.flatMap((prefixes) => [shadowNamespace(prefixes), workNamespace(prefixes)]));
}

/** All namespaces but those of remotes. */
export function localNamespaces(all: AllPrefixes): string[] {
  const tags = all.map(({ branchPrefix }) => `${TAGS}${branchPrefix}`);
  return [...branchNamespaces(all), ...unique(tags), OWN_NAMESPACE];
}

/** Namespaces of the remote-tracking branches of one remote. */
export function remoteNamespaces(remote: string, all: AllPrefixes): string[] {
  return namesBelowRemotes(all).map((name) => `${REMOTES}${remote}/${name}`);
}

/** The part of the name of a hidden remote-tracking branch after its remote: `agtsessions/`, `agt/`. */
export function namesBelowRemotes(all: AllPrefixes): string[] {
  return unique(all.flatMap(({ branchPrefix, workPrefix }) => [branchPrefix, workPrefix]));
}

/** All namespaces of a repository with these remotes. */
export function allNamespaces(all: AllPrefixes, remotes: readonly string[]): string[] {
  return [...localNamespaces(all), ...remotes.flatMap((remote) => remoteNamespaces(remote, all))];
}

/**
 * The namespace that holds a ref; undefined for a visible ref. The name of a remote may hold slashes, so configured
 * remotes are tried first. For any other remote-tracking ref, the first word is the remote.
 */
export function namespaceOf(
  ref: string,
  all: AllPrefixes,
  remotes: ReadonlySet<string> = new Set(),
): string | undefined {
  const isAround = (namespace: string) => ref.startsWith(namespace);
  if (!ref.startsWith(REMOTES)) return localNamespaces(all).find(isAround);
  const rest = ref.slice(REMOTES.length);
  for (let slash = rest.lastIndexOf('/'); slash > 0; slash = rest.lastIndexOf('/', slash - 1)) {
    const remote = rest.slice(0, slash);
    if (remotes.has(remote)) return remoteNamespaces(remote, all).find(isAround);
  }
  const first = rest.slice(0, Math.max(rest.indexOf('/'), 0));
  return first === '' ? undefined : remoteNamespaces(first, all).find(isAround);
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
