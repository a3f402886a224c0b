/** The refs and the sandbox's HEAD when a capture begins. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError } from '../errors.ts';
import { readSmallFile } from '../git/files/read-small-file.ts';
import { worktreeGitDir } from '../git/files/worktree-git-dir.ts';
import { runBatchCommand } from '../git/objects/cat-file.ts';
import { type Git, gitAnswer, inDirectory } from '../git/run/git.ts';
import { type GitDirFiles, readGitDirFiles } from '../snapshot/git-dir-files.ts';
import type { CaptureTarget } from './request.ts';

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
  /** The tip of the user branch; the start commit if there is no such branch. */
  readonly user: string;
  readonly head: { readonly ref: string | null; readonly commit: string | null };
  readonly gitDirFiles: GitDirFiles;
}

export async function readRefsAtStart(git: Git, target: CaptureTarget): Promise<RefsAtStart> {
  const sandboxGit = inDirectory(git, target.sandbox);
  const gitDir = worktreeGitDir(target.sandbox);
  if (gitDir === undefined) throw new AgtError(`${target.sandbox} is not a worktree`);
  const names = [
    'HEAD^{commit}',
    target.tipRef,
    `${target.tipRef}^{tree}`,
    target.shadowRef,
    `${target.userRef ?? ''}^{commit}`,
  ];
  const questions = [...names.map((name) => `info ${name}`), `contents ${target.tipRef}:_/manifest.json`];
  const [answers, ref] = await Promise.all([
    runBatchCommand(sandboxGit, questions),
    headRef(gitDir) ?? gitAnswer(sandboxGit, ['symbolic-ref', '--quiet', 'HEAD']),
  ]);
  const lines = answers.toString().replace(/\n$/, '').split('\n');
  const [commit, tip, tipTree, shadow, user, manifest] = lines.map(
    (answer) => /^([0-9a-f]+) (commit|tree|blob)$/.exec(answer)?.[1],
  );
  if (tip === undefined || tipTree === undefined) {
    throw new AgtError(`agt's own ref of session "${target.sessionId}" is missing: ${target.tipRef}`, {
      hints: ['see: agt doctor'],
    });
  }
  return {
    gitDir,
    tip,
    tipTree,
    tipManifest: manifest === undefined ? undefined : lines.slice(names.length + 1).join('\n'),
    shadow,
    user: user ?? target.startCommit,
    head: { ref: ref || null, commit: commit ?? null },
    gitDirFiles: readGitDirFiles(gitDir),
  };
}

/** The branch that HEAD names, empty if HEAD is detached; undefined if only git can tell. */
function headRef(gitDir: string): string | undefined {
  const path = join(gitDir, 'HEAD');
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  const text = readSmallFile(path) ?? '';
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return '';
  const ref = /^ref: (refs\/\S+)$/.exec(text)?.[1];
  // In a repository with reftables HEAD always names this one.
  return ref === 'refs/heads/.invalid' ? undefined : ref;
}
