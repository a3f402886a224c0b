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
import { isDirectory, type TreeEntry, Trees } from '../git/objects/trees.ts';
import { fieldsOf, type Git, gitFailed, gitText, runGit } from '../git/run/git.ts';
import { withParents } from '../maintenance/retention/rewrite.ts';
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
  const all = new Set([...files.map(({ path }) => path), ...empty.map((path) => `${inTree(path)}/`)]);
  const paths = [...all].flatMap((path) => belowSandbox(path) ?? []);
  const ruleOf = readRules(trees, (rules) => askGit(scratch, commonDir, rules, paths));
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
  const listed = (await gitText(git, words, { input: range })).split('\n').filter(Boolean);
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
  /** Of a path in the tree of a sandbox; that of a directory ends with a slash. */
  readonly isLeftOut: (path: string) => boolean;
  /** What became of trees by it. */
  readonly made: Map<string, string | undefined>;
}

/**
 * By git's own rules: the `.gitignore` files of the snapshot, and the user's. What the index has is not ignored. `ask` gets
 * the path and the blob of each file, with a zero byte after each.
 */
function readRules(trees: Trees, ask: (rules: string) => Promise<ReadonlySet<string>>) {
  const rulesBelow = new Map<string, readonly string[]>();
  const find = (tree: string): readonly string[] => {
    const found = rulesBelow.get(tree) ?? trees.entries(tree).flatMap(rulesIn);
    rulesBelow.set(tree, found);
    return found;
  };
  const rulesIn = (entry: TreeEntry): string[] => {
    if (isDirectory(entry)) return find(entry.oid).map((path) => `${entry.name}/${path}`);
    return entry.name === '.gitignore' && entry.mode.startsWith('100') ? [`.gitignore\0${entry.oid}`] : [];
  };
  const answers = new Map<string, ReadonlySet<string>>();
  const known = new Map<string, Rule>();
  return async (root: string): Promise<Rule> => {
    const rules = find(trees.find(root, 'sandbox')?.oid ?? '').join('\0');
    const stages = trees.entries(trees.find(root, OWN.stages)?.oid ?? '');
    const index = [trees.find(root, OWN.staged), ...stages].flatMap((entry) => entry?.oid ?? []);
    const ignored = answers.get(rules) ?? (await ask(rules));
    answers.set(rules, ignored);
    const isTracked = (path: string) => index.some((tree) => trees.find(tree, decodePath(path)));
    const isLeftOut = (path: string) => ignored.has(path) && !isTracked(path);
    const rule = known.get(`${rules}\n${index}`) ?? { isLeftOut, made: new Map() };
    known.set(`${rules}\n${index}`, rule);
    return rule;
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
  const input = Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1');
  const words = ['check-ignore', '--no-index', '-z', '--stdin'];
  const run = await runGit({ ...git, cwd: worktree }, words, { input, env });
  if (run.exitCode > 1) throw gitFailed(words, run);
  return new Set(fieldsOf(run.stdout).map((path) => path.slice('./'.length)));
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
  const sandbox = without(trees.find(root, 'sandbox')?.oid ?? '', '');
  const text = serializeManifest(smallerManifest(trees, sandbox, manifest, isLeftOut));
  const blob = trees.add({ type: 'blob', content: Buffer.from(text) }, root);
  const own = trees
    .entries(trees.find(root, '_')?.oid ?? '')
    .map((entry) => (`_/${entry.name}` === OWN.manifest ? { ...entry, oid: blob } : entry));
  const entries = trees.entries(root).flatMap((entry) => {
    const oid = { _: trees.make(own, root), sandbox }[entry.name];
    return oid === undefined ? [] : [{ ...entry, oid }];
  });
  return trees.make(entries, root) as string;
}

/** Without the names of what is left out. The folders beside the sandbox stay, empty. */
function smallerManifest(
  trees: Trees,
  sandbox: string | undefined,
  manifest: SnapshotManifest,
  isLeftOut: Rule['isLeftOut'],
): SnapshotManifest {
  const { modes, owners, empty_directories, encoded } = manifest;
  const emptied = TOP_FOLDERS.filter((top) => top !== 'sandbox' || sandbox === undefined);
  const isKept = (path: string) => {
    const below = belowSandbox(`${inTree(path)}/`);
    return below !== undefined && below !== '' && !isLeftOut(below);
  };
  const empty = [...emptied, ...empty_directories.filter(isKept)].sort();
  const stays = (path: string) => {
    const below = path === 'sandbox' ? '' : belowSandbox(inTree(path));
    const isFile = below !== undefined && trees.find(sandbox ?? '', below) !== undefined;
    return isFile || empty.some((directory) => isUnder(directory, [path]));
  };
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

/** Undefined beside it. */
function belowSandbox(path: string): string | undefined {
  return path.startsWith('sandbox/') ? path.slice('sandbox/'.length) : undefined;
}
