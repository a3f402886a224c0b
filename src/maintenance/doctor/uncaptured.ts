/**
 * What would be lost with the folder of a session that was half made or half removed: files that are neither in its last
 * state, nor what git checks out there, nor copies of the user's own files. A file that was being written when agt was
 * killed is a beginning of one of these.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLastSnapshot } from '../../autocommit/last-snapshot.ts';
import { scan } from '../../autocommit/scan/scan.ts';
import { insideCheck } from '../../disk/is-inside.ts';
import { systemPath } from '../../disk/long-path.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { gitAnswer, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureTarget } from '../../session/capture-session.ts';
import { type SessionRecord, sessionFolder, tipRef } from '../../session/record.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';

/** One is reason enough to leave everything. */
const ENOUGH = 10;

/** Some of them: readable paths, relative to the session folder. */
export async function uncapturedFiles(repository: Repository, record: SessionRecord): Promise<string[]> {
  const { git } = repository;
  const target = captureTarget(repository, record);
  const tip =
    (await gitAnswer(git, ['rev-parse', '--verify', '--quiet', tipRef(record.session_id)])) ??
    record.from_commit;
  const tipTree = (await gitAnswer(git, ['rev-parse', '--verify', '--quiet', `${tip}^{tree}`])) ?? '';
  const tipManifest = await gitAnswer(git, ['cat-file', 'blob', `${tip}:_/manifest.json`]);
  const at = { tip, tipTree, tipManifest };
  const last = await readLastSnapshot(git, target, at);
  const folder = Buffer.from(target.folder).toString('latin1');
  const { writes, skipped, failed } = await scan(folder, last, {
    hash: tip.length === 64 ? 'sha256' : 'sha1',
    maxFileSize: Number.POSITIVE_INFINITY,
    topFolders: TOP_FOLDERS,
    ignore: undefined,
    refreshed: undefined,
    rereadSince: undefined,
    isInside: insideCheck(folder),
    store: async () => true,
  });
  const found = [...skipped, ...failed].map(({ path }) => path);
  for (const [path, { oid }] of writes) {
    if (found.length >= ENOUGH) break;
    if (oid === last.find(path)?.oid || /(^|\/)\.agt-\d+\.tmp$/.test(path)) continue;
    if (!(await isElsewhere(repository, record, path, last.find(path)?.oid))) found.push(path);
  }
  return found.map(displayPath);
}

async function isElsewhere(
  { git }: Repository,
  record: SessionRecord,
  path: string,
  captured: string | undefined,
): Promise<boolean> {
  const content = readIfThere(Buffer.from(`${sessionFolder(record)}/`).toString('latin1') + path);
  if (content === undefined) return false;
  if (content.length === 0) return true;
  const begins = (whole: Buffer | undefined) => whole?.subarray(0, content.length).equals(content) === true;
  const blob = async (...args: string[]) => {
    const run = await runGit(git, ['cat-file', ...args]);
    return run.exitCode === 0 ? run.stdout : undefined;
  };
  if (captured !== undefined && begins(await blob('blob', captured))) return true;
  if (!path.startsWith('sandbox/')) return false;
  const inside = path.slice('sandbox/'.length);
  if (/[\x80-\xff]/.test(inside)) return false; // what git was given as a word would be another name
  if (begins(await blob('--filters', `${record.from_commit}:${inside}`))) return true;
  const top = await gitAnswer(git, ['rev-parse', '--show-toplevel']);
  return top !== undefined && begins(readIfThere(join(top, inside)));
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(systemPath(path));
  } catch {
    return undefined;
  }
}
