/**
 * `agt clone`: a bare repository, a primary worktree and an area for sessions. git itself clones (so every transport,
 * credential and progress line is its own); the result is then made bare, with remote-tracking refs as in an ordinary
 * clone: `git clone --bare` would turn every remote branch into a local one and set no fetch refspec.
 */

import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { AgtError, EXIT, usageError } from '../errors.ts';
import { type Git, gitAnswer, gitText, inDirectory, runGit } from '../git/run/git.ts';
import { hideAgentRefs } from './hide-refs.ts';
import { agtDirectory, areaConfigFile, areaFile, areaSessions } from './layout.ts';

export interface CloneRequest {
  readonly url: string;
  /** The folder that receives `<name>.git` and `<name>/`; absolute. */
  readonly parent: string;
  /** Options for git clone itself, such as --depth. */
  readonly gitOptions: readonly string[];
  readonly cwd: string;
}

export interface Cloned {
  readonly bare: string;
  readonly area: string;
  readonly primary: string;
  readonly branch: string;
  /** True when the remote has no commits. */
  readonly empty: boolean;
}

export async function cloneRepository(git: Git, settings: Settings, request: CloneRequest): Promise<Cloned> {
  const name = guessName(request.url);
  const bare = join(request.parent, `${name}.git`);
  const area = join(request.parent, name);
  for (const target of [bare, area]) {
    if (existsSync(target) && !isEmptyDirectory(target)) {
      throw new AgtError(`"${target}" already exists and is not an empty directory`, {
        hints: ['choose another directory with --path'],
      });
    }
  }
  const cleanUp = prepareCleanUp([bare, area], request.parent);
  const interrupted = catchInterrupts();
  try {
    mkdirSync(request.parent, { recursive: true });
    await fetchInto(git, request, bare, area, interrupted.signal);
    const { branch, empty } = await makeBare(git, settings, bare, area);
    const primary = join(area, basename(branch));
    await addPrimary(inDirectory(git, bare), primary, branch, empty);
    interrupted.throwIfAny();
    return { bare, area, primary, branch, empty };
  } catch (error) {
    cleanUp();
    interrupted.throwIfAny();
    throw error;
  } finally {
    interrupted.release();
  }
}

/** As git-clone names a folder: the last part of the path, without `.git`, `.bundle` and trailing slashes. */
function guessName(url: string): string {
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

async function fetchInto(
  git: Git,
  request: CloneRequest,
  bare: string,
  area: string,
  cancel: AbortSignal,
): Promise<void> {
  const args = [
    'clone',
    '--no-checkout',
    `--separate-git-dir=${bare}`,
    ...request.gitOptions,
    '--',
    request.url,
    area,
  ];
  const run = await runGit(inDirectory(git, request.cwd), args, {
    stderr: 'inherit',
    stdin: 'inherit',
    cancel,
  });
  if (run.exitCode !== 0) {
    throw new AgtError(`git could not clone "${request.url}"`, { exitCode: run.exitCode });
  }
  rmSync(join(area, '.git'));
}

async function makeBare(
  git: Git,
  settings: Settings,
  bare: string,
  area: string,
): Promise<{ branch: string; empty: boolean }> {
  const own = inDirectory(git, bare);
  await runGit(own, ['config', '--unset', 'core.worktree']);
  await gitText(own, ['config', 'core.bare', 'true']);
  rmSync(join(bare, 'index'), { force: true });

  mkdirSync(areaSessions(area), { recursive: true });
  mkdirSync(dirname(areaConfigFile(area)), { recursive: true });
  writeFileSync(areaConfigFile(area), '# Settings of agt for this clone; see: agt config list\n');
  mkdirSync(agtDirectory(bare), { recursive: true });
  writeFileSync(areaFile(agtDirectory(bare)), `${relative(bare, area)}\n`);
  await hideAgentRefs({ git: own, settings });

  const head = await gitAnswer(own, ['symbolic-ref', '--quiet', 'HEAD']);
  const commit = await gitAnswer(own, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  if (head === undefined) {
    throw new AgtError('the remote has no default branch: its HEAD is detached', {
      hints: ['choose a branch: agt clone --branch <name> <url>'],
    });
  }
  return { branch: head.replace(/^refs\/heads\//, ''), empty: commit === undefined };
}

/**
 * The primary worktree. git before 2.42 cannot add one for a branch without commits: it is made on an empty commit,
 * which nothing keeps, and then moved to the unborn branch.
 */
async function addPrimary(git: Git, primary: string, branch: string, empty: boolean): Promise<void> {
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

function isEmptyDirectory(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** Removes what did not exist before, the parents that were made on the way included. */
function prepareCleanUp(targets: readonly string[], parent: string): () => void {
  const emptied = targets.filter((target) => existsSync(target));
  let firstExisting = resolve(parent);
  const made: string[] = [];
  while (!existsSync(firstExisting)) {
    made.push(firstExisting);
    firstExisting = dirname(firstExisting);
  }
  return () => {
    for (const target of targets) rmSync(target, { recursive: true, force: true });
    for (const target of emptied) mkdirSync(target);
    for (const dir of made) {
      try {
        rmdirSync(dir);
      } catch {
        return; // not empty, or never made
      }
    }
  };
}

/** Whoever stops agt stops git too; agt itself stays to remove what is left, and then ends as interrupted. */
function catchInterrupts() {
  const numbers: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 };
  const names = Object.keys(numbers) as NodeJS.Signals[];
  const controller = new AbortController();
  let caught: NodeJS.Signals | undefined;
  const note = (signal: NodeJS.Signals) => {
    caught ??= signal;
    controller.abort();
  };
  for (const name of names) process.on(name, note);
  return {
    signal: controller.signal,
    throwIfAny: () => {
      if (caught === undefined) return;
      throw new AgtError('interrupted; nothing is left of the clone', {
        exitCode: 128 + (numbers[caught] ?? 0),
      });
    },
    release: () => {
      for (const name of names) process.off(name, note);
    },
  };
}
