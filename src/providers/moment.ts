/**
 * Frozen moments: read-only copies of a session folder that a provider keeps, each with a record that names the snapshot of
 * the same content. They only make things quicker, and may be lost: the shadow branch has everything.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { readJson } from '../disk/read-file.ts';
import { errorCode } from '../errors.ts';
import { frozenDirectory, momentFiles, momentsDirectory } from '../layout.ts';
import { providerOf } from './choose.ts';
import { carriesNonce, parseToken, type Token, tokenText } from './token.ts';

export interface Moment {
  /** Counts up within a session. */
  readonly number: number;
  /** Its path is where the frozen folder is now, wherever the repository was when agt made it. */
  readonly token: Token;
  /** When agt froze the folder. */
  readonly made: string;
  /** The snapshot that has the same content. */
  readonly commit: string;
}

/** The part of a session's metadata that says where its moments are. */
export interface MomentOwner {
  readonly session_id: string;
  /** Absolute. */
  readonly sandbox: string;
}

/** Those of a session that can be read, oldest first. Their folders may be gone. */
export function listMoments(agtDir: string, { session_id: id, sandbox }: MomentOwner): Moment[] {
  const frozen = frozenDirectory(dirname(dirname(sandbox)));
  const moments = momentNumbers(agtDir, id).flatMap((number) => {
    const { token: text, made, commit } = readRecord(agtDir, id, number) ?? {};
    const token = parseToken(text);
    if (token === undefined || made === undefined || commit === undefined) return [];
    return [{ number, token: { ...token, path: join(frozen, basename(token.path)) }, made, commit }];
  });
  return moments.sort((a, b) => a.number - b.number);
}

type MomentRecord = Partial<Record<'token' | 'made' | 'commit', string>>;

function readRecord(agtDir: string, id: string, number: number): MomentRecord | undefined {
  return readJson(momentFiles(agtDir, id, number).record) as MomentRecord | undefined;
}

/** For all records, also those that cannot be read. */
export function momentNumbers(agtDir: string, id: string): number[] {
  try {
    const names = readdirSync(momentsDirectory(agtDir, id));
    return names.flatMap((name) => (/^\d+\.json$/.test(name) ? Number.parseInt(name, 10) : []));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** For all frozen folders that the records of a session name. */
export function momentTokens(agtDir: string, { session_id: id, sandbox }: MomentOwner): Token[] {
  const frozen = frozenDirectory(dirname(dirname(sandbox)));
  return momentNumbers(agtDir, id).flatMap((number) => {
    const token = parseToken(readRecord(agtDir, id, number)?.token);
    return token === undefined ? [] : [{ ...token, path: join(frozen, basename(token.path)) }];
  });
}

/** Not flushed: after a power cut the lease still names the folder. */
export function writeMoment(agtDir: string, id: string, { number, token, made, commit }: Moment): void {
  const text = JSON.stringify({ token: tokenText(token), made, commit });
  writeFileAtomic(momentFiles(agtDir, id, number).record, `${text}\n`, { cache: true });
}

export function forgetMoment(agtDir: string, id: string, number: number): void {
  for (const file of Object.values(momentFiles(agtDir, id, number))) rmSync(file, { force: true });
}

/** The frozen folder is there, and agt has made it. */
export function isThere({ token }: Moment): boolean {
  return existsSync(token.path) && carriesNonce(token.path, token);
}

/** Its folder still has the content of its snapshot. */
export function isUsableMoment(moment: Moment): boolean {
  const { kind, path } = moment.token;
  return isThere(moment) && providerOf(kind).isFrozen?.(path) !== false;
}
