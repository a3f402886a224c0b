/**
 * `git blame`, and for each line that an agent's session or the snapshots of a folder know of, the step that it comes
 * from. The message of a commit names the session that it came from; a commit that was rewritten since is compared with
 * the one that agt made.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { realPath } from '../../disk/real-path.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { asLines, type Git, gitAnswer, gitLines, gitText, resolveObject } from '../../git/run/git.ts';
import { once } from '../../once.ts';
import type { Repository } from '../../repository/repository.ts';
import { idProblem, type SessionId } from '../../session/id.ts';
import type { Session } from '../../session/session.ts';
import { type AuthoredStep, readAuthors } from '../turns.ts';
import { type FolderWork, readFolderWork } from './folder-work.ts';
import { type Note, note, noteByMaps, noteByMerges } from './lines-of-maps.ts';
import { type LineOfSession, type Place, type StepsOfLines, withStepsOfLines } from './lines-of-session.ts';
import { filesBeside, type IsBeside } from './made-commits.ts';
import { allMaps, mergedMaps, rewrittenMaps } from './maps-by-commit.ts';
import { type Origin, originOf, withPrompts } from './origin.ts';
import { asInWorktree, type BlamedLine, gitBlame, NOT_COMMITTED } from './porcelain.ts';
import { blameUnknown, isUnknown } from './unknown-file.ts';
import { readWorkBranches, startOf, type WorkBranches } from './work-branches.ts';

export interface AuthoredLine extends BlamedLine {
  /** Undefined if agt knows nothing of the line that git does not say. */
  readonly origin: Origin | undefined;
}

export interface BlameRequest {
  /** In the current directory. */
  readonly git: Git;
  readonly repository: Repository;
  /** The session in whose sandbox that is, or the folder that agt takes snapshots of. */
  readonly here: { readonly session?: Session | undefined; readonly folder?: Session | undefined };
  readonly file: string;
  readonly revision: string | undefined;
  /** Options of git that change where a line comes from. */
  readonly options: readonly string[];
  /** Those that choose lines: -L. */
  readonly choice: readonly string[];
}

type Maps = ReturnType<typeof readMaps>;

/** They need no line, so git reads them while it looks for the lines. */
function readMaps({ git, repository, revision = 'HEAD' }: BlameRequest) {
  const all = allMaps(repository.git);
  const tip = resolveObject(git, `${revision}^{commit}`);
  const rewritten = all.then(async (maps) => rewrittenMaps(git, await tip, maps));
  const merged = all.then((maps) => mergedMaps(repository.git, maps));
  const branches = tip.then((commit) => readWorkBranches(repository, commit));
  Promise.allSettled([rewritten, merged, branches]); // if git refuses the file, nobody waits for them
  return { all, rewritten, merged, branches };
}

export async function blameFile(asked: BlameRequest): Promise<AuthoredLine[]> {
  const { git, here, file, revision, options, choice } = asked;
  const words = [...options, ...choice, ...(revision === undefined ? [] : [revision])];
  const blamed = gitBlame(git, words, Buffer.from(file).toString('latin1'));
  const request = { ...asked, maps: readMaps(asked) };
  const own = here.session ?? here.folder;
  const lines = await blamed.catch(async (error: unknown) => {
    if (own === undefined || revision !== undefined || !(await isUnknown(git, file))) throw error;
    return blameUnknown(request.repository, await fileNow(request), choice);
  });
  const origins = new Map<BlamedLine, Origin>();
  const since = here.session && (await sinceStart(request, here.session));
  const landed = lines.filter(({ commit }) => since?.landed.has(commit) === true);
  await noteCommits(request, landed, origins);
  const ofHere = lines.filter(
    (line) => !origins.has(line) && (NOT_COMMITTED.test(line.commit) || since?.all.has(line.commit) === true),
  );
  if (own !== undefined && ofHere.length > 0) {
    const file = { ...(await fileNow(request)), options };
    const history = await readAuthors(own);
    const place = here.session && (await placeOf(request, here.session));
    const found = await withStepsOfLines(own, history, (stepsOfLines) => stepsOfLines(file), place);
    await noteFound(request, ofHere, ({ number }) => found[number - 1], origins);
  }
  const known = new Set([...landed, ...ofHere]);
  const others = lines.filter((line) => !known.has(line));
  await noteCommits(request, others, origins);
  const withPrompt = await withPrompts(request.repository, origins.values());
  return lines.map((line) => {
    const origin = origins.get(line);
    return { ...line, origin: origin && withPrompt(origin) };
  });
}

