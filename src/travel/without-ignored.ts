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
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import { isDirectory, Trees } from '../git/objects/trees.ts';
import { fieldsOf, type Git, gitFailed, gitLines, runGit } from '../git/run/git.ts';
import { withParents } from '../maintenance/retention/rewrite.ts';
import { onceForEach } from '../once.ts';
import { isUnder, TOP_FOLDERS } from '../snapshot/folders.ts';
import { OWN } from '../snapshot/format.ts';
import { parseSnapshot } from '../snapshot/history.ts';
import { type SnapshotManifest, serializeManifest } from '../snapshot/manifest.ts';
import { decodePath, encodePath } from '../snapshot/tree-names.ts';

/**
 * New names by old ones, of the commits that `range` has, which is lines for git rev-list. `files`: all that they have.
 * The new objects are in `scratch`, and `commonDir` is the repository.
 */
export async function withoutIgnored(
  scratch: ScratchObjects,
  commonDir: string,
  range: string,
  files: readonly Pick<DiffEntry, 'path'>[],
): Promise<ReadonlyMap<string, string>> {
  const { git } = scratch;
  const moments = await readMoments(git, range);
  const trees = new Trees();
  const roots = moments.flatMap(({ tree, manifest }) => (manifest === undefined ? [] : tree));
  await trees.load(git, roots);
  const empty = moments.flatMap(({ manifest }) => manifest?.empty_directories ?? []);
  const paths = new Set([...files.map(({ path }) => path), ...empty.map((path) => `${inTree(path)}/`)]);
  const ruleOf = readRules(trees, (rules) => askGit(scratch, commonDir, rules, [...paths]));
  const names = new Map<string, string>();
  for (const { commit, raw, tree, parents, manifest } of moments) {
    if (manifest === undefined) {
      if (parents.some((parent) => names.has(parent))) throw standsOnSnapshot(commit);
      continue;
    }
    const text = raw.replace(/^tree \w+/, `tree ${smallerTree(trees, tree, manifest, await ruleOf(tree))}`);
    const renamed = parents.map((parent) => names.get(parent) ?? parent);
    names.set(commit, trees.add({ type: 'commit', content: withParents(text, renamed, names) }, commit));
  }
  await storeObjects(git, [...trees.made.values()], moments[0]?.commit ?? '');
  return names;
}

