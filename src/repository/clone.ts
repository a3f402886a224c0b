/**
 * `agt clone`: a bare repository, a primary worktree and an area for sessions. git itself clones, so every transport,
 * credential and progress line is git's own; then agt makes the result bare. `git clone --bare` would not do: it turns
 * every remote branch into a local one and sets no fetch refspec.
 */
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { AgtError, attempt, EXIT, usageError } from '../errors.ts';
import { registrationOf } from '../git/files/worktree-registrations.ts';
import { type Git, gitAnswer, gitText, inDirectory, runGit } from '../git/run/git.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import { agtDirectory, areaConfigFile, areaFile, areaSessions, dataDirectories } from '../layout.ts';
import { catchInterrupts } from '../process/interrupts.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { hideAgentRefs } from './hide-refs.ts';
import {
  cloneToFinish,
  dropHalfClone,
  dropHalfWorktree,
  forgetClone,
  makeArea,
  noteClone,
  noteFile,
} from './unfinished-clone.ts';

export interface CloneRequest {
  readonly url: string;
  /** The directory that receives `<name>.git` and `<name>/`; absolute. */
  readonly parent: string;
  /** Undefined: as the URL says. */
  readonly name?: string | undefined;
  /** Options for git clone itself, such as --depth. */
  readonly gitOptions: readonly string[];
  readonly cwd: string;
}

export interface Cloned {
  readonly bare: string;
  readonly area: string;
  readonly primary: string;
  readonly branch: string;
  /** True if the remote has no commits. */
  readonly empty: boolean;
}

export async function cloneRepository(
  access: Git,
  settings: Settings,
  request: CloneRequest,
): Promise<Cloned> {
  const git = withUsersPrograms(access);
  const { name = directoryName(request.url) } = request;
  const bare = join(request.parent, `${name}.git`);
  const area = join(request.parent, name);
  const begun = await cloneToFinish(bare);
  const isCloned = begun?.phase === 'agt arranges';
  if (begun !== undefined && !isCloned) dropHalfClone(begun, bare, area);
  if (!isCloned) refuseExisting([bare, area], request.url);
  // The killed command may have been complete but for its last step, and somebody may have worked there since.
  const removeAll = prepareRemoval(isCloned ? [] : [bare, area, noteFile(bare)], request.parent);
  const interrupts = catchInterrupts('nothing is left of the clone');
  const file = resolve(request.cwd, request.url);
  const url = existsSync(file) ? file : request.url;
  try {
    makeDirectories(request.parent);
    if (!isCloned) {
      const made = makeArea(area);
      noteClone(bare, { phase: 'git clones', url, area: made });
      await runGitClone(git, request, bare, area, interrupts.signal);
      noteClone(bare, { phase: 'agt arranges', url, area: made });
    }
    failurePoint('clone: git cloned');
    const arranged = await arrange(inDirectory(git, bare), settings, bare, area);
    interrupts.throwIfAny();
    forgetClone(bare);
    return arranged;
  } catch (error) {
    removeAll();
    interrupts.throwIfAny();
    throw error;
  } finally {
    interrupts.release();
  }
}

/** Every step can be done again. */
async function arrange(git: Git, settings: Settings, bare: string, area: string): Promise<Cloned> {
  rmSync(join(area, '.git'), { force: true });
  await makeBare(git, bare);
  furnishArea(bare, area);
  failurePoint('clone: area made');
  await hideAgentRefs({ git, prefixes: [settings] });
  const { branch, empty } = await defaultBranch(git);
  const primary = join(area, basename(branch));
  dropHalfWorktree(bare, primary);
  if (registrationOf(bare, primary) === undefined) await addPrimaryWorktree(git, primary, branch, empty);
  failurePoint('clone: checked out');
  return { bare, area, primary, branch, empty };
}

/** As git-clone names a directory: the last part of the path, without `.git`, `.bundle` and trailing slashes. */
function directoryName(url: string): string {
  const path = url
    .replace(/[/\\]+$/, '')
    .replace(/\/\.git$/, '')
    .replace(/\.(git|bundle)$/, '');
  const name = path.replace(/^.*[/:]/s, '').trim();
  if (name === '' || name === '.' || name === '..') {
    throw usageError(`cannot derive a directory name from "${url}"`, 'give the full URL of the repository');
  }
  return name;
}

