/**
 * The history of a session for a remote that reads it: every snapshot without ignored files, and without the settings and
 * conversations of the agent. The same history always becomes the same commits, so a later push sends only new ones.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathFromJson } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import { shortOid } from '../git/files/ref-files.ts';
import { commitOid, readCommits, storeObjects } from '../git/objects/commits.ts';
import { readObjects } from '../git/objects/object-reader.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import { fieldsOf, type Git, gitFailed, gitText, runGit } from '../git/run/git.ts';
import { withParents } from '../maintenance/retention/rewrite.ts';
import type { Repository } from '../repository/repository.ts';
import { OWN } from '../snapshot/format.ts';
import { parseSnapshot } from '../snapshot/history.ts';
import { type SnapshotManifest, serializeManifest } from '../snapshot/manifest.ts';
import { decodePath, encodePath } from '../snapshot/tree-names.ts';
import { type Entry, isDirectory, Trees } from './trees.ts';

/** New names by old ones. The new objects are in `scratch`. */
export async function withoutIgnored(
  repository: Repository,
  scratch: ScratchObjects,
  snapshots: Snapshots,
): Promise<ReadonlyMap<string, string>> {
  const { git } = scratch;
  const { commits, trees } = snapshots;
  const manifests = await manifestsOf(git, trees, commits);
  const ruleOf = await rulesOf(scratch, repository, snapshots, manifests);
  const names = new Map<string, string>();
  for (const { commit, raw, tree, parents } of commits) {
    if (tree === undefined) {
      if (parents.some((parent) => names.has(parent))) throw standsOnSnapshot(commit);
      continue;
    }
    const smaller = smallerTree(trees, tree, manifests.get(commit) as SnapshotManifest, ruleOf(commit));
    const text = raw.replace(/^tree \w+/, `tree ${smaller}`);
    const content = withParents(
      text,
      parents.map((parent) => names.get(parent) ?? parent),
      names,
    );
    const name = commitOid(content, commit);
    names.set(commit, name);
    trees.made.set(name, { type: 'commit', content });
  }
  await storeObjects(git, [...trees.made.values()], commits[0]?.commit ?? '');
  return names;
}

export interface Snapshots {
  /** Those before which a commit stands are before it. */
  readonly commits: readonly Listed[];
  readonly trees: Trees;
}

interface Listed {
  readonly commit: string;
  /** One byte per character. */
  readonly raw: string;
  readonly parents: readonly string[];
  /** Undefined: it is no snapshot. */
  readonly tree: string | undefined;
}

/** All commits that `tips` lead to and `known` do not, with the trees of snapshots. */
export async function readSnapshots(git: Git, range: string): Promise<Snapshots> {
  const listed = await gitText(git, ['rev-list', '--topo-order', '--reverse', '--stdin'], { input: range });
  const oids = listed.split('\n').filter((oid) => oid !== '');
  const contents = await readCommits(git, oids);
  const trees = new Trees(git);
  const parsed = oids.map((commit) => {
    const raw = contents.get(commit) ?? '';
    const { isSnapshot, tree, parents } = parseSnapshot(commit, raw);
    return { commit, raw, parents, tree: isSnapshot ? tree : undefined };
  });
  await trees.load(parsed.flatMap(({ tree }) => tree ?? []));
  const commits = parsed.map(({ tree, ...commit }) => {
    const isSnapshot = tree !== undefined && trees.find(tree, OWN.manifest) !== undefined;
    return { ...commit, tree: isSnapshot ? tree : undefined };
  });
  return { commits, trees };
}

function standsOnSnapshot(commit: string): AgtError {
  return new AgtError(`commit ${shortOid(commit)} is on top of a snapshot, so it has the ignored files too`, {
    hints: ['push the session encrypted, without --plain', 'or with the ignored files: --with-ignored'],
  });
}

async function manifestsOf(git: Git, trees: Trees, commits: Snapshots['commits']) {
  const snapshots = commits.filter(({ tree }) => tree !== undefined);
  const oids = snapshots.map(({ tree = '' }) => trees.find(tree, OWN.manifest)?.oid ?? '');
  const found = await readObjects(git, oids);
  return new Map(
    snapshots.map(({ commit }, i) => [
      commit,
      JSON.parse(found[i]?.content.toString() ?? '') as SnapshotManifest,
    ]),
  );
}

