/**
 * `agt session diff`: compares two snapshots of one session or of two, commits, and files on disk. git itself
 * compares and prints, so that colours, pager, renames and exit codes are git's. The command changes nothing
 * in the session and leaves no files.
 */
import { pathFromJson } from '../../disk/path-bytes.ts';
import { type LsTreeEntry, listTree } from '../../git/objects/ls-tree.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees } from '../../git/objects/raw-diff.ts';
import { type ScratchObjects, withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { type Git, gitBytes, gitText, isAncestor, runGitOnTerminal } from '../../git/run/git.ts';
import { withoutDiffPrograms } from '../../git/run/programs.ts';
import { broughtBySyncs } from '../../session/landings.ts';
import type { SessionRecord } from '../../session/record.ts';
import { sandboxHead } from '../../session/sandbox.ts';
import { type Session, startCommit } from '../../session/session.ts';
import { isUnder, TOP_FOLDERS } from '../../snapshot/folders.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata } from '../../snapshot/manifest.ts';
import { parentDirectories } from '../../snapshot/tree.ts';
import { decodeName, decodePath, encodePath } from '../../snapshot/tree-names.ts';
import { baseOfWork, withoutLanding } from '../../survey/base-of-work.ts';
import { landedSource } from '../../survey/merged.ts';
import {
  type AmbiguousFolders,
  FOLDERS_BESIDE_SANDBOX,
  isExclusion,
  type Pathspec,
  readAmbiguousFolders,
  relativeToSandbox,
} from '../session-paths.ts';
import {
  asCheckedOut,
  type ComparedTree,
  gitInSandbox,
  type MetadataDiff,
  metadataDiff,
  treeOfCommit,
  treeOfDisk,
  treeOfStart,
  treeOfWork,
} from './compared-tree.ts';

/**
 * `start`: where the session began. `begun`: the last commit that it has from people, by its start or a sync. `base`: what
 * the next acceptance compares with. `work`: what git would commit.
 */
export type DiffEnd = Snapshot | 'start' | 'begun' | 'base' | 'disk' | 'work';

export interface DiffRequest {
  readonly before: DiffEnd;
  readonly after: DiffEnd;
  /** The session that `after` belongs to, if it is another one. */
  readonly other?: SessionRecord | undefined;
  /** Converts the pathspecs that the user wrote. */
  readonly pathspecs: (ambiguous: AmbiguousFolders) => Pathspec[];
}

/** Results that git does not print. */
interface DiffNotes {
  /** Neither git nor agt finds a difference, in any path. */
  readonly isSame: boolean;
  readonly ambiguous: AmbiguousFolders;
  readonly metadata: readonly MetadataDiff[];
  readonly uncompared: ComparedTree['uncompared'];
}

/** Lets git print the differences. `options` are options of `git diff`. */
export function showDiff(
  session: Session,
  request: DiffRequest,
  options: readonly string[],
): Promise<DiffNotes & { readonly exitCode: number }> {
  return compare(session, request, async (comparison) => {
    const { git, words } = await diffCommand(session, comparison, options);
    return { exitCode: await runGitOnTerminal(git, words) };
  });
}

/** For programs, whatever the user's settings say. */
const PLAIN = ['--no-color', '--no-renames', '--src-prefix=a/', '--dst-prefix=b/', '--submodule=short'];

async function diffCommand(session: Session, comparison: Comparison, options: readonly string[]) {
  const { before, after, ambiguous, pathspecs } = comparison;
  const tops = foldersIn(pathspecs);
  const tree = (end: ComparedTree) => agentTree(comparison.git, end, ambiguous, tops);
  const trees = [await tree(before), await tree(after)];
  // In the sandbox git applies the .gitattributes of the files that it compares.
  const isHere = session.place === 'here';
  const git = isHere ? gitInSandbox(comparison.git, session.repository, session.record) : comparison.git;
  const paths = pathspecs.flatMap((spec) => inAgentTree(spec, ambiguous));
  return { git, words: ['diff', ...withoutDiffPrograms(git), ...options, ...trees, '--', ...paths] };
}

/** Returns the differences as a list; with `patch`, also what git prints of them. */
export function listDiff(
  session: Session,
  request: DiffRequest,
  { patch = false, countLines = false } = {},
): Promise<DiffNotes & { readonly entries: DiffEntry[]; readonly patch: string }> {
  return compare(session, request, async (comparison) => {
    const { git, before, after, pathspecs } = comparison;
    const paths = [
      ...(pathspecs.every(isExclusion) ? TOP_FOLDERS : []),
      ...pathspecs.map(({ magic, path }) => magic + path),
    ];
    const options = { paths, countLines, decodePath };
    const entries = await diffTrees(git, before.tree, after.tree, options);
    const printing = patch ? await diffCommand(session, comparison, PLAIN) : undefined;
    const printed = printing && (await gitBytes(printing.git, printing.words));
    return { entries, patch: printed?.toString() ?? '' };
  });
}

interface Comparison {
  /** Reads and writes scratch objects. */
  readonly git: Git;
  readonly before: ComparedTree;
  readonly after: ComparedTree;
  readonly ambiguous: AmbiguousFolders;
  readonly pathspecs: readonly Pathspec[];
}

/** Prepares both trees, calls `action` and adds the differences that git cannot see. */
function compare<T>(
  session: Session,
  request: DiffRequest,
  action: (comparison: Comparison) => Promise<T>,
): Promise<T & DiffNotes> {
  return withScratchObjects(session.repository, async (scratch) => {
    const { git } = scratch;
    const after = await readEnd(session.with(request.other ?? session.record), scratch, request.after);
    const from = await readEnd(session, scratch, request.before, after);
    const isAsCommitted = request.before === 'begun';
    const before = isAsCommitted ? await asCheckedOut(scratch, session.repository, from, after) : from;
    const ambiguous = await readAmbiguousFolders(git, [before.tree, after.tree]);
    const pathspecs = request.pathspecs(ambiguous);
    const metadata = (await metadataDiff(git, before, after)).filter(({ path }) => isWanted(path, pathspecs));
    const result = await action({ git, before, after, ambiguous, pathspecs });
    const isSame = before.tree === after.tree && metadata.length === 0;
    const uncompared = [...before.uncompared, ...after.uncompared];
    return { ...result, isSame, ambiguous, metadata, uncompared };
  });
}

async function readEnd(
  session: Session,
  scratch: ScratchObjects,
  end: DiffEnd,
  after?: ComparedTree,
): Promise<ComparedTree> {
  if (end === 'disk') return treeOfDisk(session, scratch);
  if (end === 'work') return treeOfWork(session, scratch);
  if (end === 'base') return treeOfCommit(scratch, await landingBase(session, scratch, after));
  if (end === 'start') return treeOfStart(scratch, await startCommit(session));
  if (end === 'begun') return treeOfStart(scratch, await broughtLast(session));
  const metadata = await readSnapshotMetadata(scratch.git, end.commit);
  return { tree: end.commit, metadata, uncompared: [] };
}

async function broughtLast(session: Session): Promise<string> {
  const head = (await session.history())[0]?.head ?? '';
  for (const tip of broughtBySyncs(session.record)) if (await isAncestor(session.git, tip, head)) return tip;
  return startCommit(session);
}

/** What the next acceptance begins from: all that has landed is no difference. */
async function landingBase(session: Session, scratch: ScratchObjects, after?: ComparedTree) {
  const { git } = scratch;
  const { user_branch: onto } = session.record;
  const { commit: head } = await sandboxHead(session);
  const landed = onto && head && (await landedSource(git, session.record, head, { onto, from: onto }));
  const tree = after && (await findObject(git, `${after.tree}:sandbox`));
  const base = await baseOfWork(session, scratch, tree, landed);
  if (onto === undefined || tree === undefined) return base;
  return (await withoutLanding(git, { base, from: onto, tree })) ?? base;
}

/** The folders of the session that the pathspecs may match. */
function foldersIn(pathspecs: readonly Pathspec[]): string[] {
  const included = pathspecs.filter((spec) => !isExclusion(spec));
  if (included.length === 0) return [...TOP_FOLDERS];
  return TOP_FOLDERS.filter((top) => included.some(({ path }) => isUnder(path, [top])));
}

/** agt itself matches only plain pathspecs. If there are others, it reports no difference in metadata. */
function isWanted(path: string, pathspecs: readonly Pathspec[]): boolean {
  if (pathspecs.length === 0) return true;
  if (pathspecs.some((spec) => spec.magic !== '' || /[*?[\\]/.test(spec.path))) return false;
  const paths = pathspecs.map((spec) => Buffer.from(spec.path).toString('latin1'));
  return isUnder(path.replace(/\/$/, ''), paths);
}

/** In agentTree's trees. git refuses `../xdg`, which is outside the repository, but accepts wildcards. */
function inAgentTree({ magic, path }: Pathspec, ambiguous: AmbiguousFolders): string[] {
  if (path === 'sandbox') return [`${magic}.`];
  const shown = relativeToSandbox(path, ambiguous);
  if (!shown.startsWith('../')) return [magic + shown];
  const wildcard = `${magic}[.][.]/${shown.slice('../'.length)}`;
  return [wildcard, `${wildcard}/*`];
}

/**
 * Writes a tree that looks as the agent sees its session: the sandbox's files at the top, the other folders beside them, all
 * names as on disk. No repository may hold some of these names, so `git` writes scratch objects. The tree holds only those
 * of the session's folders that are in `tops`.
 */
async function agentTree(
  git: Git,
  { tree, metadata }: ComparedTree,
  ambiguous: AmbiguousFolders,
  tops: readonly string[],
): Promise<string> {
  const encoded = (metadata?.manifest.encoded ?? []).map((path) => encodePath(pathFromJson(path)));
  const withEncodedNames = new Set(encoded.flatMap(parentDirectories));
  const entries = await listTree(git, tree);
  // Somebody may have put a file in the place of a folder.
  const decoded = async (name: string): Promise<LsTreeEntry | undefined> => {
    const entry = tops.includes(name) ? entries.find(({ path }) => path === name) : undefined;
    if (entry?.type !== 'tree') return entry;
    return { ...entry, oid: await decodeTree(git, entry.oid, name, withEncodedNames) };
  };
  const sandbox = (await decoded('sandbox'))?.oid;
  const [beside, parent]: [string[], string[]] = [[], []];
  for (const name of FOLDERS_BESIDE_SANDBOX) {
    const entry = await decoded(name);
    if (entry !== undefined) (ambiguous.has(name) ? parent : beside).push(mktreeLine(entry));
  }
  if (sandbox !== undefined && beside.length + parent.length === 0) return sandbox;
  const top = [...(sandbox === undefined ? [] : (await listTree(git, sandbox)).map(mktreeLine)), ...beside];
  if (parent.length > 0) top.push(`040000 tree ${await makeTree(git, parent)}\t..`);
  return makeTree(git, top);
}

/** The same tree with names as on disk. Only the directories in `withEncodedNames` have others. */
async function decodeTree(
  git: Git,
  tree: string,
  path: string,
  withEncodedNames: ReadonlySet<string>,
): Promise<string> {
  if (!withEncodedNames.has(path)) return tree;
  const lines: string[] = [];
  for (const entry of await listTree(git, tree)) {
    const { type, oid, path: name } = entry;
    const child = type === 'tree' ? await decodeTree(git, oid, `${path}/${name}`, withEncodedNames) : oid;
    lines.push(mktreeLine({ ...entry, oid: child, path: decodeName(name) }));
  }
  return makeTree(git, lines);
}

function mktreeLine({ mode, type, oid, path }: LsTreeEntry): string {
  return `${mode} ${type} ${oid}\t${path}`;
}

function makeTree(git: Git, lines: readonly string[]): Promise<string> {
  const input = Buffer.from(lines.map((line) => `${line}\0`).join(''), 'latin1');
  return gitText(git, ['mktree', '-z', '--missing'], { input });
}
