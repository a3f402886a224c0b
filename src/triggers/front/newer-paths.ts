/**
 * The paths of a large folder that the front has found newer than the facts, while agt was started. Everything else is as
 * the scan saw it that left the facts, so the next one need not look. Only the process that the front became may ask.
 */
import { fstatSync, lstatSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { NewerPaths } from '../../autocommit/stat-cache/refresh.ts';
import { attempt } from '../../errors.ts';
import { frontFactsFile } from '../../layout.ts';
import { sessionFolder } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';

/** A pipe. */
export const NEWER_PATHS_FD = 8;
/** The variable that names the process with the pipe. */
export const NEWER_PATHS_OF = 'AGT_NEWER_PATHS_OF';

/** Both the file of the clock and the facts: the inode number, and the time as find writes it. */
const BEGAN = /^began \d+ ([\d.]+) (\d+) ([\d.]+)$/;
const PATH = 'path ';

/** Undefined if there is no complete list. The caller holds the session's lock, and the facts still hold. */
export function readNewerPaths({ repository, record }: Session): NewerPaths | undefined {
  const isOfThis = process.env[NEWER_PATHS_OF] === String(process.pid);
  delete process.env[NEWER_PATHS_OF];
  if (!isOfThis || attempt(() => fstatSync(NEWER_PATHS_FD))?.isFIFO() !== true) return undefined;
  const [began = '', ...lines] = readFileSync(NEWER_PATHS_FD, 'latin1').split('\n').slice(0, -1);
  if (lines.pop()?.startsWith('unchanged ') !== true) return undefined;
  const [, clock, inode, time] = BEGAN.exec(began) ?? [];
  const facts = lstatSync(frontFactsFile(repository.agtDir, record.session_id), { throwIfNoEntry: false });
  const isSame = facts?.ino === Number(inode) && Math.abs(facts.mtimeMs - Number(time) * 1000) < 0.01;
  if (!isSame) return undefined;
  const folder = `${Buffer.from(sessionFolder(record)).toString('latin1')}/`;
  const paths = lines.map((line) => {
    const path = posix.normalize(line.slice(PATH.length));
    return path.startsWith(folder) ? path.slice(folder.length) : path;
  });
  if (!lines.every((line) => line.startsWith(PATH)) || paths.some(posix.isAbsolute)) return undefined;
  return { paths, clock: Number(clock) * 1000 };
}
