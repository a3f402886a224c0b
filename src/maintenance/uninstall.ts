/**
 * `agt uninstall`: a repository without agt. The settings that keep snapshots out of clones go after the last snapshot, so
 * a removal that fails on its way shows nobody anything.
 */
import { globSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { AgtError, attempt } from '../errors.ts';
import {
  ATTRIBUTIONS,
  attributionRef,
  localNamespaces,
  OWN_NAMESPACE,
  SHARED,
  STASHES,
  STASHES_OF_SESSIONS,
  stashRef,
} from '../filter/agent-refs.ts';
import { isActive } from '../filter/session-file.ts';
import { HEADS, REMOTES, shortBranch } from '../git/files/ref-files.ts';
import { gitLines, resolveObject, runGit, updateRefs } from '../git/run/git.ts';
import { areaConfigFile, shimFactsFile } from '../layout.ts';
import { removeEmptyParents } from '../lifecycle/delete-folder.ts';
import { aboutSetAside } from '../lifecycle/in-place/set-aside.ts';
import { listMountRecords } from '../lifecycle/mounted/mount-record.ts';
import { removeSession } from '../lifecycle/remove.ts';
import { lostWithBranches } from '../lifecycle/unsaved-work.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { showAgentRefs } from '../repository/hide-refs.ts';
import type { Repository } from '../repository/repository.ts';
import { refuseRunning } from '../session/owner.ts';
import { listRecords } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { readShares } from '../session/share-file.ts';
import { forgetTemplate } from '../workspace/template.ts';

export interface UninstallPlan {
  readonly sessions: readonly { readonly session: Session; readonly unsaved: readonly string[] }[];
  /** What stays on remotes, as far as agt knows here, with the command that deletes it. */
  readonly onRemotes: readonly string[];
  /** Sessions that others pushed to this repository. */
  readonly shared: number;
  /** Refs of agt, if there is no session: snapshots whose session is lost. */
  readonly orphans: number;
  /** Refs to maps of who wrote accepted lines: these outlive their sessions on purpose. */
  readonly maps: number;
}

/** @throws AgtError if a session runs, or something of the user's would go that is in no session. */
export async function planUninstall(repository: Repository): Promise<UninstallPlan> {
  const { records, damaged } = listRecords(repository);
  const [broken] = damaged;
  if (broken !== undefined)
    throw new AgtError(broken.problem, { hints: ['see: agt doctor', 'then again: agt uninstall'] });
  const [mount] = listMountRecords(repository.agtDir);
  if (mount !== undefined)
    throw new AgtError(`a snapshot is mounted at ${mount.directory}`, {
      hints: [`agt session umount ${shellQuote(mount.directory)}`],
    });
  const all = await refsOf(repository, [OWN_NAMESPACE]);
  const going = records.filter(isActive).map(({ session_id: id }) => stashRef(id));
  const aside = all.find((ref) => ref.startsWith(STASHES) && !going.includes(ref));
  if (aside !== undefined)
    throw new AgtError('uncommitted work of yours from before a session is still set aside', {
      hints: aboutSetAside(aside),
    });
  const sessions = await Array.fromAsync(records, async (record) => {
    const session = new Session(repository, record);
    refuseRunning(session);
    return { session, unsaved: await lostWithBranches(session, records) };
  });
  const shared = all.filter((ref) => ref.startsWith(SHARED) && ref.endsWith('/head')).length;
  const { going: ownRefs } = await otherRefs(repository);
  const isKnown = (ref: string) => [SHARED, ATTRIBUTIONS].some((namespace) => ref.startsWith(namespace));
  const orphans = sessions.length > 0 ? 0 : ownRefs.filter((ref) => !isKnown(ref)).length;
  const none = new Set(records.flatMap((one) => (one.landed ? [] : attributionRef(one.session_id))));
  const maps = all.filter((ref) => ref.startsWith(ATTRIBUTIONS) && !none.has(ref)).length;
  const onRemotes = await Array.fromAsync(sessions, ({ session }) => placesOnRemotes(session));
  return { sessions, onRemotes: onRemotes.flat(), shared, orphans, maps };
}

async function placesOnRemotes(session: Session): Promise<string[]> {
  const { git, id, record } = session;
  const all = record.away === undefined ? attempt(() => readShares(session).copies) : undefined;
  const copies = (all ?? []).filter(({ head }) => head !== undefined);
  const places = copies.map(({ remote }) => {
    const at = shellQuote(remote);
    return `the copy of ${id} on ${remote} stays; to delete it: agt session push ${id} ${at} --delete`;
  });
  const { remote, branch } = record.exported ?? {};
  if (remote === undefined || branch === undefined) return places;
  if ((await resolveObject(git, `${REMOTES}${remote}/${branch}`)) === undefined) return places;
  const words = `${shellQuote(remote)} --delete ${shellQuote(branch)}`;
  return [...places, `the branch ${branch} on ${remote} stays; to delete it: git push ${words}`];
}

/** Returns the branches in agt's namespace that belong to no session: they hold commits alone, and stay. */
export async function uninstall(
  repository: Repository,
  { sessions }: UninstallPlan,
  now: Date,
): Promise<string[]> {
  const { git, commonDir, agtDir, area } = repository;
  const sessionsDir = await repository.sessionsDir();
  for (const { session } of sessions) await removeSession(session, { force: true, deleteBranch: true, now });
  await forgetTemplate(repository);
  const { going, stays } = await otherRefs(repository);
  const deletions = going.map((ref) => `delete ${ref}`);
  await updateRefs(git, deletions);
  failurePoint('uninstall: refs deleted');
  for (const path of globSync(`{.,worktrees/*}/${basename(shimFactsFile(''))}`, { cwd: commonDir }))
    rmSync(join(commonDir, path), { force: true });
  removeEmptyParents(sessionsDir);
  if (area !== undefined) removeTree(dirname(areaConfigFile(area)));
  removeTree(agtDir);
  for (const empty of [OWN_NAMESPACE, 'worktrees']) attempt(() => rmdirSync(join(commonDir, empty)));
  failurePoint('uninstall: files deleted');
  await runGit(git, ['config', '--remove-section', `gc.${STASHES_OF_SESSIONS}`]);
  await showAgentRefs(repository);
  return stays.map(shortBranch);
}

async function otherRefs(repository: Repository) {
  const { prefixes } = repository;
  const refs = await refsOf(repository, localNamespaces(prefixes));
  const stays = refs.filter((ref) => prefixes.some(({ workPrefix }) => ref.startsWith(HEADS + workPrefix)));
  return { stays, going: refs.filter((ref) => !stays.includes(ref)) };
}

function refsOf({ git }: Repository, namespaces: readonly string[]): Promise<string[]> {
  return gitLines(git, ['for-each-ref', '--format=%(refname)', '--', ...namespaces]);
}
