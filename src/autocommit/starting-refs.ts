/** The refs and the sandbox's HEAD when a capture begins. */
import { basename } from 'node:path';
import { AgtError } from '../errors.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { isReadableHead, readHeadFile } from '../git/files/head-file.ts';
import { HEADS } from '../git/files/ref-files.ts';
import { runBatchCommand } from '../git/objects/object-reader.ts';
import { type Git, gitAnswer, inDirectory } from '../git/run/git.ts';
import { OWN } from '../snapshot/format.ts';
import { type GitDirFiles, readGitDirFiles } from '../snapshot/git-dir-files.ts';
import type { RecordedHead, SnapshotManifest } from '../snapshot/manifest.ts';
import { type KnownRefs, readKnownRefs, refsWithoutGit } from './known-refs.ts';
import type { CaptureTarget, UserRepository } from './request.ts';

export interface RefsAtStart {
  /** The sandbox's own git directory. */
  readonly gitDir: string;
  /** The last shadow commit according to agt's own ref; the start commit before the first one. */
  readonly tip: string;
  readonly tipTree: string;
  /** `_/manifest.json` of the tip; undefined if it has none. */
  readonly tipManifest: string | undefined;
  /** The tip of the shadow branch; undefined if somebody deleted the branch. */
  readonly shadow: string | undefined;
  /** Without such a branch the start commit, or the last snapshot; undefined for an attached folder. */
  readonly user: string | undefined;
  readonly head: RecordedHead;
  /** The repository that an attached folder is a worktree of. */
  readonly userGit?: UserRepository | undefined;
  readonly gitDirFiles: GitDirFiles;
  /** agt did not ask git. */
  readonly isKnown: boolean;
  readonly warnings: readonly string[];
}

/** lost-tip.ts makes it again. */
export class LostTip extends AgtError {
  constructor({ sessionId, tipRef }: CaptureTarget) {
    super(`agt's own ref of session "${sessionId}" leads to no commit: ${tipRef}`, {
      hints: ['see: agt doctor'],
    });
  }
}

export async function readRefsAtStart(git: Git, target: CaptureTarget): Promise<RefsAtStart> {
  const { lostGitDir } = target;
  const gitDir = lostGitDir ?? gitDirOf(target.sandbox);
  if (gitDir === undefined) throw new AgtError(`${target.sandbox} is not a worktree`);
  const isDamaged = !isReadableHead(gitDir);
  const workGit = inDirectory(git, directoryForGit(git, target));
  const { ref, commit, work, ...found } =
    (isDamaged ? undefined : findWithoutGit(workGit, target, gitDir)) ??
    (await askGit(workGit, target, isDamaged ? undefined : gitDir));
  return {
    ...found,
    gitDir,
    head: isDamaged
      ? lastHead(found.tipManifest, target, work)
      : {
          ref: ref || null,
          commit: commit ?? null,
          ...(ref === target.workRef ? {} : { work: work ?? null }),
        },
    warnings: [
      ...(isDamaged ? ['HEAD of the sandbox is damaged; the snapshot has the last one'] : []),
      ...(lostGitDir === undefined ? [] : ['the sandbox has lost its .git file; see: agt doctor']),
    ],
    gitDirFiles: readGitDirFiles(gitDir),
  };
}

interface Found extends Pick<RefsAtStart, 'tip' | 'tipTree' | 'tipManifest' | 'shadow' | 'user' | 'isKnown'> {
  /** The branch that HEAD names, empty if HEAD is detached. */
  readonly ref: string | undefined;
  /** The commit of HEAD; undefined if there is none yet. */
  readonly commit: string | undefined;
  readonly work: string | undefined;
}

/** From files. Undefined if git must be asked. */
function findWithoutGit(git: Git, target: CaptureTarget, gitDir: string): Found | undefined {
  const { shadowRef, userRef, workRef, startCommit } = target;
  const known = readKnownRefs(target);
  const head = readHeadFile(gitDir);
  // Other refs than branches may be the worktree's own.
  if (known === undefined || head === undefined || head.ref?.startsWith(HEADS) === false) return undefined;
  const names = [shadowRef, workRef, userRef, head.ref].filter((name) => name !== undefined);
  const refs = refsWithoutGit(git, target, known, names);
  const user = refs?.get(userRef ?? '') ?? startCommit;
  const hasAll = [user, head.commit ?? user].every((commit) =>
    [known.tip, ...known.commits].includes(commit),
  );
  if (refs === undefined || !hasAll) return undefined;
  const { commits: _, tipManifest, ...own } = known;
  return {
    ...own,
    tipManifest,
    shadow: refs.get(shadowRef),
    user,
    ref: head.ref ?? '',
    commit: head.commit ?? refs.get(head.ref),
    work: refs.get(workRef),
    isKnown: true,
  };
}

