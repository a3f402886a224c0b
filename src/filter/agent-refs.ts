/**
 * What git mode hides, as names of refs. A *space* is a directory of refs, with its slash, below which everything is
 * agt's: `refs/heads/agt/`, `refs/remotes/origin/agtsessions/`, `refs/agt/`. Pure; says nothing about how.
 */

export interface Prefixes {
  /** Of shadow branches, such as `agtsessions/`. */
  readonly branchPrefix: string;
  /** Of work branches, such as `agt/`. */
  readonly workPrefix: string;
}

const OWN = 'refs/agt/';
const REMOTES = 'refs/remotes/';

/** The spaces that do not depend on remotes. */
export function localSpaces({ branchPrefix, workPrefix }: Prefixes): string[] {
  return [`refs/heads/${branchPrefix}`, `refs/heads/${workPrefix}`, `refs/tags/${branchPrefix}`, OWN];
}

/** The two spaces of one remote. */
export function remoteSpaces(remote: string, { branchPrefix, workPrefix }: Prefixes): string[] {
  return [`${REMOTES}${remote}/${branchPrefix}`, `${REMOTES}${remote}/${workPrefix}`];
}

/**
 * The space that a ref lies in, or undefined for a visible ref. A remote's name may hold slashes, so a configured
 * remote is looked for first; a tracking ref of no configured remote is read as `<first word>/<branch>`.
 */
export function spaceOf(
  ref: string,
  prefixes: Prefixes,
  remotes: ReadonlySet<string> = new Set(),
): string | undefined {
  if (!ref.startsWith(REMOTES)) return localSpaces(prefixes).find((space) => ref.startsWith(space));
  const rest = ref.slice(REMOTES.length);
  for (let slash = rest.lastIndexOf('/'); slash > 0; slash = rest.lastIndexOf('/', slash - 1)) {
    const remote = rest.slice(0, slash);
    if (remotes.has(remote)) return remoteSpaces(remote, prefixes).find((space) => ref.startsWith(space));
  }
  const first = rest.slice(0, Math.max(rest.indexOf('/'), 0));
  return first === '' ? undefined : remoteSpaces(first, prefixes).find((space) => ref.startsWith(space));
}
