/**
 * A session folder that agt has just written whole, in a fork or in the restore of a removed session. Nobody works there
 * yet, so agt knows what is in every file: git's index and the stat cache need not read any.
 */

import { rmSync } from 'node:fs';
import { rulesText } from '../autocommit/scan/scan-options.ts';
import { listConverted } from '../autocommit/stat-cache/converted.ts';
import { WrittenFiles } from '../autocommit/stat-cache/written-files.ts';
import type { CheckoutPlan } from '../checkout/plan.ts';
import { requireGitDir } from '../checkout/sandbox-git-dir.ts';
import { readNoFollow } from '../disk/read-file.ts';
import { summarizeIndex } from '../git/files/index-file.ts';
import type { StatOf } from '../git/files/index-stat.ts';
import type { GitConfig } from '../git/run/config.ts';
import { statCacheFile } from '../layout.ts';
import type { Session } from '../session/session.ts';
import { readIgnoreFile } from '../snapshot/ignore-file.ts';

export interface WrittenFolder {
  /** For the index of the snapshot. */
  readonly statOf: StatOf;
  /** Makes the stat cache of the session, once the index is there. `commit`: the snapshot. */
  readonly seed: (commit: string) => Promise<void>;
}

export interface WrittenOptions {
  /** Whether agt has given a file the mtime of another one. */
  readonly hasTime: (path: string) => boolean;
  /** git's configuration in the sandbox, if the caller has read it. */
  readonly config?: GitConfig | undefined;
}

/** If anything is unexpected, git and the next capture read the files. */
export async function examineWritten(
  session: Session,
  plan: CheckoutPlan,
  { hasTime, config }: WrittenOptions,
): Promise<WrittenFolder> {
  const folder = session.folder;
  try {
    const files = new WrittenFiles(folder, plan.writes, hasTime);
    const inSandbox = plan.writes.flatMap(({ path }) =>
      path.startsWith('sandbox/') ? [path.slice('sandbox/'.length)] : [],
    );
    const git = session.sandboxGit;
    const converted = await listConverted(git, session.repository.commonDir, inSandbox, config);
    return {
      statOf: files.statOf(converted),
      seed: (commit) => seed(session, plan, files, commit),
    };
  } catch {
    return { statOf: () => undefined, seed: async () => undefined };
  }
}

async function seed(
  session: Session,
  plan: CheckoutPlan,
  files: WrittenFiles,
  commit: string,
): Promise<void> {
  if (plan.blocked.length > 0) return; // the snapshot has files that are not on disk
  const folder = session.folder;
  const file = statCacheFile(session.repository.agtDir, session.id);
  try {
    const ignore = rulesText({ ignore: readIgnoreFile(folder), ignored: undefined });
    const digest = indexDigest(session.record.sandbox, commit.length / 2);
    await files.writeStatCache(file, commit, { directories: plan.directories.keys(), digest, ignore });
  } catch {
    rmSync(file, { force: true });
  }
}

function indexDigest(sandbox: string, oidLength: number): string {
  const gitDir = Buffer.from(requireGitDir(sandbox)).toString('latin1');
  const bytes = readNoFollow(`${gitDir}/index`);
  return bytes === undefined ? '' : summarizeIndex(bytes, oidLength).digest;
}
