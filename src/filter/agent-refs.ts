/**
 * Which refs belong to agents: the one place that spells their names. A *namespace* is a directory of refs, with its
 * slash, in which everything is agt's: `refs/heads/agt/`, `refs/remotes/origin/agtsessions/`, `refs/agt/`. Pure; how
 * git mode hides them is not decided here.
 */
import { HEADS, REMOTES, TAGS } from '../git/files/refnames.ts';

export interface Prefixes {
  /** Of shadow branches, such as `agtsessions/`. Ends with a slash, like the other. */
  readonly branchPrefix: string;
  /** Of work branches, such as `agt/`. */
  readonly workPrefix: string;
}

/** What agt alone writes. */
export const OWN_NAMESPACE = 'refs/agt/';
const TIPS = `${OWN_NAMESPACE}tip/`;

/** The ref that agt alone moves, and continues from (never `refs/agt/<id>`, which would shadow the branch agt/<id>). */
export function tipRef(sessionId: string): string {
  return `${TIPS}${sessionId}`;
}

export function shadowRef(prefixes: Prefixes, sessionId: string): string {
  return `${shadowNamespace(prefixes)}${sessionId}`;
}

export function workRef(prefixes: Prefixes, sessionId: string): string {
  return `${workNamespace(prefixes)}${sessionId}`;
}

/** Where shadow branches are. */
export function shadowNamespace({ branchPrefix }: Prefixes): string {
  return `${HEADS}${branchPrefix}`;
}

/** Where work branches are. */
export function workNamespace({ workPrefix }: Prefixes): string {
  return `${HEADS}${workPrefix}`;
}

/** Where the refs are that keep snapshots: tips and shadow branches. */
export function snapshotNamespaces(prefixes: Prefixes): string[] {
  return [TIPS, shadowNamespace(prefixes)];
}

/** Where every ref of a session is: its tip and both branches. */
export function sessionNamespaces(prefixes: Prefixes): string[] {
  return [...snapshotNamespaces(prefixes), workNamespace(prefixes)];
}

/** Where both branches of a session are. */
export function branchNamespaces(prefixes: Prefixes): string[] {
  return [shadowNamespace(prefixes), workNamespace(prefixes)];
}

/** Every namespace that does not depend on a remote. */
export function localNamespaces(prefixes: Prefixes): string[] {
  return [...branchNamespaces(prefixes), `${TAGS}${prefixes.branchPrefix}`, OWN_NAMESPACE];
}

/** The two namespaces of one remote. */
export function remoteNamespaces(remote: string, { branchPrefix, workPrefix }: Prefixes): string[] {
  return [`${REMOTES}${remote}/${branchPrefix}`, `${REMOTES}${remote}/${workPrefix}`];
}

/** Every namespace of a repository with these remotes. */
export function allNamespaces(prefixes: Prefixes, remotes: readonly string[]): string[] {
  return [...localNamespaces(prefixes), ...remotes.flatMap((remote) => remoteNamespaces(remote, prefixes))];
}

/**
 * The namespace that a ref is in, or undefined for a visible ref. A remote's name may hold slashes, so configured
 * remotes are tried first; a remote-tracking ref of no configured remote is read as `<first word>/<branch>`.
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