/** Lines by the steps that they come from, or by commits of the branch. */
async function noteFound(
  request: BlameRequest & { readonly maps: Maps },
  lines: readonly BlamedLine[],
  foundFor: (line: BlamedLine) => LineOfSession | undefined,
  origins: Note,
) {
  note(origins, lines, (line) => originOf(foundFor(line)?.step));
  const landed = new Map(lines.map((line) => [line, foundFor(line)?.landed]));
  const ofLanded: Note = new Map();
  const ofBranch = [...landed.values()].filter((line) => line !== undefined);
  await noteCommits(request, ofBranch, ofLanded);
  note(origins, lines, (line) => ofLanded.get(landed.get(line) as BlamedLine));
}

/** The commits of a sandbox since its session began; `landed`: those that a sync may have brought from the branch. */
async function sinceStart({ git, revision = 'HEAD' }: BlameRequest, session: Session) {
  const list = async (...ends: string[]) => {
    const listed = await gitAnswer(git, ['rev-list', revision, ...ends.map((end) => `^${end}`), '--']);
    return new Set(listed?.split('\n') ?? []);
  };
  const { user_branch } = session.record;
  const start = await startOf(session);
  const all = await list(start);
  const own = user_branch === undefined || all.size === 0 ? all : await list(start, user_branch);
  return { all, landed: all.difference(own) };
}

async function placeOf({ git, revision = 'HEAD' }: BlameRequest, { record }: Session): Promise<Place> {
  const { user_branch: branch } = record;
  return { head: await resolveObject(git, revision), branch: branch && (await resolveObject(git, branch)) };
}

/** The file in the version that is asked for, as a worktree has it. */
async function fileNow({ git, file, revision, here }: BlameRequest) {
  const absolute = resolve(git.cwd, file);
  const top =
    (await gitAnswer(git, ['rev-parse', '--show-toplevel'])) ?? here.folder?.record.checkout ?? git.cwd;
  // Links on the disk are none of a commit's.
  const real =
    revision !== undefined && !isAbsolute(file)
      ? resolve(realPath(git.cwd), file)
      : join(realPath(resolve(absolute, '..')), basename(absolute));
  const path = Buffer.from(relative(realPath(top), real));
  const name = path.toString('latin1');
  const folder = Buffer.from(top).toString('latin1');
  const content =
    revision === undefined
      ? readFileSync(absolute)
      : await asInWorktree(git, `${revision}:${path.toString()}`, name);
  const inFolder: IsBeside = (one) => existsSync(Buffer.from(`${folder}/${one}`, 'latin1'));
  const beside = async () => (revision === undefined ? inFolder : filesBeside(git, revision));
  return { path: name, content, beside };
}

/** Lines of commits of the user: those that came from sessions, and those that were written in a folder with snapshots. */
async function noteCommits(
  request: BlameRequest & { readonly maps: Maps },
  lines: readonly BlamedLine[],
  origins: Note,
) {
  const { repository, maps } = request;
  const commits = Map.groupBy(lines, ({ commit }) => commit);
  if (commits.size === 0) return;
  const all = await maps.all;
  const named = await sessionsNamedBy(repository.git, [...commits.keys()]);
  const { folder } = request.here;
  const work = folder && (await readFolderWork(request.git, folder));
  const noteEach = async (stepsOfLines?: StepsOfLines) => {
    for (const [commit, lines] of commits) {
      const sessions = named.get(commit) ?? [];
      const ofSessions = all.filter(({ sessionThen }) => sessions.includes(sessionThen as SessionId));
      const isExact = ofSessions.some((map) => map.landed === commit);
      const merges = isExact ? [] : ((await maps.merged).get(commit) ?? []);
      const others = isExact || merges.length > 0 ? [] : ((await maps.rewritten).get(commit) ?? []);
      const candidates = [...new Map([...ofSessions, ...others].map((map) => [map.landed, map])).values()];
      const left = () => lines.filter((line) => !origins.has(line));
      if (merges.length > 0) await noteByMerges(request, commit, lines, merges, origins);
      else if (candidates.length > 0) await noteByMaps(request, commit, lines, candidates, origins);
      if (sessions.length === 0) await noteByBranches(request, left(), await maps.branches, origins);
      // The user may have dropped an acceptance, and written this commit since. A session may have begun with lines of
      // the folder.
      const open = isExact ? lines.filter((line) => origins.get(line)?.turn === undefined) : left();
      if (work && stepsOfLines && (isExact || sessions.length === 0))
        await noteByFolder(request, work, stepsOfLines, open, origins);
    }
  };
  await (work === undefined ? noteEach() : withStepsOfLines(work.session, work.history, noteEach));
}

