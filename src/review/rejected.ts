/** Rejected hunks in a tree, also in files that have another name now, and the tree without them. */
import type { Content } from '../landing/accept-request.ts';
import { readSandbox } from '../landing/sandbox-content.ts';
import type { Workbench } from '../landing/workbench.ts';
import type { Session } from '../session/session.ts';
import { piecesOf, readUnderOldNames, renamesAmong, splitHunk } from './hunks.ts';
import { indexIn, moveTo, readStarts, readState } from './state.ts';

export interface RejectedHunk {
  /** Of its pieces. */
  readonly ids: readonly string[];
  readonly path: string;
  /** The sandbox does not have it any more. */
  readonly isGone: boolean;
  /** The agent alone takes it out, as it hears of it with --tell. */
  readonly isTold: boolean;
}

/**
 * The tree without rejected lines. Lines that have left the sandbox, while a commit still has them, stay rejected. Lines
 * that came back to the sandbox are new.
 */
export async function findRejected(session: Session, bench: Workbench, read: Content) {
  const { tree, whole } = read;
  const known = await readState(session);
  const all = known?.rejected.filter(({ state }) => state !== 'gone' || tree !== whole) ?? [];
  if (known === undefined || all.length === 0) return { tree, rejected: [] };
  const { seen } = await moveTo(bench, known, await readStarts(session, bench, read));
  const { sandboxGit } = session;
  const git = { ...sandboxGit, env: { ...sandboxGit.env, ...bench.objects } };
  const readTree = (of: string) => readUnderOldNames(git, indexIn(bench), { seen, tree: of, rejected: all });
  const { hunks, ids: there, newNames, ...named } = await readTree(tree);
  if (!all.some(({ id }) => there.has(id))) return { tree, rejected: [] };
  const content = whole ?? (await readSandbox(session, bench)).whole;
  const now = content === tree ? there : (await readTree(content)).ids;
  const standing = all.filter(({ id, state }) => there.has(id) && (state !== 'gone' || !now.has(id)));
  const ids = new Set(standing.map(({ id }) => id));
  const partners = await renamesAmong(git, seen, named.tree, hunks);
  const rejected = hunks
    .flatMap((hunk) => splitHunk(hunk, (a, b) => ids.has(a.id) !== ids.has(b.id)))
    .flatMap((hunk): RejectedHunk[] => {
      const own = piecesOf([hunk]).filter(({ id }) => ids.has(id));
      const isOldName = own.some(({ id, file }) => partners.has(id) && file.after === undefined);
      if (own.length === 0 || isOldName) return [];
      const isGone = own.every(({ id }) => !now.has(id));
      const path = newNames.get(hunk.path) ?? hunk.path;
      const pieces = own.map(({ id }) => id);
      const isTold = standing.every(({ id, way }) => way === 'tell' || !pieces.includes(id));
      return [{ ids: pieces, path, isGone, isTold }];
    });
  return { tree: await named.without(ids), rejected };
}
