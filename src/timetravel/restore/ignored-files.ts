/** How a restore treats the files that git ignores in an attached folder: it deletes none of them. */
import { existsSync } from 'node:fs';
import ignore, { type Ignore } from 'ignore';
import { ignoredFiles, linkedSandbox } from '../../autocommit/observe.ts';
import type { CaptureOptions } from '../../autocommit/request.ts';
import { hasContent } from '../../autocommit/scan/content.ts';
import type { CheckoutPlan, FileToWrite } from '../../checkout/plan.ts';
import { entriesOf } from '../../disk/folder-entries.ts';
import { insideCheck } from '../../disk/is-inside.ts';
import { displayPath, pathFromJson } from '../../disk/path-bytes.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { LINK } from '../../git/modes.ts';
import { findObject, findObjects, readObject } from '../../git/objects/object-reader.ts';
import { inDirectory } from '../../git/run/git.ts';
import { askGitSync } from '../../git/run/run-sync.ts';
import type { Repository } from '../../repository/repository.ts';
import { isAttached, type SessionRecord, sessionFolder } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { OWN } from '../../snapshot/format.ts';
import type { SnapshotManifest } from '../../snapshot/manifest.ts';
import { parentDirectories, readSnapshotTree } from '../../snapshot/tree.ts';
import { captureTarget } from '../../workspace/capture-session.ts';
import { lstatIn } from '../session-paths.ts';

/** For the captures of a restore: agt replaces no file that it has not captured, also if git ignores it by now. */
export type Taking = Pick<CaptureOptions, 'alsoTake'>;

export async function filesToTake({ git, record }: Session, tree: string): Promise<Taking> {
  if (!isAttached(record)) return {};
  return { alsoTake: [...(await readSnapshotTree(git, tree)).keys()] };
}

/** Without them, files that `agt snapshot --ignored` took would look deleted. */
export async function filesOfLast(session: Session): Promise<Taking> {
  const last = await findObject(session.git, tipRef(session.id));
  return last === undefined ? {} : filesToTake(session, last);
}

/**
 * The files that git ignores before a restore to the snapshot `wanted`, or after it, or ignored in a snapshot since.
 * Asked before the restore changes a `.gitignore`. Undefined for other folders than attached ones.
 */
export async function listIgnored(session: Session, wanted: string): Promise<IgnoresFile | undefined> {
  if (!isAttached(session.record)) return undefined;
  const [before, ignoresAfter, since] = await Promise.all([
    ignoredFiles(captureTarget(session), { takesSmall: false }),
    ignoredByRestored(session, wanted),
    ignoredSince(session, wanted),
  ]);
  const isListed = (path: string) =>
    [path, ...parentDirectories(path)].some((part) => since.has(part) || before?.leavesOut(part) === true);
  return (path) => isListed(path) || ignoresAfter(path);
}

/** A rule may be gone by now. An undo that went back in several steps must not delete what a single one leaves. */
async function ignoredSince(session: Session, wanted: string): Promise<ReadonlySet<string>> {
  const { git } = session;
  const history = await session.requireHistory();
  const end = history.findIndex(({ commit }) => commit === wanted);
  const commits = [wanted, ...history.slice(0, Math.max(0, end)).map(({ commit }) => commit)];
  const names = commits.map((commit) => `${commit}:${OWN.manifest}`);
  const blobs = new Set((await findObjects(git, names)).flatMap((object) => object?.oid ?? []));
  const paths = new Set<string>();
  for (const blob of blobs) {
    const { ignored = [] } = JSON.parse((await readObject(git, blob))?.content.toString() ?? '{}') as {
      readonly ignored?: SnapshotManifest['ignored'];
    };
    for (const path of ignored) paths.add(pathFromJson(path));
  }
  return paths;
}

export function keepIgnored(
  plan: CheckoutPlan,
  isIgnored: IgnoresFile | undefined,
  session: Session,
): CheckoutPlan {
  if (isIgnored === undefined) return plan;
  const isThere = (file: FileToWrite) => file.isNew && isIgnored(file.path) && isAsWanted(session, file);
  return {
    ...plan,
    deletions: plan.deletions.filter((path) => !isIgnored(path)),
    writes: plan.writes.filter((file) => !isThere(file)),
  };
}

/** An undo has left it, and no snapshot since has it. */
function isAsWanted({ record, folder }: Session, { path, oid, kind, bits }: FileToWrite): boolean {
  const stat = lstatIn(record, path);
  const isKind = kind === 'link' ? stat?.isSymbolicLink() : stat?.isFile() && (stat.mode & 0o7777) === bits;
  const top = Buffer.from(folder).toString('latin1');
  return isKind === true && hasContent(`${top}/${path}`, oid, insideCheck(top, linkedSandbox(record)));
}

