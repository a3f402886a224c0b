/**
 * Makes the store of a folder under a temporary name, complete with its session, and renames it: a killed agt leaves no
 * half of one, and of two at once the first one wins.
 */
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type IndexBytes, readIndexBytes, seedStatCache } from '../autocommit/stat-cache/seed.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { requireSpace } from '../disk/free-space.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { stateHome } from '../disk/state-home.ts';
import { AgtError, attempt, errorCode, succeeds } from '../errors.ts';
import { shadowRef, tipRef, workRef } from '../filter/agent-refs.ts';
import { storeName } from '../filter/store-name.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { parseIndex } from '../git/files/index-file.ts';
import { inPathList } from '../git/run/environment.ts';
import { FSYNC_ARGS, type Git, gitAnswer, gitText, inDirectory, updateRefs } from '../git/run/git.ts';
import { attachedSessions, folderStore, newStorePrefix, statCacheFile } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, writeRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { identityOf } from './moved.ts';
import {
  type FolderAccess,
  folderId,
  linkSandbox,
  makeFoldersDirectory,
  openStore,
  settingsFile,
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

async function fill(access: FolderAccess, wanted: NewStore): Promise<void> {
  const { folder, temporary, store, user, now } = wanted;
  const git = inDirectory(access.git, temporary);
  const baseline = user === undefined ? undefined : await readBaseline(user, folder);
  const format = baseline?.hash ?? 'sha1';
  await gitText(git, ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, '.']);
  const tree = baseline === undefined ? undefined : await copyObjects(baseline, git);
  const repository = storeRepository(access, temporary, settingsFile(user));
  const commit = await startCommit(git, tree, repository.settings.agentEmail, now);
  const record = describe(repository, wanted, commit);
  const creating = [record.branch, tipRef(record.session_id)].map((ref) => `create ${ref} ${commit}`);
  await updateRefs(git, creating);
  const inTemporary = { ...record, sandbox: record.sandbox.replace(store, temporary) };
  linkSandbox(inTemporary);
  if (baseline !== undefined && tree !== undefined)
    await seed(baseline, inTemporary, statCacheFile(repository.agtDir, record.session_id));
  writeRecord(repository, record);
}

/** Snapshots begin after a commit that holds the tracked files, or none. */
async function startCommit(git: Git, tree: string | undefined, email: string, now: Date): Promise<string> {
  const content = tree ?? (await gitText(git, ['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' }));
  const date = `${Math.floor(now.getTime() / 1000)} +0000`;
  const author = { GIT_AUTHOR_NAME: 'agt', GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date };
  const committer = { GIT_COMMITTER_NAME: 'agt', GIT_COMMITTER_EMAIL: email, GIT_COMMITTER_DATE: date };
  const args = [...FSYNC_ARGS, 'commit-tree', '-m', 'agt snapshot: start', content];
  return gitText(git, args, { env: { ...author, ...committer } });
}

function describe(
  { settings, agtDir }: Repository,
  { folder, store, now }: NewStore,
  commit: string,
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

/** With a stat cache the first capture reads only files that git does not know, or that have changed. */
async function seed(
  { user, folder, index }: Baseline,
  { sandbox, from_commit: commit }: SessionRecord,
  statCache: string,
): Promise<void> {
  const { commonDir, git } = user;
  const seeded = { folder: dirname(sandbox), sandbox: folder, commonDir, statCache, commit, index };
  await seedStatCache(git, seeded).catch(() => rmSync(statCache, { force: true }));
}

/**
 * The first snapshot of a worktree. Reading and storing all its files again would take long, so agt copies what git has of
 * them into the store, as one pack, and takes their stat data from the index. git works in the store and only reads the
 * user's objects and a copy of the index.
 */
interface Baseline {
  readonly user: Repository;
  /** The top of the worktree. */
  readonly folder: string;
  readonly hash: 'sha1' | 'sha256';
  readonly index: IndexBytes;
  /** Bytes of all its files. */
  readonly size: number;
}

/** Undefined if git has no plain index of the worktree: the first capture then reads every file. */
async function readBaseline(user: Repository, folder: string): Promise<Baseline | undefined> {
  const gitDir = gitDirOf(folder);
  if (gitDir === undefined) return undefined;
  const hash = await gitAnswer(inDirectory(user.git, folder), ['rev-parse', '--show-object-format']);
  if (hash !== 'sha1' && hash !== 'sha256') return undefined;
  // There may be no index, or a damaged one.
  return attempt(() => {
    const index = readIndexBytes(gitDir);
    const { split, entries } = parseIndex(index.bytes, hash === 'sha256' ? 32 : 20);
    const size = entries.reduce((sum, { offset }) => sum + index.bytes.readUInt32BE(offset + SIZE_OFFSET), 0);
    return split ? undefined : { user, folder, hash, index, size };
  });
}

/**
 * Copies the objects of the index into the store that `git` runs in. Returns the tree of the index; undefined if git
 * cannot make one of it, as in a conflict, or does not have all objects, as in a partial clone.
 */
async function copyObjects({ user, index, size }: Baseline, git: Git): Promise<string | undefined> {
  const copy = join(git.cwd, 'index-of-baseline');
  const env = {
    GIT_DIR: git.cwd,
    GIT_INDEX_FILE: copy,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: inPathList(join(user.commonDir, 'objects')),
    GIT_NO_LAZY_FETCH: '1',
  };
  // Without room for all files, as large as they are, the capture looks at each file before it writes.
  if (!succeeds(() => requireSpace(git.cwd, size))) return undefined;
  writeFileSync(copy, index.bytes);
  try {
    const tree = await gitAnswer(git, ['write-tree'], { env });
    if (tree === undefined) return undefined;
    const pack = ['pack-objects', '--quiet', '--revs', '--window=0', join('objects', 'pack', 'pack')];
    const packed = await gitAnswer(git, pack, { env, input: `${tree}\n` });
    return packed === undefined ? undefined : tree;
  } finally {
    rmSync(copy, { force: true });
  }
}

/** In an entry of the index: where the size of the file is. */
const SIZE_OFFSET = 36;
