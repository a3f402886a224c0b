/** Which part of a session folder a command means, from paths as people write them. */
import { realpathSync } from 'node:fs';
import { isAbsolute, join, normalize, relative, resolve } from 'node:path';
import { usageError } from '../../errors.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { isUnder, TOP_FOLDERS } from '../../snapshot/folders.ts';
import { type Namesakes, OTHER_FOLDERS } from '../agent-paths.ts';

/**
 * Relative to the session folder, one byte per character. A path is relative to the current folder if that is in the
 * session folder, and else to the sandbox; `../xdg/log` is a file of xdg, and so is `xdg/log` from outside or from the
 * sandbox's top, unless the sandbox has an `xdg` of its own (see folder-paths.ts).
 * @throws AgtError for a path that is in none of the session's folders.
 */
export function pathInSession(
  record: SessionRecord,
  path: string,
  cwd: string,
  namesakes: Namesakes,
): string {
  const folder = sessionFolder(record);
  const here = relative(folder, real(cwd));
  const isPlain =
    !isAbsolute(path) &&
    isUnder(normalize(path), OTHER_FOLDERS) &&
    !namesakes.has(normalize(path).split('/')[0] ?? '') &&
    (here === 'sandbox' || !isUnder(here, TOP_FOLDERS));
  const base = isPlain ? folder : isUnder(here, TOP_FOLDERS) ? join(folder, here) : record.sandbox;
  const inside = relative(folder, resolve(base, path));
  if (isUnder(inside, TOP_FOLDERS)) return Buffer.from(inside).toString('latin1');
  throw usageError(
    `'${path}' is not in session "${record.session_id}"`,
    'paths are relative to the sandbox; those of the other folders begin with ../xdg or ../config',
  );
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
