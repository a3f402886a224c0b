/** `agt session cat`: one file of a state. */

import { displayPath } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import { gitBytes } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, snapshotRefs } from '../session/record.ts';
import { readHistory, type Snapshot } from '../snapshot/history.ts';
import { findSnapshot } from '../snapshot/resolve-snapshot.ts';
import { decodePath, encodePath } from '../snapshot/tree-names.ts';
import { type Namesakes, pathOfAgent, readNamesakes } from './agent-paths.ts';

/**
 * Object name of the content; of a link, of its target. `spec` is SNAPSHOT:PATH. Both may hold colons: the longest text that names a state is the state.
 * `inFolder` reads a path as the user wrote it. @throws AgtError where there is no such state or file.
 */
export async function findFile(
  repository: Repository,
  record: SessionRecord,
  spec: string,
  now: Date,
  inFolder: (path: string, namesakes: Namesakes) => string,
): Promise<string> {
  const history = await readHistory(repository.git, snapshotRefs(record));
  const { snapshot, path } = await split(repository, record, history, spec, now);
  const namesakes = await readNamesakes(repository.git, [snapshot.commit]);
  const inTree = encodePath(inFolder(path, namesakes));
  const [answer = ''] = await look(repository, [snapshot], inTree);
  const [type, oid = ''] = answer.split(' ');
  if (type === 'blob') return oid;
  const shown = displayPath(pathOfAgent(decodePath(inTree), namesakes));
  const state = `'${spec.slice(0, spec.length - path.length - 1)}'`;
  if (type === 'tree') {
    throw new AgtError(`'${shown}' is a directory in ${state}`, {
      hints: [`it holds: ${await listDirectory(repository, snapshot, inTree)}`],
    });
  }
  throw new AgtError(`no file '${shown}' in ${state}`, {
    hints: [
      ...(await elsewhere(repository, snapshot, inTree, namesakes)),
      ...(await atOtherTimes(repository, history, snapshot, inTree)),
    ],
  });
}

async function split(
  repository: Repository,
  record: SessionRecord,
  history: readonly Snapshot[],
  spec: string,
  now: Date,
): Promise<{ snapshot: Snapshot; path: string }> {
  let reason: unknown;
  for (let at = spec.lastIndexOf(':'); at >= 0; at = at === 0 ? -1 : spec.lastIndexOf(':', at - 1)) {
    try {
      const snapshot = await findSnapshot(
        repository.git,
        snapshotRefs(record),
        history,
        spec.slice(0, at),
        now,
      );
      return { snapshot, path: spec.slice(at + 1) };
    } catch (error) {
      reason = error; // of the shortest, which is the likeliest to be meant
    }
  }
  throw reason;
}

/** `type oid` of a path in each state. */
async function look(repository: Repository, snapshots: readonly Snapshot[], path: string): Promise<string[]> {
  const input = Buffer.from(snapshots.map(({ commit }) => `${commit}:${path}\0`).join(''), 'latin1');
  const args = ['cat-file', '-z', '--batch-check=%(objecttype) %(objectname)'];
  const lines = (await gitBytes(repository.git, args, { input })).toString('latin1');
  // A path with a line break stands in the answer that it is missing; such answers cannot be counted by lines.
  return path.includes('\n') && snapshots.length > 1 ? [] : lines.split('\n');
}

const FEW = 8;

async function listDirectory(repository: Repository, snapshot: Snapshot, path: string): Promise<string> {
  const tree = `${snapshot.commit}:${Buffer.from(path, 'latin1').toString()}`;
  const names = (await listTree(repository.git, tree)).map((entry) => entry.path);
  const shown = names.slice(0, FEW).map((name) => displayPath(decodePath(name)));
  return [...shown, ...(names.length > FEW ? ['…'] : [])].join(', ');
}

/** Files of that name in other directories, then. */
async function elsewhere(
  repository: Repository,
  { commit }: Snapshot,
  path: string,
  namesakes: Namesakes,
): Promise<string[]> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const files = (await listTree(repository.git, commit, { recurse: 'files' })).map((entry) => entry.path);
  const found = files.filter((file) => file.endsWith(`/${name}`) && !file.startsWith('_/'));
  if (found.length === 0) return [];
  const shown = found.slice(0, FEW).map((file) => displayPath(pathOfAgent(decodePath(file), namesakes)));
  return [`of that name there is: ${shown.join(', ')}`];
}

/** The nearest other snapshot that has the file. */
async function atOtherTimes(
  repository: Repository,
  history: readonly Snapshot[],
  snapshot: Snapshot,
  path: string,
): Promise<string[]> {
  const here = history.findIndex(({ commit }) => commit === snapshot.commit);
  const answers = await look(repository, history, path);
  const places = [...history.keys()].filter((n) => answers[n]?.startsWith('blob '));
  const [nearest] = places.sort((a, b) => Math.abs(a - here) - Math.abs(b - here));
  if (nearest === undefined) return [];
  const { label } = history[nearest] as Snapshot;
  return [`it is there in @{${nearest}}${label === undefined ? '' : ` (${label})`}`];
}
