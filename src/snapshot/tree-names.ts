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
const SUSPECT = /%agt-|git|\\|\xe2\x80|\xe2\x81|\xef\xbb/i;

export function encodePath(path: string): string {
  return SUSPECT.test(path) ? path.split('/').map(encodeName).join('/') : path;
}

export function decodePath(path: string): string {
  return path.includes(PREFIX) ? path.split('/').map(decodeName).join('/') : path;
}

function encodeName(name: string): string {
  return isRefused(name) || name.startsWith(PREFIX)
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
  // On NTFS a name ends at a backslash, a colon, or trailing dots and blanks; and a backslash separates names.
  const ntfs = (lower.split(/[\\:]/, 1)[0] ?? '').replace(/[. ]+$/, '');
  if (/^(\.git|git~1|\.gitmodules|gitmod~[1-4]|gi[0-9a-f]{4}~[0-9])$/.test(ntfs)) return true;
  return (
    lower.includes('\\') && lower.split('\\').some((part) => /^(\.{1,2}|\.git|git~1)[. ]*(:|$)/.test(part))
  );
}