/** Of a path in the tree of a snapshot; that of a directory ends with a slash. */
type IsLeftOut = (path: string) => boolean;

interface Rule {
  readonly isLeftOut: IsLeftOut;
  /** What became of trees by it. */
  readonly made: Map<string, string | undefined>;
}

/** By git's own rules: the `.gitignore` files of the snapshot, and the user's. What the index has is not ignored. */
async function rulesOf(
  scratch: ScratchObjects,
  { commonDir }: Repository,
  { commits, trees }: Snapshots,
  manifests: ReadonlyMap<string, SnapshotManifest>,
): Promise<(commit: string) => Rule> {
  const filesBelow = memo((tree: string): string[] =>
    trees.entries(tree).flatMap((entry) => {
      if (isDirectory(entry)) return filesBelow(entry.oid).map((path) => `${entry.name}/${path}`);
      return entry.name === '.gitignore' && entry.mode.startsWith('100') ? [`.gitignore\0${entry.oid}`] : [];
    }),
  );
  const groups = new Map<string, { files: string[]; roots: Set<string>; others: Set<string> }>();
  const ofCommit = new Map<string, readonly [group: string, staged: string]>();
  for (const { commit, tree } of commits) {
    if (tree === undefined) continue;
    const oidOf = (path: string) => trees.find(tree, path)?.oid ?? '';
    const files = filesBelow(oidOf('sandbox'));
    const key = files.join('\n');
    const group = groups.get(key) ?? { files, roots: new Set(), others: new Set() };
    groups.set(key, group);
    group.roots.add(oidOf('sandbox'));
    const { empty_directories = [], skipped = [] } = manifests.get(commit) ?? {};
    for (const path of [...empty_directories, ...skipped.map((one) => one.path)].map(inTree))
      if (path.startsWith('sandbox/'))
        group.others.add(path.slice('sandbox/'.length)).add(`${path.slice('sandbox/'.length)}/`);
    ofCommit.set(commit, [key, `${oidOf(OWN.staged)} ${oidOf(OWN.stages)}`]);
  }
  const ignored = new Map<string, ReadonlySet<string>>();
  for (const [key, { files, roots, others }] of groups)
    ignored.set(key, await askGit(scratch, commonDir, files, [...pathsBelow(trees, roots), ...others]));
  const trackedIn = memo((oids: string) => trackedPaths(trees, oids.split(' ')));
  const rules = memo((key: string): Rule => {
    const end = key.lastIndexOf('\n');
    const [names, tracked] = [ignored.get(key.slice(0, end)), trackedIn(key.slice(end + 1))];
    const isLeftOut = (path: string) => {
      if (!path.startsWith('sandbox/')) return true;
      const below = path.slice('sandbox/'.length);
      return names?.has(below) === true && !tracked.has(decodePath(below));
    };
    return { isLeftOut, made: new Map() };
  });
  return (commit) => rules((ofCommit.get(commit) ?? []).join('\n'));
}

function trackedPaths(trees: Trees, [staged = '', stages = '']: readonly string[]): ReadonlySet<string> {
  return new Set(pathsBelow(trees, new Set([staged, ...trees.entries(stages).map(({ oid }) => oid)])));
}

/** Every file, and every directory with a slash at its end. */
function pathsBelow(trees: Trees, roots: ReadonlySet<string>): string[] {
  const seen = new Set<string>();
  const found = new Set<string>();
  const walk = (tree: string, prefix: string) => {
    const visit = `${tree} ${prefix}`;
    if (seen.has(visit)) return;
    seen.add(visit);
    for (const entry of trees.entries(tree)) {
      const path = prefix + entry.name;
      found.add(isDirectory(entry) ? `${path}/` : path);
      if (isDirectory(entry)) walk(entry.oid, `${path}/`);
    }
  };
  for (const root of roots) walk(root, '');
  return [...found];
}

