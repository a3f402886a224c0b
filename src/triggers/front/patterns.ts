/** Paths as patterns that match nothing else. */

/** For `find -path`. */
export function globPattern(path: string): string {
  return path.replace(/[\\*?[]/g, '\\$&');
}

/**
 * For grep, in the lines of /proc/self/mountinfo and /proc/PID/maps: the kernel writes some bytes of a path as octal
 * numbers, so each of those matches with any text.
 */
export function grepPattern(path: string): string {
  return path.replace(/[\\\s#.*[^$]/g, (sign) => (/[.*[^$]/.test(sign) ? `\\${sign}` : '.*'));
}
