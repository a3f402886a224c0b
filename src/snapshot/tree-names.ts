/**
 * Names that are possible on disk, and that a git tree must not hold: `.GIT`, `git~1` and others that some file system
 * takes for `.git`, which git-fsck and every checkout refuse; and `.gitmodules`, whose type and content git-fsck checks.
 * The tree has such a name as `%agt-` and the hex of its bytes. A name that happens to begin with `%agt-` is encoded too,
 * so that decoding needs no table. All strings hold one byte per character.
 */

const PREFIX = '%agt-';

/** Characters that HFS+ ignores in names, as UTF-8 bytes (git's utf8.c). */
const HFS_IGNORED = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;

/** Matches every path with a name that must be encoded, and few others. */
const SUSPECT = /%agt-|git|~|\\|\xe2\x80|\xe2\x81|\xef\xbb/i;

export function encodePath(path: string): string {
  if (!SUSPECT.test(path)) return path;
  const names = path.split('/');
  return names.map((name, i) => encodeName(name, i < names.length - 1)).join('/');
}

export function decodePath(path: string): string {
  return path.includes(PREFIX) ? path.split('/').map(decodeName).join('/') : path;
}

function encodeName(name: string, isDirectory: boolean): string {
  return isRefused(name) || (isDirectory && isAttributes(name)) || name.startsWith(PREFIX)
    ? PREFIX + Buffer.from(name, 'latin1').toString('hex')
    : name;
}

export function decodeName(name: string): string {
  return name.startsWith(PREFIX) ? Buffer.from(name.slice(PREFIX.length), 'hex').toString('latin1') : name;
}

/** Whether git-fsck or a checkout refuses the name. */
function isRefused(name: string): boolean {
  const hfs = name.replace(HFS_IGNORED, '').toLowerCase();
  if (hfs === '.git' || hfs === '.gitmodules') return true;
  const lower = name.toLowerCase();
  const ntfs = ntfsName(lower);
  if (/^(\.git|git~1)$/.test(ntfs) || isShortName(ntfs, '.gitmodules', 'gi7eba')) return true;
  return (
    lower.includes('\\') && lower.split('\\').some((part) => /^(\.{1,2}|\.git|git~1)[. ]*(:|$)/.test(part))
  );
}

/** `.gitattributes`, which git-fsck accepts only as a file, in the spelling of any file system. */
function isAttributes(name: string): boolean {
  const isHfs = name.replace(HFS_IGNORED, '').toLowerCase() === '.gitattributes';
  return isHfs || isShortName(ntfsName(name.toLowerCase()), '.gitattributes', 'gi7d29');
}

/** On NTFS a name ends at a backslash, a colon, or trailing dots and blanks; and a backslash separates names. */
function ntfsName(lower: string): string {
  return (lower.split(/[\\:]/, 1)[0] ?? '').replace(/[. ]+$/, '');
}

/**
 * Whether NTFS may take a name for `long`. Its short names are the first six letters and `~1` to `~4`; if those are taken,
 * a hash, of which git looks at the beginning: eight characters that end in a tilde and a number.
 */
function isShortName(name: string, long: string, hash: string): boolean {
  if (name === long) return true;
  if (new RegExp(`^${long.slice(1, 7)}~[1-4]$`).test(name)) return true;
  const [, letters, number] = /^([^~]{0,6})~([1-9][0-9]*)$/.exec(name) ?? [];
  return letters !== undefined && number !== undefined && name.length === 8 && hash.startsWith(letters);
}