/** Without a git directory whose HEAD can be read, it asks nothing about HEAD. */
async function askGit(git: Git, target: CaptureTarget, gitDir: string | undefined): Promise<Found> {
  const { lostGitDir } = target;
  // The HEAD of a registration as another worktree knows it.
  const head = lostGitDir === undefined ? 'HEAD' : `worktrees/${basename(lostGitDir)}/HEAD`;
  const names = [
    gitDir === undefined ? 'of a damaged HEAD' : `${head}^{commit}`,
    `${target.userRef ?? ''}^{commit}`,
    `${target.workRef}^{commit}`,
    `${target.startCommit}^{commit}`,
  ];
  const [{ others, ...found }, ref] = await Promise.all([
    askAboutTip(git, target, names),
    gitDir === undefined ? '' : (readBranch(gitDir) ?? gitAnswer(git, ['symbolic-ref', '--quiet', head])),
  ]);
  const [commit, user, work, start] = others;
  return { ...found, user: user ?? start ?? found.tip, ref, commit, work };
}

/** `others`: the objects that `names` lead to. @throws LostTip */
async function askAboutTip(git: Git, target: CaptureTarget, names: readonly string[]) {
  const { tipRef, shadowRef } = target;
  const all = [tipRef, `${tipRef}^{tree}`, shadowRef, ...names];
  const questions = [...all.map((name) => `info ${name}`), `contents ${tipRef}:${OWN.manifest}`];
  const lines = (await runBatchCommand(git, questions)).toString().replace(/\n$/, '').split('\n');
  const oidIn = (answer = '') => /^([0-9a-f]+) (?:commit|tree|blob) \d+$/.exec(answer)?.[1];
  const [tip, tipTree, shadow, ...others] = lines.slice(0, all.length).map(oidIn);
  if (tip === undefined || tipTree === undefined) throw new LostTip(target);
  const hasManifest = oidIn(lines[all.length]) !== undefined;
  const tipManifest = hasManifest ? lines.slice(all.length + 1).join('\n') : undefined;
  return { tip, tipTree, tipManifest, shadow, others, isKnown: false };
}

/** agt's own refs alone, of a folder that is no worktree. In an attached folder the user's HEAD is noted. */
export async function readOwnRefs(git: Git, target: CaptureTarget): Promise<RefsAtStart> {
  const { shadowRef, commonDir } = target;
  const known = readKnownRefs(target);
  const refs = known && refsWithoutGit(git, target, known, [shadowRef]);
  const found =
    refs === undefined
      ? askAboutTip(inDirectory(git, commonDir), target, [])
      : { ...(known as KnownRefs), shadow: refs.get(shadowRef), isKnown: true };
  const [{ tip, tipTree, tipManifest, shadow, isKnown }, userGit] = await Promise.all([
    found,
    target.attached?.readGit(),
  ]);
  const gitDir = userGit?.gitDir ?? commonDir;
  const own = { gitDir, tip, tipTree, tipManifest, shadow, user: undefined, userGit, isKnown };
  const gitDirFiles = userGit?.files ?? { operation: null, files: new Map(), unreadable: [] };
  return { ...own, head: { ref: null, commit: null }, gitDirFiles, warnings: [] };
}

/** The branch that HEAD names, empty if HEAD is detached; undefined if only git can tell. */
function readBranch(gitDir: string): string | undefined {
  const head = readHeadFile(gitDir);
  // In a repository with reftables HEAD always names this one.
  return head?.ref === 'refs/heads/.invalid' ? undefined : head && (head.ref ?? '');
}

/** Before the first snapshot, HEAD was most likely the work branch. */
function lastHead(
  tipManifest: string | undefined,
  { startCommit, workRef }: CaptureTarget,
  work: string | undefined,
): RefsAtStart['head'] {
  if (tipManifest === undefined)
    return work === undefined ? { ref: null, commit: startCommit } : { ref: workRef, commit: work };
  return (JSON.parse(tipManifest) as SnapshotManifest).head;
}

/** The directory for git to work in: the sandbox, unless git takes it for no worktree, or for another one. */
export function directoryForGit(
  git: Git,
  { sandbox, attached, lostGitDir, commonDir }: CaptureTarget,
): string {
  if (attached !== undefined || lostGitDir !== undefined) return commonDir;
  const gitDir = gitDirOf(sandbox);
  return gitDir !== undefined && isReadableHead(gitDir) ? sandbox : git.cwd;
}
