/**
 * Names that a file system has and a git tree must not: `.GIT`, `git~1` and others that some file system would take
 * for `.git`, which git-fsck and every checkout refuse; and `.gitmodules`, whose type and content git-fsck judges. Such
 * a component is stored as `%agt-` and the hex of its bytes,
 * reversibly and without a table; so is a name that happens to begin like that. All strings hold one byte per
 * character.
 */

const MARK = '%agt-';

/** Characters that HFS+ ignores in names, as the UTF-8 bytes that they are on disk (git's utf8.c). */
const HFS_IGNORED = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;

function encodeName(name: string): string {
  return isRefused(name) || name.startsWith(MARK) ? MARK + Buffer.from(name, 'latin1').toString('hex') : name;
}

export function decodeName(name: string): string {
  return name.startsWith(MARK) ? Buffer.from(name.slice(MARK.length), 'hex').toString('latin1') : name;
}

export function encodePath(path: string): string {
  return NEEDS_A_LOOK.test(path) ? path.split('/').map(encodeName).join('/') : path;
}

export function decodePath(path: string): string {
  return path.includes(MARK) ? path.split('/').map(decodeName).join('/') : path;
}

/** Whatever `isRefused` may say yes to has one of these in it. */
const NEEDS_A_LOOK = /%agt-|git|\\|\xe2\x80|\xe2\x81|\xef\xbb/i;

function isRefused(name: string): boolean {
  const hfs = name.replace(HFS_IGNORED, '').toLowerCase();
  if (hfs === '.git' || hfs === '.gitmodules') return true;
  const lower = name.toLowerCase();
  // NTFS ends a name at a backslash, a colon, or trailing dots and blanks; a backslash also makes a path of it.
  const ntfs = (lower.split(/[\\:]/, 1)[0] ?? '').replace(/[. ]+$/, '');
  if (/^(\.git|git~1|\.gitmodules|gitmod~[1-4]|gi[0-9a-f]{4}~[0-9])$/.test(ntfs)) return true;
  return (
    lower.includes('\\') && lower.split('\\').some((part) => /^(\.{1,2}|\.git|git~1)[. ]*(:|$)/.test(part))
  );
}
