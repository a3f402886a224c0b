/**
 * `agt session diff`: two snapshots of a session, or a snapshot and the disk, compared by git itself, so that colours, pager,
 * renames and exit codes are git's. Nothing of the session is touched, and nothing is left behind.
 */

import { type DiffEntry, parseRawDiff } from '../../git/objects/raw-diff.ts';
import { withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { gitBytes, inDirectory } from '../../git/run/git.ts';
import { runGitOnTerminal } from '../../git/run/run-on-terminal.ts';
import { scratchDirectory } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionRecord } from '../../session/record.ts';
import { sandboxIsThere } from '../../session/sandbox.ts';
import { isUnder, TOP_FOLDERS } from '../../snapshot/folders.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { decodePath } from '../../snapshot/tree-names.ts';
import { excludes, type Namesakes, type Pathspec, pathOfAgent, readNamesakes } from '../agent-paths.ts';
import { agentTree } from './agent-tree.ts';
import { type MetadataDiff, metadataDiff } from './metadata-diff.ts';
import { type Side, sideOfDisk, sideOfSnapshot, sideOfStart } from './sides.ts';

/** A captured state, the commit that the session started at, or what is on disk. */
export type Point = Snapshot | 'start' | 'disk';

export interface DiffRequest {
  readonly before: Point;
  readonly after: Point;
  /** Reads a path as the user wrote it, knowing the namesakes. */
  readonly pathspecs: (namesakes: Namesakes) => Pathspec[];
  readonly now: Date;
}

export interface Difference {
  readonly namesakes: Namesakes;
  readonly beyond: readonly MetadataDiff[];
  readonly unsure: Side['unsure'];
}

/** Lets git print the difference. `options` are git's own. */
export function showDiff(
  repository: Repository,
  record: SessionRecord,
  request: DiffRequest,
  options: readonly string[],
): Promise<Difference & { readonly exitCode: number }> {
  return compare(repository, record, request, async ({ git, before, after, namesakes, pathspecs }) => {
    const tops = TOP_FOLDERS.filter(
      (top) =>
        pathspecs.every(excludes) || pathspecs.some((spec) => !excludes(spec) && isUnder(spec.path, [top])),
    );
    const [one, other] = [
      await agentTree(git, before, namesakes, tops),
      await agentTree(git, after, namesakes, tops),
    ];
    // There git reads the attributes of the files that are compared.
    const place = sandboxIsThere(record) ? inDirectory(git, record.sandbox) : git;
    const paths = pathspecs.flatMap((spec) => inView(spec, namesakes));
    return { exitCode: await runGitOnTerminal(place, ['diff', ...options, one, other, '--', ...paths]) };
  });
}

/** The same as a list. */
export function listDiff(
  repository: Repository,
  record: SessionRecord,
  request: DiffRequest,
): Promise<Difference & { readonly entries: DiffEntry[] }> {
  return compare(repository, record, request, async ({ git, before, after, pathspecs }) => {
    const paths = [
      ...(pathspecs.every(excludes) ? TOP_FOLDERS : []),
      ...pathspecs.map(({ magic, path }) => magic + path),
    ];
    const args = ['diff-tree', '-r', '-z', '--no-renames', '--full-index', '--raw', before.tree, after.tree];
    const output = (await gitBytes(git, [...args, '--', ...paths])).toString('latin1');
    return { entries: parseRawDiff(output, decodePath).get('') ?? [] };
  });
}

interface Compared {
  readonly git: Repository['git'];
  readonly before: Side;
  readonly after: Side;
  readonly namesakes: Namesakes;
  readonly pathspecs: readonly Pathspec[];
}

function compare<T>(
  repository: Repository,
  record: SessionRecord,
  request: DiffRequest,
  action: (compared: Compared) => Promise<T>,
): Promise<T & Difference> {
  return withScratchObjects(
    repository.git,
    { commonDir: repository.commonDir, parent: scratchDirectory(repository.agtDir) },
    async (scratch) => {
      const sideOf = (point: Point) => {
        if (point === 'disk') return sideOfDisk(repository, record, scratch, request.now);
        return point === 'start'
          ? sideOfStart(scratch, record.from_commit)
          : sideOfSnapshot(scratch.git, point);
      };
      const [before, after] = [await sideOf(request.before), await sideOf(request.after)];
      const { git } = scratch;
      const namesakes = await readNamesakes(git, [before.tree, after.tree]);
      const pathspecs = request.pathspecs(namesakes);
      const beyond = (await metadataDiff(git, before, after)).filter(({ path }) => isWanted(path, pathspecs));
      const result = await action({ git, before, after, namesakes, pathspecs });
      return { ...result, namesakes, beyond, unsure: [...before.unsure, ...after.unsure] };
    },
  );
}

/** Plain pathspecs are understood here; where there are others, what git cannot know is left out. */
function isWanted(path: string, pathspecs: readonly Pathspec[]): boolean {
  if (pathspecs.length === 0) return true;
  if (pathspecs.some((spec) => spec.magic !== '' || /[*?[\\]/.test(spec.path))) return false;
  const paths = pathspecs.map((spec) => Buffer.from(spec.path).toString('latin1'));
  return isUnder(path.replace(/\/$/, ''), paths);
}

/** A folder beside its namesake stands under `..` in the view, which git takes for a path outside, but for wildcards. */
function inView({ magic, path }: Pathspec, namesakes: Namesakes): string[] {
  if (path === 'sandbox') return [`${magic}.`];
  const shown = pathOfAgent(path, namesakes);
  if (!shown.startsWith('../')) return [magic + shown];
  const wild = `${magic}[.][.]/${shown.slice('../'.length)}`;
  return [wild, `${wild}/*`];
}
