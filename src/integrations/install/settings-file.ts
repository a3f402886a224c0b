/** Reads and replaces a settings file of the user: byte for byte, through links, with its own rights and owner. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { failurePoint } from '../../disk/failure-point.ts';
import { readRegularFile } from '../../disk/read-file.ts';
import { AgtError, errorCode, systemReason } from '../../errors.ts';

/** Settings may hold keys. */
const MODE_OF_NEW_FILE = 0o600;

/** Undefined if there is no such file. @throws AgtError */
export function readSettingsFile(path: string): Buffer | undefined {
  try {
    return readRegularFile(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && lstatSync(path, { throwIfNoEntry: false }) === undefined)
      return undefined;
    const reasons: Record<string, string> = {
      ENOENT: 'it is a link to a file that is not there',
      '': 'it is not a regular file',
    };
    const reason = reasons[errorCode(error)] ?? systemReason(error);
    throw new AgtError(`cannot read ${path}: ${reason}`, { cause: error });
  }
}

/** @throws AgtError if the bytes are no text. */
export function decodeSettings(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new AgtError(`${path} is not UTF-8 text; agt leaves it alone`);
  }
}

/** The directory is there. The agent itself may write the file: agt replaces only what it has read. */
export function replaceSettingsFile(path: string, before: Buffer | undefined, after: Buffer): void {
  const target = before === undefined ? path : realpathSync(path);
  const temporary = `${target}.agt-new`;
  rmSync(temporary, { force: true }); // an agt was killed here
  try {
    write(temporary, after, before === undefined ? undefined : statSync(target));
    const now = readSettingsFile(path);
    if (!isSame(now, before)) {
      throw new AgtError(`${path} has just been changed by another program; agt left it alone`, {
        hints: ['run the command again'],
      });
    }
    failurePoint('settings: written');
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function write(path: string, content: Buffer, like: { mode: number; uid: number; gid: number } | undefined) {
  const fd = openSync(path, 'wx', MODE_OF_NEW_FILE);
  try {
    writeFileSync(fd, content);
    if (like !== undefined) {
      if (like.uid !== process.getuid?.() || like.gid !== process.getgid?.())
        fchownSync(fd, like.uid, like.gid);
      fchmodSync(fd, like.mode & 0o7777);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}

export function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