/** Lines that came from commits which the branch, now at `tip`, has lost, as by `agt unaccept`. */
export async function originsOfLost(repository: Repository, tip: string, lines: readonly LineOfSession[]) {
  const { git } = repository;
  const origins: Note = new Map();
  const landed = lines.flatMap((line) => line.landed ?? []);
  const commits = [...new Set(landed.map(({ commit }) => commit))];
  const words = ['rev-list', '--ignore-missing', ...commits, '--not', tip, '--'];
  const lost = new Set(commits.length === 0 ? [] : await gitLines(git, words));
  const request = { git, repository, here: {}, file: '', revision: tip, options: [], choice: [] };
  const gone = landed.filter(({ commit }) => lost.has(commit));
  if (gone.length > 0) await noteCommits({ ...request, maps: readMaps(request) }, gone, origins);
  return ({ landed }: LineOfSession) => landed && origins.get(landed);
}

/** By the commits whose messages name any. */
async function sessionsNamedBy(git: Git, commits: readonly string[]): Promise<Map<string, SessionId[]>> {
  const words = ['log', '--no-walk=unsorted', '--stdin', '--no-show-signature', '-z', '--format=%H%n%B'];
  const input = asLines(commits);
  const found = await gitText(git, [...words, '--fixed-strings', '--grep=Agt-Session: '], { input });
  const messages = found.split('\0').filter((message) => message !== '');
  return new Map(
    messages.map((message) => {
      const ids = [...message.matchAll(/^\s*Agt-Session: (\S+)$/gm)].map(([, id = '']) => id);
      const sessions = [...new Set(ids)].filter((id) => idProblem(id) === undefined);
      return [message.slice(0, message.indexOf('\n')), sessions as SessionId[]];
    }),
  );
}

/** People have merged, copied or squashed the commits of an agent by themselves. */
async function noteByBranches(
  request: BlameRequest,
  lines: readonly BlamedLine[],
  workOf: WorkBranches,
  origins: Note,
) {
  for (const ofFile of Map.groupBy(lines, (line) => line.path).values())
    for await (const { session, history, step } of workOf(ofFile[0] as BlamedLine)) {
      const left = ofFile.filter((line) => !origins.has(line));
      if (left.length === 0) break;
      await withStepsOfLines(session, history, (stepsOfLines) =>
        noteByHistory(request, stepsOfLines, [step], left, origins),
      );
    }
}

async function noteByHistory(
  { git, options }: BlameRequest,
  stepsOfLines: StepsOfLines,
  after: readonly number[],
  lines: readonly BlamedLine[],
  origins: Note,
  isPossible: (step: AuthoredStep) => boolean = () => true,
) {
  const commit = lines[0]?.commit ?? '';
  const beside = once(() => filesBeside(git, commit));
  for (const [path, ofFile] of Map.groupBy(lines, (line) => line.path)) {
    const [file] = await findObjects(git, [`${commit}:${path}`]);
    const content = await asInWorktree(git, file?.oid ?? '', path);
    const found = await stepsOfLines({ path, content, after, options, beside });
    note(origins, ofFile, ({ original }) => {
      const step = found[original - 1]?.step;
      return step && isPossible(step) ? originOf(step) : undefined;
    });
  }
}

async function noteByFolder(
  request: BlameRequest,
  { history, made }: FolderWork,
  stepsOfLines: StepsOfLines,
  lines: readonly BlamedLine[],
  origins: Note,
) {
  const { commit = '', details } = lines[0] ?? {};
  const found = made.get(commit);
  if (found === undefined) return;
  // A merge or a checkout brings lines that are not the work of that step.
  const writtenAt = Number(details?.get(found.isCopy ? 'author-time' : 'committer-time') ?? 0);
  const begins = new Map(history.steps.map((step, i) => [step, history.steps[i - 1]]));
  const isPossible = (step: AuthoredStep) =>
    mayBeOfAgent(step) && (begins.get(step)?.snapshot.time.getTime() ?? 0) <= writtenAt * 1000;
  await noteByHistory(request, stepsOfLines, found.after, lines, origins, isPossible);
}

/** Without an event of an agent, git knows better who wrote what is committed. */
const mayBeOfAgent = ({ author, turn, among }: AuthoredStep) =>
  author !== 'unknown' || turn !== undefined || among.length > 0;
