/**
 * The history of a session for a remote that reads it: every snapshot without ignored files, and without the settings and
 * conversations of the agent. The same history always becomes the same commits, so a later push sends only new ones.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathFromJson } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import { shortOid } from '../git/files/ref-files.ts';
import { readCommits, storeObjects } from '../git/objects/commits.ts';
import { readObjects } from '../git/objects/object-reader.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import { fieldsOf, type Git, gitFailed, gitText, runGit } from '../git/run/git.ts';
import { withParents } from '../maintenance/retention/rewrite.ts';
import type { Repository } from '../repository/repository.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { OWN } from '../snapshot/format.ts';
import { parseSnapshot } from '../snapshot/history.ts';
import { type SnapshotManifest, serializeManifest } from '../snapshot/manifest.ts';
import { decodePath, encodePath } from '../snapshot/tree-names.ts';
import { type Entry, isDirectory, Trees } from './trees.ts';

/** New names by old ones. The new objects are in `scratch`. */
export async function withoutIgnored(
  repository: Repository,
  scratch: ScratchObjects,
  { commits, trees }: Snapshots,
): Promise<ReadonlyMap<string, string>> {
  const { git } = scratch;
  const blobs = await readObjects(
    git,
    commits.flatMap(({ manifest }) => manifest ?? []),
  );
  const manifests: Manifests = new Map(
    blobs.map((blob) => [blob?.oid, JSON.parse(String(blob?.content)) as SnapshotManifest]),
  );
  const ruleOf = await rulesOf(scratch, repository, { commits, trees }, manifests);
  const names = new Map<string, string>();
  for (const { commit, raw, tree, parents, manifest } of commits) {
    const known = manifests.get(manifest);
    if (known === undefined) {
      if (parents.some((parent) => names.has(parent))) throw standsOnSnapshot(commit);
      continue;
    }
    const text = raw.replace(/^tree \w+/, `tree ${smallerTree(trees, tree, known, ruleOf(tree))}`);
    const renamed = parents.map((parent) => names.get(parent) ?? parent);
    names.set(commit, trees.add({ type: 'commit', content: withParents(text, renamed, names) }, commit));
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
  readonly tree: string;
  /** The blob; undefined: it is no snapshot. */
  readonly manifest: string | undefined;
}

type Manifests = ReadonlyMap<string | undefined, SnapshotManifest>;

/** All commits that `tips` lead to and `known` do not, with the trees of snapshots. */
export async function readSnapshots(git: Git, range: string): Promise<Snapshots> {
  const listed = await gitText(git, ['rev-list', '--topo-order', '--reverse', '--stdin'], { input: range });
  const contents = await readCommits(
    git,
    listed.split('\n').filter((oid) => oid !== ''),
  );
  const parsed = [...contents].map(([commit, raw]) => ({ ...parseSnapshot(commit, raw), commit, raw }));
  const trees = new Trees(git);
  await trees.load(parsed.flatMap(({ isSnapshot, tree }) => (isSnapshot ? tree : [])));
  const manifestIn = (tree: string) => trees.find(tree, OWN.manifest)?.oid;
  const commits = parsed.map((one) => ({
    ...one,
    manifest: one.isSnapshot ? manifestIn(one.tree) : undefined,
  }));
  return { commits, trees };
}

function standsOnSnapshot(commit: string): AgtError {
  return new AgtError(`commit ${shortOid(commit)} is on top of a snapshot, so it has the ignored files too`, {
    hints: ['push the session encrypted, without --plain', 'or with the ignored files: --with-ignored'],
  });
}

interface Rule {
  /** Of a path in the tree of a snapshot; that of a directory ends with a slash. */
  readonly isLeftOut: (path: string) => boolean;
  /** What became of trees by it. */
  readonly made: Map<string, string | undefined>;
}

/** By git's own rules: the `.gitignore` files of the snapshot, and the user's. What the index has is not ignored. */
async function rulesOf(
  scratch: ScratchObjects,
  { commonDir }: Repository,
  { commits, trees }: Snapshots,
  manifests: Manifests,
): Promise<(root: string) => Rule> {
  const oidOf = (tree: string, path: string) => trees.find(tree, path)?.oid ?? '';
  const filesBelow = memo((tree: string): string[] =>
    trees.entries(tree).flatMap((entry) => {
      if (isDirectory(entry)) return filesBelow(entry.oid).map((path) => `${entry.name}/${path}`);
      return entry.name === '.gitignore' && entry.mode.startsWith('100') ? [`.gitignore\0${entry.oid}`] : [];
    }),
  );
  const filesOf = (root: string) => filesBelow(oidOf(root, 'sandbox')).join('\0');
  const groups = new Map<string, { sandboxes: Set<string>; others: Set<string> }>();
  for (const { tree, manifest } of commits) {
    if (manifest === undefined) continue;
    const group = groups.get(filesOf(tree)) ?? { sandboxes: new Set(), others: new Set() };
    groups.set(filesOf(tree), group);
    group.sandboxes.add(oidOf(tree, 'sandbox'));
    const { empty_directories = [], skipped = [] } = manifests.get(manifest) ?? {};
    for (const path of [...empty_directories, ...skipped.map((one) => one.path)].map(inTree)) {
      const below = inSandbox(path);
      if (below !== undefined) group.others.add(below).add(`${below}/`);
    }
  }
  const ignored = new Map<string, ReadonlySet<string>>();
  for (const [files, { sandboxes, others }] of groups)
    ignored.set(files, await askGit(scratch, commonDir, files, [...pathsBelow(trees, sandboxes), ...others]));
  const trackedIn = memo((oids: string) => pathsBelow(trees, oids.split(' ')));
  const rules = memo((key: string): Rule => {
    const end = key.lastIndexOf('\n');
    const [names, tracked] = [ignored.get(key.slice(0, end)), trackedIn(key.slice(end + 1))];
    const isLeftOut = (path: string) => {
      const below = inSandbox(path);
      return below === undefined || (names?.has(below) === true && !tracked.has(decodePath(below)));
    };
    return { isLeftOut, made: new Map() };
  });
  return (root) => {
    const stages = trees.entries(oidOf(root, OWN.stages)).map(({ oid }) => oid);
    return rules(`${filesOf(root)}\n${[oidOf(root, OWN.staged), ...stages].join(' ')}`);
  };
}

/** Undefined beside it. */
function inSandbox(path: string): string | undefined {
  return /^sandbox\/(.*)$/s.exec(path)?.[1];
}

/** Every file, and every directory with a slash at its end. */
function pathsBelow(trees: Trees, roots: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [path, entry] of trees.below(roots)) found.add(isDirectory(entry) ? `${path}/` : path);
  return found;
}

