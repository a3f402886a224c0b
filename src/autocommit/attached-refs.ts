/** The refs of an attached folder when a capture begins: agt's own. The user's HEAD is noted, and nothing else of git. */
import { runBatchCommand } from '../git/objects/object-reader.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import type { GitDirFiles } from '../snapshot/git-dir-files.ts';
import { readKnownRefs, refsWithoutGit } from './known-refs.ts';
import type { AttachedFolder, CaptureTarget } from './request.ts';
import type { StagedIndex } from './staged-index.ts';
import { LostTip, type RefsAtStart } from './starting-refs.ts';

const NO_FILES: GitDirFiles = { operation: null, files: new Map(), unreadable: [] };

const NOTHING_OF_GIT = {
  user: undefined,
  head: { ref: null, commit: null },
  gitDirFiles: NO_FILES,
  warnings: [],
};

/** The index is the user's, and agt never writes it. */
export const NO_INDEX: StagedIndex = { content: undefined, digest: '', stat: 'none', warnings: [] };

export async function readRefsOfAttached(
  git: Git,
  target: CaptureTarget,
  attached: AttachedFolder,
): Promise<RefsAtStart> {
  const { tipRef, shadowRef, commonDir } = target;
  const known = readKnownRefs(target);
  const refs = known && refsWithoutGit(git, target, known, [shadowRef]);
  if (known !== undefined && refs !== undefined) {
    const { tip, tipTree, tipManifest } = known;
    const found = { tip, tipTree, tipManifest, shadow: refs.get(shadowRef), isKnown: true };
    return { ...NOTHING_OF_GIT, ...found, gitDir: commonDir, userHead: await attached.readHead() };
  }
  const names = [tipRef, `${tipRef}^{tree}`, shadowRef];
  const questions = [...names.map((name) => `info ${name}`), `contents ${tipRef}:_/manifest.json`];
  const [answers, userHead] = await Promise.all([
    runBatchCommand(inDirectory(git, commonDir), questions),
    attached.readHead(),
  ]);
  const lines = answers.toString().replace(/\n$/, '').split('\n');
  const [tip, tipTree, shadow, manifest] = lines.map(
    (answer) => /^([0-9a-f]+) (?:commit|tree|blob) \d+$/.exec(answer)?.[1],
  );
  if (tip === undefined || tipTree === undefined) throw new LostTip(target);
  const tipManifest = manifest === undefined ? undefined : lines.slice(names.length + 1).join('\n');
  const found = { tip, tipTree, tipManifest, shadow, isKnown: false };
  return { ...NOTHING_OF_GIT, ...found, gitDir: commonDir, userHead };
}