/** The plan, with paths that cannot be written among the blocked ones. */
export function withObstructed(record: SessionRecord, plan: CheckoutPlan): CheckoutPlan {
  const going = new Set(plan.deletions);
  const paths = plan.writes.map(({ path }) => path);
  const blocked = new Set(paths.filter((path) => isObstructed(record, path, going)));
  return {
    ...plan,
    writes: plan.writes.filter(({ path }) => !blocked.has(path)),
    blocked: [...plan.blocked, ...blocked],
  };
}

/** `going`: the files that the restore deletes. The first parent is the sandbox, which is a link. */
function isObstructed(record: SessionRecord, path: string, going: ReadonlySet<string>): boolean {
  const isStayingFile = (above: string) =>
    lstatIn(record, above)?.isDirectory() === false && !going.has(above);
  const isBelowFile = parentDirectories(path).some((above) => above.includes('/') && isStayingFile(above));
  return isBelowFile || (lstatIn(record, path)?.isDirectory() === true && holdsStaying(record, path, going));
}

function holdsStaying(record: SessionRecord, directory: string, going: ReadonlySet<string>): boolean {
  const folder = Buffer.from(sessionFolder(record)).toString('latin1');
  return entriesOf(`${folder}/${directory}`).some((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? holdsStaying(record, path, going) : !going.has(path);
  });
}

const NAME = '/.gitignore';
const INCLUDE = 'sandbox/.worktreeinclude';

/** `path` is relative to the session folder, one byte per character. */
export type IgnoresFile = (path: string) => boolean;

/** It counts the rules of each repository in the folder for that repository alone, and no tracked file as ignored. */
async function ignoredByRestored({ repository, record }: Session, commit: string): Promise<IgnoresFile> {
  const { git } = repository;
  const files = await readSnapshotTree(git, commit);
  const textOf = async (oid: string) => (await readObject(git, oid))?.content.toString() ?? '';
  const rulesOf = new Map<string, Rules>();
  for (const [path, { oid, mode }] of files) {
    if (mode === LINK || !path.endsWith(NAME)) continue;
    const directory = path.slice(0, -NAME.length);
    rulesOf.set(directory, { matcher: matcherOf(await textOf(oid)), below: `${directory}/` });
  }
  if (rulesOf.size === 0) return () => false;
  const top = record.checkout ?? record.sandbox;
  const include = gitDirOf(top) === undefined ? undefined : files.get(INCLUDE);
  const included =
    include && new Map([['sandbox', { matcher: matcherOf(await textOf(include.oid)), below: 'sandbox/' }]]);
  const tracked = new Map<string, ReadonlySet<string>>();
  const isTracked = (root: string, path: string): boolean => {
    const listed = tracked.get(root) ?? trackedFiles(repository, onDisk(top, root));
    tracked.set(root, listed);
    return listed.has(path.slice(root.length + 1));
  };
  const isRepository = (directory: string) => existsSync(`${onDisk(top, directory)}/.git`);
  return (path) => {
    const root = matchingRoot(path, rulesOf, isRepository);
    if (root === undefined || isTracked(root, path)) return false;
    return included === undefined || matchingRoot(path, included, () => false) === undefined;
  };
}

/** The repository whose rules name a file, or a directory above it. Undefined if none does. */
function matchingRoot(
  path: string,
  rulesOf: ReadonlyMap<string, Rules>,
  isRepository: (directory: string) => boolean,
): string | undefined {
  let root = '';
  let rules: Rules[] = [];
  for (const directory of parentDirectories(path).reverse()) {
    if (isIgnored(directory, true, rules)) return root;
    if (root === '' || isRepository(directory)) {
      root = directory;
      rules = [];
    }
    const own = rulesOf.get(directory);
    if (own !== undefined) rules = [own, ...rules];
  }
  return isIgnored(path, false, rules) ? root : undefined;
}

function trackedFiles({ git }: Repository, root: string): ReadonlySet<string> {
  if (gitDirOf(root) === undefined) return new Set();
  const listed = askGitSync(inDirectory(git, root), ['ls-files', '-z']);
  return new Set(listed?.toString('latin1').split('\0'));
}

/** As Node has it. */
function onDisk(top: string, path: string): string {
  return `${top}${Buffer.from(path.slice('sandbox'.length), 'latin1').toString()}`;
}

/** The patterns of a `.gitignore` file, read as gitignore(5) says. */
interface Rules {
  readonly matcher: Ignore;
  /** The directory that the patterns are relative to, with a slash at its end; empty at the top. */
  readonly below: string;
}

/** Without `core.ignoreCase`. */
function matcherOf(text: string): Ignore {
  return ignore({ ignorecase: false, allowRelativePaths: true }).add(text);
}

/** `rules`: the deepest first. Ask about a directory before its entries. */
function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  for (const { matcher, below } of rules) {
    const name = displayPath(path.slice(below.length)) + (isDirectory ? '/' : '');
    const { ignored, unignored } = matcher.test(name);
    if (ignored || unignored) return ignored;
  }
  return false;
}
