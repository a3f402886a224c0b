/**
 * Which refs belong to agents; no other file spells their names. A *namespace* is a directory of refs, with its slash,
 * that holds nothing but agt's refs: `refs/heads/agt/`, `refs/remotes/origin/agtsessions/`, `refs/agt/`. Pure; it does
 * not decide how git mode hides them.
 */
import { HEADS, REMOTES, TAGS } from '../git/files/ref-files.ts';

export interface Prefixes {
  /** Starts the name of every shadow branch: `agtsessions/`. Both prefixes end with a slash. */
  readonly branchPrefix: string;
  /** Starts the name of every work branch: `agt/`. */
  readonly workPrefix: string;
}

/** Refs that only agt writes. */
export const OWN_NAMESPACE = 'refs/agt/';
const TIPS = `${OWN_NAMESPACE}tip/`;

/**
 * agt's own record of where the shadow branch ends; only agt moves it. It is never `refs/agt/<id>`: git would prefer
 * that to the branch agt/<id>.
 */
export function tipRef(sessionId: string): string {
  return `${TIPS}${sessionId}`;
}

export function shadowRef(prefixes: Prefixes, sessionId: string): string {
  return `${shadowNamespace(prefixes)}${sessionId}`;
}

export function workRef(prefixes: Prefixes, sessionId: string): string {
  return `${workNamespace(prefixes)}${sessionId}`;
}

export function shadowNamespace({ branchPrefix }: Prefixes): string {
  return `${HEADS}${branchPrefix}`;
}

function workNamespace({ workPrefix }: Prefixes): string {
  return `${HEADS}${workPrefix}`;
}

/** Namespaces of the refs that keep snapshots: tips and shadow branches. */
export function snapshotNamespaces(prefixes: Prefixes): string[] {
  return [TIPS, shadowNamespace(prefixes)];
}

/** Namespaces of all refs of sessions: tips, shadow and work branches. */
export function sessionNamespaces(prefixes: Prefixes): string[] {
  return [...snapshotNamespaces(prefixes), workNamespace(prefixes)];
}

/** Namespaces of shadow and work branches. */
export function branchNamespaces(prefixes: Prefixes): string[] {
  return [shadowNamespace(prefixes), workNamespace(prefixes)];
}

/** All namespaces but those of remotes. */
export function localNamespaces(prefixes: Prefixes): string[] {
  return [...branchNamespaces(prefixes), `${TAGS}${prefixes.branchPrefix}`, OWN_NAMESPACE];
}

/** Namespaces of the remote-tracking branches of one remote. */
export function remoteNamespaces(remote: string, { branchPrefix, workPrefix }: Prefixes): string[] {
  return [`${REMOTES}${remote}/${branchPrefix}`, `${REMOTES}${remote}/${workPrefix}`];
}

/** All namespaces of a repository with these remotes. */
export function allNamespaces(prefixes: Prefixes, remotes: readonly string[]): string[] {
  return [...localNamespaces(prefixes), ...remotes.flatMap((remote) => remoteNamespaces(remote, prefixes))];
}

/**
 * The namespace that holds a ref; undefined for a visible ref. The name of a remote may hold slashes, so configured
 * remotes are tried first. For any other remote-tracking ref, the first word is the remote.
 */
export function namespaceOf(
  ref: string,
  prefixes: Prefixes,
  remotes: ReadonlySet<string> = new Set(),
): string | undefined {
  const isAround = (namespace: string) => ref.startsWith(namespace);
  if (!ref.startsWith(REMOTES)) return localNamespaces(prefixes).find(isAround);
  const rest = ref.slice(REMOTES.length);
  for (let slash = rest.lastIndexOf('/'); slash > 0; slash = rest.lastIndexOf('/', slash - 1)) {
    const remote = rest.slice(0, slash);
    if (remotes.has(remote)) return remoteNamespaces(remote, prefixes).find(isAround);
  }
  const first = rest.slice(0, Math.max(rest.indexOf('/'), 0));
  return first === '' ? undefined : remoteNamespaces(first, prefixes).find(isAround);
}