function refuseExisting(targets: readonly string[], url: string): void {
  for (const target of targets) {
    if (!existsSync(target) || attempt(() => readdirSync(target).length) === 0) continue;
    throw new AgtError(`"${target}" already exists and is not an empty directory`, {
      hints: [`choose another name: agt clone ${shellQuote(url)} NAME`],
    });
  }
}

async function runGitClone(
  git: Git,
  { cwd, gitOptions, url }: CloneRequest,
  bare: string,
  area: string,
  cancel: AbortSignal,
): Promise<void> {
  const run = await runGit(
    inDirectory(git, cwd),
    ['clone', '--no-checkout', `--separate-git-dir=${bare}`, ...gitOptions, '--', url, area],
    { stderr: 'inherit', stdin: 'inherit', cancel },
  );
  if (run.exitCode !== 0) throw new AgtError(`git could not clone "${url}"`, { exitCode: run.exitCode });
}

async function makeBare(git: Git, bare: string): Promise<void> {
  await runGit(git, ['config', '--unset', 'core.worktree']);
  await gitText(git, ['config', 'core.bare', 'true']);
  rmSync(join(bare, 'index'), { force: true });
}

function furnishArea(bare: string, area: string): void {
  mkdirSync(areaSessions(area), { recursive: true });
  mkdirSync(dirname(areaConfigFile(area)), { recursive: true });
  if (!existsSync(areaConfigFile(area)))
    writeFileSync(areaConfigFile(area), '# Settings of agt for this clone; see: agt config list\n');
  for (const directory of dataDirectories(agtDirectory(bare))) mkdirSync(directory, { recursive: true });
  writeFileSync(areaFile(agtDirectory(bare)), `${relative(bare, area)}\n`);
}

/** The branch of the remote's HEAD. `empty`: it has no commits yet. */
async function defaultBranch(git: Git): Promise<{ branch: string; empty: boolean }> {
  const head = await gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD']);
  if (head === undefined) {
    throw new AgtError('the remote has no default branch: its HEAD is detached', {
      hints: ['choose a branch: agt clone --branch <name> <url>'],
    });
  }
  const commit = await gitAnswer(git, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  return { branch: head.replace(/^refs\/heads\//, ''), empty: commit === undefined };
}

/**
 * git before 2.42 cannot add a worktree for a branch without commits. In an empty clone agt adds the worktree on an
 * empty commit, which no ref keeps, and then moves it to the unborn branch.
 */
async function addPrimaryWorktree(git: Git, primary: string, branch: string, empty: boolean): Promise<void> {
  if (!empty) {
    const run = await runGit(git, ['worktree', 'add', '--', primary, branch], { stderr: 'inherit' });
    if (run.exitCode !== 0) throw new AgtError(`git could not check out "${branch}"`, { exitCode: EXIT.git });
    return;
  }
  const identity = {
    GIT_AUTHOR_NAME: 'agt',
    GIT_AUTHOR_EMAIL: 'agt@local',
    GIT_COMMITTER_NAME: 'agt',
    GIT_COMMITTER_EMAIL: 'agt@local',
  };
  const tree = await gitText(git, ['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' });
  const commit = await gitText(git, ['commit-tree', '-m', 'empty', tree], { env: identity });
  await gitText(git, ['worktree', 'add', '--quiet', '--detach', '--', primary, commit]);
  await gitText(inDirectory(git, primary), ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
}

/** Call it first. The result removes targets and parents that did not exist, and makes empty directories again. */
function prepareRemoval(targets: readonly string[], parent: string): () => void {
  const existing = targets.filter((target) => existsSync(target));
  const newParents: string[] = [];
  for (let dir = resolve(parent); !existsSync(dir); dir = dirname(dir)) newParents.push(dir);
  return () => {
    for (const target of targets) rmSync(target, { recursive: true, force: true });
    for (const target of existing) mkdirSync(target);
    for (const dir of newParents) {
      try {
        rmdirSync(dir);
      } catch {
        return; // not empty, or never made
      }
    }
  };
}
