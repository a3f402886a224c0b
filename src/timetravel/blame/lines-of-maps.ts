/** Lines of commits that acceptances have made, or that somebody has made of those since: by the maps of the acceptances. */
import { commitOid, storeCommits } from '../../git/objects/commits.ts';
import { withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { gitAnswer, isAncestor } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { type AcceptMap, originAt } from './accept-map.ts';
import { commitWith, treesOf } from './made-commits.ts';
import { inOrder } from './maps-by-commit.ts';
import type { Origin } from './origin.ts';
import { type BlamedLine, forOwnBlame, gitBlame } from './porcelain.ts';

export type Note = Map<BlamedLine, Origin>;

export function note(
  origins: Note,
  lines: readonly BlamedLine[],
  originOfLine: (line: BlamedLine) => Origin | undefined,
) {
  for (const line of lines) {
    const origin = originOfLine(line);
    if (origin !== undefined) origins.set(line, origin);
  }
}

interface OwnBlame {
  readonly repository: Repository;
  readonly options: readonly string[];
}

/** A commit of an agent that these have merged: git follows its lines, and names of files, up to the merge. */
export async function noteByMerges(
  { repository, options }: OwnBlame,
  commit: string,
  lines: readonly BlamedLine[],
  merges: readonly AcceptMap[],
  origins: Note,
) {
  for (const { landed, files } of merges)
    for (const [path, ofFile] of Map.groupBy(lines, (line) => line.path)) {
      const words = [...options, '--reverse', `${commit}..${landed}`];
      const blamed = await gitBlame(forOwnBlame(repository.git), words, path);
      note(origins, ofFile, ({ original }) => {
        const found = blamed[original - 1];
        return found?.commit === landed ? originAt(files, found.path, found.original) : undefined;
      });
    }
}

/** The commit that an acceptance made, or one that somebody has made of it since: git compares the two. */
export async function noteByMaps(
  { repository, options }: OwnBlame,
  commit: string,
  lines: readonly BlamedLine[],
  maps: readonly AcceptMap[],
  origins: Note,
) {
  const same = maps.find(({ landed }) => landed === commit);
  if (same !== undefined)
    return note(origins, lines, ({ path, original }) => originAt(same.files, path, original));
  // It came before this acceptance.
  const isEarlier = async ({ from }: AcceptMap) => isAncestor(repository.git, commit, from);
  const possible = await Array.fromAsync(maps, async (map) => ((await isEarlier(map)) ? undefined : map));
  const others = possible.filter((map) => map !== undefined);
  if (others.length === 0) return;
  await withScratchObjects(repository, async ({ git }) => {
    const trees = await treesOf(git, [commit, ...others.flatMap(({ landed, from }) => [landed, from])]);
    const contents: Buffer[] = [];
    const make = (oid: string, parents: readonly string[]) => {
      contents.push(commitWith(trees.get(oid) ?? '', parents));
      return commitOid(contents.at(-1) as Buffer, commit);
    };
    const made = new Map<string, string>();
    const makeFrom = async (from: string): Promise<string> => {
      const below = others.find(({ landed }) => landed === from);
      if (below !== undefined) return makeLanded(below);
      if (await isAncestor(git, from, commit)) return from;
      // Somebody has rewritten it since, with what the acceptances before had brought.
      const base = await gitAnswer(git, ['merge-base', from, commit]);
      return make(from, [...new Set(made.values()), ...(base === undefined ? [] : [base])]);
    };
    const makeLanded = async ({ landed, from }: AcceptMap): Promise<string> => {
      const known = made.get(landed) ?? make(landed, [await makeFrom(from)]);
      made.set(landed, known);
      return known;
    };
    const older = await gitAnswer(git, ['merge-base', '--octopus', ...others.map((map) => map.from)]);
    const newer = older === undefined ? [] : [`^${older}`];
    for (const map of await inOrder(git, others, newer)) await makeLanded(map);
    const tip = make(commit, [...new Set(made.values())]);
    await storeCommits(git, contents, commit);
    const mapOf = new Map(others.map((map) => [made.get(map.landed), map]));
    for (const [path, ofFile] of Map.groupBy(lines, (line) => line.path)) {
      const blamed = await gitBlame(forOwnBlame(git), [...options, tip, ...newer], path);
      note(origins, ofFile, ({ original }) => {
        const found = blamed[original - 1];
        const map = mapOf.get(found?.commit);
        return found && map && originAt(map.files, found.path, found.original);
      });
    }
  });
}
