/**
 * The start commit as a snapshot, to which an undo goes from the first step. A session that began with anything
 * else has a snapshot of that. No ref leads to this one, and the same session always gets the same.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonPath } from '../../disk/path-bytes.ts';
import { SUBMODULE } from '../../git/modes.ts';
import { commitOid, objectName, storeCommits, storeObjects } from '../../git/objects/commits.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import { editTree, type IndexEdit, withIndex } from '../../git/objects/scratch-index.ts';
import { withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { gitText } from '../../git/run/git.ts';
import type { Session } from '../../session/session.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { AUTHOR, isBroughtIn, OWN, snapshotMessage, THE_START } from '../../snapshot/format.ts';
import { gitDirDigest } from '../../snapshot/git-dir-files.ts';
import { parseSnapshot, type Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata, serializeManifest } from '../../snapshot/manifest.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { workBranches } from './git-dir-of-session.ts';
import { verifyRestore } from './verify.ts';

/** Undefined if there is none, or if `from` is as the start. `first`: the first snapshot. */
export async function startBefore(session: Session, first: Snapshot | undefined, from: Snapshot | undefined) {
  const { git, record, id } = session;
  const isForked = first !== undefined && first.session !== id;
  if (isForked || record.working_copy !== 'worktree' || isBroughtIn(first?.label)) return undefined;
  const start = await writeStart(session, first);
  if (from === undefined) return start;
  const after = await readSnapshotMetadata(git, from.commit);
  const wanted = await readSnapshotMetadata(git, start.commit);
  const all = { branches: workBranches(session, start), ambiguous: new Set<string>(), withGit: true };
  const { mismatches } = await verifyRestore(git, after, wanted, TOP_FOLDERS, all);
  // git itself leaves an ORIG_HEAD in a new worktree.
  return mismatches.every((one) => one === 'ORIG_HEAD in the git directory of the sandbox')
    ? undefined
    : start;
}

async function writeStart(session: Session, first: Snapshot | undefined): Promise<Snapshot> {
  const { git, id } = session;
  const { from_commit: start, work_branch: ref, created_at: at } = session.record;
  const listed = await listTree(git, start, 'files');
  const files = listed.map((file) => ({ ...file, path: `sandbox/${file.path}` }));
  // In a new sandbox they are empty directories.
  const submodules = files.flatMap(({ mode, path }) => (mode === SUBMODULE ? path : []));
  const renamed = files.filter(({ mode, path }) => mode !== SUBMODULE && encodePath(path) !== path);
  const known = first && (await readSnapshotMetadata(git, first.commit)).manifest;
  const octal = (mode: number) => (mode & ~process.umask()).toString(8).padStart(4, '0');
  const usual = { file: octal(0o666), program: octal(0o777), directory: octal(0o777) };
  const text = serializeManifest({
    ...{ version: 1, skipped: [], ...(known?.agtignore && { agtignore: known.agtignore }) },
    ...{ session: id, head: { ref, commit: start }, operation: null, label: null, tool: null },
    git_dir_digest: gitDirDigest({ files: new Map() }),
    modes: { ...usual, ...known?.modes, others: {} },
    empty_directories: ['config', ...submodules.map(jsonPath), 'xdg'],
    encoded: renamed.map(({ path }) => jsonPath(path)).sort(),
  });
  return withScratchObjects(session.repository, async ({ dir }) => {
    const [index, other] = [join(dir, 'index'), join(dir, 'other')];
    await gitText(withIndex(git, index), ['read-tree', start]);
    const blobs = [readFileSync(index), Buffer.from(text)].map(
      (content) => ({ type: 'blob', content }) as const,
    );
    await storeObjects(git, blobs, start);
    const [ofIndex, ofManifest] = blobs.map((blob) => `100644 ${objectName(blob, start)}`);
    const edits: IndexEdit[] = [
      ...[...submodules, ...renamed.map(({ path }) => path)].map((path): IndexEdit => [path, undefined]),
      ...renamed.map(({ path, mode, oid }): IndexEdit => [encodePath(path), `${mode} ${oid}`]),
      [OWN.index, ofIndex],
      [OWN.manifest, ofManifest],
    ];
    const wanted = await editTree(withIndex(git, other), { tree: start, prefix: 'sandbox/' }, edits);
    const seconds = Math.floor(Date.parse(at) / 1000);
    const who = `${AUTHOR} <${session.repository.settings.agentEmail}> ${seconds} +0000`;
    const message = snapshotMessage(THE_START, { Session: id, Head: start, Label: THE_START });
    const content = Buffer.from(
      `tree ${wanted}\nparent ${start}\nauthor ${who}\ncommitter ${who}\n\n${message}`,
    );
    await storeCommits(git, [content], start);
    const commit = commitOid(content, start);
    return { ...parseSnapshot(commit, content.toString('latin1')), previous: undefined };
  });
}
