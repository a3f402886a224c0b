/** Parses and compares versions of git: a few rules depend on them. */

export interface GitVersion {
  readonly text: string;
  readonly major: number;
  readonly minor: number;
}

/** The oldest git that agt supports. */
export const OLDEST_GIT = { major: 2, minor: 39 };

/** From the output of `git --version`; undefined if the output is not git's. */
export function parseGitVersion(output: string): GitVersion | undefined {
  const match = /^git version ((\d+)\.(\d+)\S*)/.exec(output);
  return match === null
    ? undefined
    : { text: match[1] ?? '', major: Number(match[2]), minor: Number(match[3]) };
}

export function isAtLeast(version: { major: number; minor: number }, major: number, minor: number): boolean {
  return version.major > major || (version.major === major && version.minor >= minor);
}
