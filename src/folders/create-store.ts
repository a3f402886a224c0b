/**
 * Makes the store of a folder under a temporary name, complete with its session, and renames it: a killed agt leaves no
 * half of one, and of two at once the first one wins.
 */

import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { stateHome } from '../disk/state-home.ts';
import { AgtError, errorCode } from '../errors.ts';
import { shadowRef, tipRef, workRef } from '../filter/agent-refs.ts';
import { FSYNC_ARGS, type Git, gitText, inDirectory } from '../git/run/git.ts';
import { attachedSessions, folderStore, newStorePrefix, statCacheFile } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, writeRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { type Baseline, copyObjects, emptyTree, readBaseline, seedBaseline } from './baseline.ts';
import { identityOf } from './moved.ts';
import {
  type FolderAccess,
  folderId,
  linkSandbox,
  makeFoldersDirectory,
  openStore,
  settingsFile,
  storeName,
  storeRepository,
} from './store.ts';

/** `folder` is a real path; `user` is the repository that it is the top of a worktree of. */
export async function createStore(
  access: FolderAccess,
  folder: string,
  user: Repository | undefined,
  now: Date,
): Promise<Session> {
  const state = stateHome(access.env);
  if (state === undefined)
    throw new AgtError('agt does not know where to keep snapshots: HOME and XDG_STATE_HOME are not set', {
      hints: ['set HOME'],
    });
  const store = folderStore(state, storeName(folder));
  const prefix = newStorePrefix(state);
  makeFoldersDirectory(state);
  removeAbandoned(prefix, now);
  const temporary = mkdtempSync(prefix);
  try {
    await fill(access, { folder, temporary, store, user, now });
    failurePoint('snapshot: store filled');
    moveIntoPlace(temporary, store);
  } catch (error) {
    removeTree(temporary);
    throw error;
  }
  const made = openStore(access, store, settingsFile(user));
  if (made === undefined) throw new AgtError(`cannot open the store of "${folder}": ${store}`);
  return made;
}

/** Killed processes leave stores under temporary names. No agt takes so long to make one. In milliseconds. */
const ABANDONED_AFTER = 3_600_000;

function removeAbandoned(prefix: string, now: Date): void {
  const directory = dirname(prefix);
  for (const name of readdirSync(directory).filter((one) => one.startsWith(basename(prefix)))) {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false });
    if (stat !== undefined && now.getTime() - stat.mtimeMs > ABANDONED_AFTER)
      rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Another agt may have made the store meanwhile: then that one counts. */
function moveIntoPlace(temporary: string, store: string): void {
  try {
    renameSync(temporary, store);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error)) || !existsSync(store)) throw error;
    removeTree(temporary);
  }
}

interface NewStore {
  readonly folder: string;
  readonly temporary: string;
  readonly store: string;
  readonly user: Repository | undefined;
  readonly now: Date;
}

async function fill(access: FolderAccess, { folder, temporary, store, user, now }: NewStore): Promise<void> {
  const git = inDirectory(access.git, temporary);
  const baseline = user === undefined ? undefined : await readBaseline(user, folder);
  const format = baseline?.hash ?? 'sha1';
  await gitText(git, ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, '.']);
  const tree = baseline === undefined ? undefined : await copyObjects(baseline, git);
  const repository = storeRepository(access, temporary, settingsFile(user));
  const commit = await startCommit(git, tree, repository, now);
  const record = describe(repository, { folder, store, commit, now });
  await createRefs(git, record);
  if (baseline !== undefined && tree !== undefined)
    await seed(new Session(repository, record), { baseline, temporary, store });
  linkSandbox({ ...record, sandbox: record.sandbox.replace(store, temporary) });
  writeRecord(repository, record);
}

/** Snapshots begin after a commit that holds the tracked files, or none. */
async function startCommit(
  git: Git,
  tree: string | undefined,
  { settings }: Repository,
  now: Date,
): Promise<string> {
  const content = tree ?? (await emptyTree(git));
  const date = `${Math.floor(now.getTime() / 1000)} +0000`;
  const identity = { NAME: 'agt', EMAIL: settings.agentEmail, DATE: date };
  const env = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) =>
      Object.entries(identity).map(([field, value]) => [`GIT_${who}_${field}`, value]),
    ),
  );
  return gitText(git, [...FSYNC_ARGS, 'commit-tree', '-m', 'agt snapshot: start', content], { env });
}

function describe(
  { settings, agtDir }: Repository,
  {
    folder,
    store,
    commit,
    now,
  }: { readonly folder: string; readonly store: string; readonly commit: string; readonly now: Date },
): SessionRecord {
  const id = folderId(folder);
  const sessions = attachedSessions(join(store, basename(agtDir)));
  return {
    session_id: id,
    branch: shadowRef(settings, id),
    work_branch: workRef(settings, id),
    sandbox: join(sessions, id, 'sandbox'),
    from_commit: commit,
    created_at: now.toISOString(),
    last_activity_at: now.toISOString(),
    isolation: 'none',
    provider: 'git',
    working_copy: 'attached',
    checkout: folder,
    ...identityOf(folder),
    state: 'active',
  };
}

async function createRefs(git: Git, { session_id, branch, from_commit }: SessionRecord): Promise<void> {
  const refs = [branch, tipRef(session_id)];
  const input = refs.map((ref) => `create ${ref} ${from_commit}\n`).join('');
  await gitText(git, [...FSYNC_ARGS, 'update-ref', '--stdin'], { input });
}

/** With a stat cache the first capture reads only files that git does not know, or that have changed. */
async function seed(
  { record, repository: { agtDir } }: Session,
  {
    baseline,
    temporary,
    store,
  }: { readonly baseline: Baseline; readonly temporary: string; readonly store: string },
): Promise<void> {
  const statCache = statCacheFile(agtDir, record.session_id);
  const folder = dirname(record.sandbox.replace(store, temporary));
  linkSandbox({ ...record, sandbox: join(folder, 'sandbox') });
  try {
    await seedBaseline(baseline, { folder, statCache, commit: record.from_commit });
  } catch {
    rmSync(statCache, { force: true });
  }
}