/** Which of the paths git ignores, in a worktree that has nothing but the files with the rules. */
async function askGit(
  { git, dir }: ScratchObjects,
  commonDir: string,
  files: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const worktree = join(dir, 'rules');
  const rules = [...files.matchAll(/([^\0]+)\0(\w+)/g)].map(([, path = '', oid = '']) => ({ path, oid }));
  const contents = await readObjects(
    git,
    rules.map(({ oid }) => oid),
  );
  rmSync(worktree, { recursive: true, force: true });
  for (const [i, { path }] of rules.entries()) {
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

function smallerTree(trees: Trees, root: string, manifest: SnapshotManifest, rule: Rule): string {
  const { isLeftOut, made } = rule;
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
  const text = serializeManifest(smallerManifest(trees, root, sandbox, manifest, rule));
  const blob = trees.add({ type: 'blob', content: Buffer.from(text) }, root);
  const isManifest = ({ name }: Entry) => `_/${name}` === OWN.manifest;
  const own = trees.entries(oidOf('_')).map((entry) => (isManifest(entry) ? { ...entry, oid: blob } : entry));
  const entries = trees.entries(root).flatMap((entry) => {
    const oid = { _: trees.make(own, root), sandbox }[entry.name];
    return oid === undefined ? [] : [{ ...entry, oid }];
  });
  return trees.make(entries, root) as string;
}

/** Without the names of what is left out. The folders beside the sandbox stay, empty. */
function smallerManifest(
  trees: Trees,
  root: string,
  sandbox: string | undefined,
  manifest: SnapshotManifest,
  { isLeftOut }: Rule,
): SnapshotManifest {
  const { modes, owners, empty_directories, encoded, skipped } = manifest;
  const tops = TOP_FOLDERS.filter((path) => path !== 'sandbox' || sandbox === undefined);
  const isIn = (all: readonly string[], path: string) =>
    all.some((one) => one === path || one.startsWith(`${path}/`));
  const empty = [
    ...tops.filter((path) => trees.find(root, path) !== undefined || isIn(empty_directories, path)),
    ...empty_directories.filter((path) => !tops.includes(path) && !isLeftOut(`${inTree(path)}/`)),
  ].sort();
  const stays = (path: string) => {
    const below = TOP_FOLDERS.includes(path) ? '' : inSandbox(inTree(path));
    return (below !== undefined && trees.find(sandbox ?? '', below) !== undefined) || isIn(empty, path);
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
