/** A path as the file system calls take it: here it holds one byte per character. */
export function systemPath(path: string): string | Buffer {
  return /[\x80-\xff]/.test(path) ? Buffer.from(path, 'latin1') : path;
}
