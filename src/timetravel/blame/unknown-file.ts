/** Lines of a file that git does not know, as git says it of lines that are not committed. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { type Git, gitAnswer, resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { commitOnTop } from './made-commits.ts';
import { type BlamedLine, forOwnBlame, gitBlame } from './porcelain.ts';

/** Not even git knows it, but a snapshot may. */
export async function isUnknown(git: Git, file: string): Promise<boolean> {
  if (!existsSync(resolve(git.cwd, file))) return false;
  const listed = await gitAnswer(git, ['ls-files', '--error-unmatch', '--', `:(literal)${file}`]);
  return listed === undefined || (await resolveObject(git, 'HEAD')) === undefined;
}

/** `choice`: options of git blame that choose lines. */
export function blameUnknown(
  repository: Repository,
  { path, content }: { readonly path: string; readonly content: Buffer },
  choice: readonly string[],
): Promise<BlamedLine[]> {
  const now = String(Math.floor(Date.now() / 1000));
  const details = new Map([
    ...(['author', 'committer'] as const).flatMap((role): [string, string][] => [
      [role, 'Not Committed Yet'],
      [`${role}-mail`, '<not.committed.yet>'],
      [`${role}-time`, now],
      [`${role}-tz`, '+0000'],
    ]),
    ['summary', `Version of ${path} from ${path}`],
    ['filename', path],
  ]);
  return withScratchObjects(repository, async (scratch) => {
    const commit = await commitOnTop(scratch, [], path, content);
    const lines = await gitBlame(forOwnBlame(scratch.git), [...choice, commit], path);
    return lines.map((line) => ({ ...line, commit: line.commit.replace(/./g, '0'), details, group: '' }));
  });
}
