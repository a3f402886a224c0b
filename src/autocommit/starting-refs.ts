/** Where the refs and the sandbox's HEAD stand when a capture begins. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError } from '../errors.ts';
import { readSmallFile } from '../git/files/read-small-file.ts';
import { worktreeGitDir } from '../git/files/worktree-git-dir.ts';
import { runBatchCommand } from '../git/objects/cat-file.ts';
import { type Git, gitAnswer, inDirectory } from '../git/run/git.ts';
import { type Operation, readOperation } from '../snapshot/git-operation.ts';
import type { CaptureTarget } from './request.ts';

export interface Circumstances {
  /** The sandbox's own git directory. */
  readonly gitDir: string;
  /** The last shadow commit according to agt, or the start commit before the first one. */
  readonly tip: string;
  readonly tipTree: string;
  /** `_/manifest.json` of the tip; undefined where it has none. */
  readonly tipManifest: string | undefined;
  /** Where the shadow branch is; undefined when somebody deleted it. */
  readonly shadow: string | undefined;
  /** The user branch's tip, or the start commit where there is none. */
  readonly user: string;
  readonly head: { readonly ref: string | null; readonly commit: string | null };
  readonly operation: Operation | undefined;
}

export async function readCircumstances(git: Git, target: CaptureTarget): Promise<Circumstances> {
  const sandboxGit = inDirectory(git, target.sandbox);
  const gitDir = worktreeGitDir(target.sandbox);
  if (gitDir === undefined) throw new AgtError(`${target.sandbox} is no worktree`);
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
    throw new AgtError(`agt's own record of session "${target.sessionId}" is missing: ${target.tipRef}`, {
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
    operation: readOperation(gitDir),
  };
}

/** The branch that HEAD names, empty where it names a commit; undefined where only git can tell. */
function headRef(gitDir: string): string | undefined {
  const path = join(gitDir, 'HEAD');
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  const text = readSmallFile(path) ?? '';
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return '';
  const ref = /^ref: (refs\/\S+)$/.exec(text)?.[1];
  // What stands there where refs are in a table.
  return ref === 'refs/heads/.invalid' ? undefined : ref;
}