/** Which of the paths git ignores, in a worktree that has nothing but the files with the rules. */
async function askGit(
  { git, dir }: ScratchObjects,
  commonDir: string,
  files: readonly string[],
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const worktree = join(dir, 'rules');
  const rules = files.map((file) => file.split('\0') as [path: string, oid: string]);
  const contents = await readObjects(
    git,
    rules.map(([, oid]) => oid),
  );
  rmSync(worktree, { recursive: true, force: true });
  for (const [i, [path]] of rules.entries()) {
    const onDisk = (below: string) =>
      Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from(below, 'latin1')]);
    mkdirSync(onDisk(dirname(path)), { recursive: true });
    writeFileSync(onDisk(path), contents[i]?.content ?? '');
  }
  mkdirSync(worktree, { recursive: true });
  const env = { GIT_DIR: commonDir, GIT_WORK_TREE: worktree };
  // A colon at the beginning would be pathspec magic.
  const input = Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1');
  const words = ['check-ignore', '--no-index', '-z', '--stdin'];
  const run = await runGit({ ...git, cwd: worktree }, words, { input, env });
  if (run.exitCode > 1) throw gitFailed(words, run);
  return new Set(fieldsOf(run.stdout).map((path) => path.slice('./'.length)));
}

function memo<T>(make: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const found = known.get(key) ?? make(key);
    known.set(key, found);
    return found;
  };
}

function smallerTree(
  trees: Trees,
  root: string,
  manifest: SnapshotManifest,
  { isLeftOut, made }: Rule,
): string {
  const without = (tree: string, prefix: string): string | undefined => {
    const key = `${tree} ${prefix}`;
    if (made.has(key)) return made.get(key);
    const entries = trees.entries(tree);
    const kept = entries.flatMap((entry) => {
      const path = prefix + entry.name;
      if (!isDirectory(entry)) return isLeftOut(path) ? [] : [entry];
      const oid = without(entry.oid, `${path}/`);
      return oid === undefined ? [] : [{ ...entry, oid }];
    });
    const isSame = kept.length === entries.length && kept.every(({ oid }, i) => oid === entries[i]?.oid);
    const oid = isSame && tree !== '' ? tree : trees.make(kept, root);
    made.set(key, oid);
    return oid;
  };
  const oidOf = (path: string) => trees.find(root, path)?.oid ?? '';
  const sandbox = without(oidOf('sandbox'), 'sandbox/');
  const text = serializeManifest(smallerManifest(trees, { sandbox, root, manifest, isLeftOut }));
  const blob = trees.add({ type: 'blob', content: Buffer.from(text) }, root);
  const isManifest = ({ name }: Entry) => `_/${name}` === OWN.manifest;
  const own = trees.entries(oidOf('_')).map((entry) => (isManifest(entry) ? { ...entry, oid: blob } : entry));
  const entries = trees.entries(root).flatMap((entry) => {
    const oid = { _: trees.make(own, root), sandbox }[entry.name];
    return oid === undefined ? [] : [{ ...entry, oid }];
  });
  return trees.make(entries, root) as string;
}

interface Smaller {
  readonly sandbox: string | undefined;
  readonly root: string;
  readonly manifest: SnapshotManifest;
  readonly isLeftOut: IsLeftOut;
}

/** Without the names of what is left out. The folders beside the sandbox stay, empty. */
function smallerManifest(trees: Trees, { sandbox, root, manifest, isLeftOut }: Smaller): SnapshotManifest {
  const { modes, owners, empty_directories, encoded, skipped } = manifest;
  const tops = ['config', 'xdg', ...(sandbox === undefined ? ['sandbox'] : [])];
  const isThere = (path: string) =>
    trees.find(root, path) !== undefined ||
    empty_directories.some((one) => one === path || one.startsWith(`${path}/`));
  const empty = [
    ...tops.filter(isThere),
    ...empty_directories.filter((path) => !tops.includes(path) && !isLeftOut(`${inTree(path)}/`)),
  ].sort();
  const stays = (path: string) => {
    const [, below = ''] = /^sandbox\/(.*)$/s.exec(inTree(path)) ?? [];
    return (
      ['config', 'xdg', 'sandbox'].includes(path) ||
      (below !== '' && sandbox !== undefined && trees.find(sandbox, below) !== undefined) ||
      empty.some((one) => one === path || one.startsWith(`${path}/`))
    );
  };
  const staying = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).filter(([path]) => stays(path)));
  return {
    ...manifest,
    modes: { ...modes, others: staying(modes.others) },
    ...(owners && { owners: staying(owners) }),
    empty_directories: empty,
    encoded: encoded.filter(stays),
    skipped: skipped.filter(({ path }) => !isLeftOut(inTree(path)) && !isLeftOut(`${inTree(path)}/`)),
  };
}

/** The name that a tree has for a path of a manifest. */
function inTree(path: string): string {
  return encodePath(pathFromJson(path));
}
