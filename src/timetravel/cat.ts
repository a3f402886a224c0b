/** `agt session cat`: prints one file of a snapshot, or the names in a directory. */
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, listSome } from '../errors.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import type { Git } from '../git/run/git.ts';
import { shellQuote } from '../process/shell-quote.ts';
import type { Session } from '../session/session.ts';
import { isOwn } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { decodePath, encodePath } from '../snapshot/tree-names.ts';
import { type AmbiguousFolders, readAmbiguousFolders, shownPath } from './session-paths.ts';

/**
 * The object name of a file's content, or of a link's target; of a directory with a slash at the end, its names. `spec` is
 * SNAPSHOT:PATH. Either part may contain colons: the
 * longest text that names a snapshot is the snapshot. `paths` converts a path as the user wrote it, and back.
 * @throws AgtError if there is no such snapshot or file.
 */
export async function findFile(
  session: Session,
  spec: string,
  now: Date,
  paths: Record<'inSession' | 'toWrite', (path: string, ambiguous: AmbiguousFolders) => string>,
): Promise<{ readonly oid: string } | { readonly names: readonly string[] }> {
  const { git } = session;
  const history = await session.history();
  const file = await splitSpec(spec, (name) => session.find(name, now, history));
  const { snapshot, snapshotName: name } = file;
  const ambiguous = await readAmbiguousFolders(git, [snapshot.commit]);
  const path = encodePath(paths.inSession(file.path, ambiguous));
  const [found] = await findObjects(git, [`${snapshot.commit}:${path}`]);
  if (found?.type === 'blob') return { oid: found.oid };
  if (found?.type === 'tree' && /(^|\/)\.{0,2}$/.test(file.path))
    return { names: await namesIn(git, snapshot, path) };
  const shown = shownPath(decodePath(path), ambiguous);
  if (found?.type === 'tree') {
    const names = (await namesIn(git, snapshot, path)).map((one) => displayPath(one.replace(/\/$/, '')));
    throw new AgtError(`"${shown}" is a directory in "${name}"`, {
      hints: [`it contains: ${listSome(names, MAX_NAMES)}`],
    });
  }
  const toWrite = (one: string) => paths.toWrite(one, ambiguous);
  const fromTop = encodePath(`sandbox/${Buffer.from(file.path).toString('latin1')}`);
  const [there] = await findObjects(git, [`${snapshot.commit}:${fromTop}`]);
  const here = `${name}:${displayPath(toWrite(decodePath(fromTop)))}`;
  throw new AgtError(`no file "${shown}" in "${name}"`, {
    hints: [
      ...(there?.type === 'blob'
        ? [`paths count from the current directory: ${shellQuote(here)}`]
        : await hintOtherDirectories(git, snapshot, path, toWrite)),
      ...(await hintOtherSnapshot(git, history, snapshot, path)),
    ],
  });
}

/** @throws what `find` throws for the shortest possible name, which is most likely what the user means. */
async function splitSpec(spec: string, find: (name: string) => Promise<Snapshot>) {
  const colons = [...spec.matchAll(/:/g)].map(({ index }) => index).reverse();
  let reason: unknown;
  for (const colon of colons) {
    const snapshotName = spec.slice(0, colon);
    try {
      return { snapshot: await find(snapshotName), snapshotName, path: spec.slice(colon + 1) };
    } catch (error) {
      reason = error;
    }
  }
  throw reason;
}

/** Names in one hint: as many as fit on a line. */
const MAX_NAMES = 8;

/** One byte per character; those of directories end in a slash. */
async function namesIn(git: Git, { commit }: Snapshot, path: string): Promise<string[]> {
  const entries = await listTree(git, `${commit}:${Buffer.from(path, 'latin1').toString()}`);
  return entries.map((entry) => decodePath(entry.path) + (entry.type === 'tree' ? '/' : ''));
}

/** Files of the same name in other directories of the same snapshot. */
async function hintOtherDirectories(
  git: Git,
  { commit }: Snapshot,
  path: string,
  toWrite: (path: string) => string,
): Promise<string[]> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const files = (await listTree(git, commit, 'files')).map((entry) => entry.path);
  const found = files.filter((file) => file.endsWith(`/${name}`) && !isOwn(file));
  if (found.length === 0) return [];
  const shown = found.map((file) => displayPath(toWrite(decodePath(file))));
  return [`files of that name in this snapshot: ${listSome(shown, MAX_NAMES)}`];
}

/** The nearest other snapshot that has the file. */
async function hintOtherSnapshot(
  git: Git,
  history: readonly Snapshot[],
  { commit }: Snapshot,
  path: string,
): Promise<string[]> {
  if (path.includes('\n')) return []; // each snapshot would take a git of its own
  const own = history.findIndex((snapshot) => snapshot.commit === commit);
  const found = await findObjects(
    git,
    history.map((snapshot) => `${snapshot.commit}:${path}`),
  );
  const numbers = [...history.keys()].filter((n) => found[n]?.type === 'blob');
  const [nearest] = numbers.sort((a, b) => Math.abs(a - own) - Math.abs(b - own));
  if (nearest === undefined) return [];
  const { label } = history[nearest] as Snapshot;
  return [`the nearest snapshot that has it: @{${nearest}}${label === undefined ? '' : ` (${label})`}`];
}
