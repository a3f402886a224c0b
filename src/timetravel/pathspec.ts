/** Pathspecs of git, relative to a session folder. */

export interface Pathspec {
  /** `:(icase)`, `:!`; usually empty. */
  readonly magic: string;
  readonly path: string;
}

/**
 * `toFolder` converts a path into one that is relative to the session folder. It gets the path without its magic. It may
 * treat wildcards as ordinary characters: `*.c` becomes `sandbox/*.c`.
 */
export function parsePathspec(spec: string, toFolder: (path: string) => string): Pathspec {
  const [, magic = '', path = ''] = /^(:\([^)]*\)|:[!^/]+)?(.*)$/s.exec(spec) ?? [];
  return { magic, path: Buffer.from(toFolder(path), 'latin1').toString() };
}

/** A pathspec such as `:!docs`. If there are no others, git takes everything else. */
export function isExclusion({ magic }: Pathspec): boolean {
  return /[!^]|exclude/.test(magic);
}