/** Those on which a commit stands are before it. `raw`: one byte per character. A commit without manifest is no snapshot. */
async function readMoments(git: Git, range: string) {
  const words = ['rev-list', '--topo-order', '--reverse', '--stdin'];
  const listed = await gitLines(git, words, { input: range });
  const contents = await readCommits(git, listed);
  const names = listed.map((commit) => `${commit}:${OWN.manifest}`);
  const manifests = await readObjects(git, names);
  return listed.map((commit, i) => {
    const raw = contents.get(commit) ?? '';
    const { isSnapshot, tree, parents } = parseSnapshot(commit, raw);
    const content = isSnapshot ? manifests[i]?.content : undefined;
    const manifest = content && (JSON.parse(String(content)) as SnapshotManifest);
    return { commit, raw, parents, tree, manifest };
  });
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

const SANDBOX = 'sandbox/';

/**
 * By git's own rules: the `.gitignore` files of the snapshot, and the user's. What the index has is not ignored. `ask` gets
 * the path and the blob of each file, with a zero byte after each.
 */
function readRules(trees: Trees, ask: (rules: string) => Promise<ReadonlySet<string>>) {
  const rulesIn = onceForEach((tree: string): readonly string[] =>
    trees.entries(tree).flatMap((entry) => {
      if (isDirectory(entry)) return rulesIn(entry.oid).map((path) => `${entry.name}/${path}`);
      const isRule = entry.name === '.gitignore' && entry.mode.startsWith('100');
      return isRule ? [`.gitignore\0${entry.oid}`] : [];
    }),
  );
  const ignoredBy = onceForEach(ask);
  const madeBy = onceForEach((_rulesAndIndex: string): Rule['made'] => new Map());
  return async (root: string): Promise<Rule> => {
    const rules = rulesIn(trees.find(root, 'sandbox')?.oid ?? '').join('\0');
    const stages = trees.entries(trees.find(root, OWN.stages)?.oid ?? '');
    const index = [trees.find(root, OWN.staged), ...stages].flatMap((entry) => entry?.oid ?? []);
    const ignored = await ignoredBy(rules);
    const isTracked = (path: string) => index.some((tree) => trees.find(tree, decodePath(path)));
    // Beside the sandbox, only what agt itself records is sent.
    const isLeftOut = (path: string) =>
      path.startsWith(SANDBOX)
        ? ignored.has(path) && !isTracked(path.slice(SANDBOX.length))
        : !path.startsWith('_/');
    return { isLeftOut, made: madeBy(`${rules}\n${index}`) };
  };
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
  const oids = rules.map(({ oid }) => oid);
  const contents = await readObjects(git, oids);
  rmSync(worktree, { recursive: true, force: true });
  mkdirSync(worktree);
  for (const [i, { path }] of rules.entries()) {
    const onDisk = (below: string) =>
      Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from(below, 'latin1')]);
    mkdirSync(onDisk(dirname(path)), { recursive: true });
    writeFileSync(onDisk(path), contents[i]?.content ?? '');
  }
  const env = { GIT_DIR: commonDir, GIT_WORK_TREE: worktree };
  // A colon at the beginning would be pathspec magic.
  const asked = paths.filter((path) => path.startsWith(SANDBOX)).map((path) => path.replace(SANDBOX, './'));
  const input = Buffer.from(asked.map((path) => `${path}\0`).join(''), 'latin1');
  const words = ['check-ignore', '--no-index', '-z', '--stdin'];
  const run = await runGit({ ...git, cwd: worktree }, words, { input, env });
  if (run.exitCode > 1) throw gitFailed(words, run);
  return new Set(fieldsOf(run.stdout).map((path) => path.replace('./', SANDBOX)));
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
    const oid = isSame ? tree : trees.make(kept, root);
    made.set(key, oid);
    return oid;
  };
  const smaller = without(root, '') ?? '';
  const text = serializeManifest(smallerManifest(trees, smaller, manifest, isLeftOut));
  const blob = trees.add({ type: 'blob', content: Buffer.from(text) }, root);
  const replace = (tree: string, path: string, oid: string) =>
    trees.make(
      trees.entries(tree).map((entry) => (entry.name === path ? { ...entry, oid } : entry)),
      root,
    ) as string;
  const [folder = '', name = ''] = OWN.manifest.split('/');
  return replace(smaller, folder, replace(trees.find(smaller, folder)?.oid ?? '', name, blob));
}

/** Without the names of what is left out. The folders beside the sandbox stay, empty. */
function smallerManifest(
  trees: Trees,
  smaller: string,
  manifest: SnapshotManifest,
  isLeftOut: Rule['isLeftOut'],
): SnapshotManifest {
  const { modes, owners, empty_directories, encoded } = manifest;
  const emptied = TOP_FOLDERS.filter((top) => trees.find(smaller, top) === undefined);
  const inside = empty_directories.filter((path) => !TOP_FOLDERS.includes(path));
  const empty = [...emptied, ...inside.filter((path) => !isLeftOut(`${inTree(path)}/`))].sort();
  const stays = (path: string) =>
    trees.find(smaller, inTree(path)) !== undefined || empty.some((directory) => isUnder(directory, [path]));
  const staying = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).filter(([path]) => stays(path)));
  return {
    ...manifest,
    modes: { ...modes, others: staying(modes.others) },
    ...(owners && { owners: staying(owners) }),
    empty_directories: empty,
    encoded: encoded.filter(stays),
    skipped: [],
  };
}

/** The name that a tree has for a path of a manifest. */
function inTree(path: string): string {
  return encodePath(pathFromJson(path));
}
