/** Which repositories of the user have sessions. A repository that was moved is found again after the next agt there. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { stateHome } from '../disk/state-home.ts';
import { attempt } from '../errors.ts';
import { openHash } from '../git/objects/hash.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import { agtDirectory, attachedSessions, linkNameFile, repositoriesDirectory } from '../layout.ts';
import { folderOfNamespace, openRepository, type Repository } from './repository.ts';

/** A disk that is full or read-only only keeps `--everywhere` from finding it. After a move, the earlier link goes. */
export function rememberRepository({ git, commonDir }: Pick<Repository, 'git' | 'commonDir'>): void {
  const state = stateHome(git.env);
  if (state === undefined || folderOfNamespace(commonDir) !== undefined || isStore(commonDir)) return;
  const directory = repositoriesDirectory(state);
  const name = openHash('sha1').update(commonDir).digest();
  attempt(() => {
    if (lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined) return;
    if (!existsSync(directory)) mkdirSync(directory, { recursive: true, mode: 0o700 });
    symlinkSync(commonDir, join(directory, name));
    const file = linkNameFile(agtDirectory(commonDir));
    const earlier = attempt(() => readFileSync(file, 'utf8'));
    writeFileAtomic(file, name);
    // The earlier place of a copy is still there.
    const isGone = readLinks(directory).some((known) => known.name === earlier && !isThere(known));
    if (isGone) rmSync(join(directory, earlier ?? ''));
  });
}

/** Common git directories; those that are gone with the link that names them. agt may only have been removed from one. */
export function knownRepositories(env: NodeJS.ProcessEnv) {
  const state = stateHome(env);
  const links = state === undefined ? [] : readLinks(repositoriesDirectory(state));
  return {
    present: links.filter(isThere).flatMap(({ commonDir }) => (isStore(commonDir) ? [] : [commonDir])),
    gone: links.filter(({ commonDir }) => !existsSync(commonDir)),
  };
}

interface Access {
  readonly git: Git;
  readonly readSettings: (local: string | undefined) => Settings;
}

/** One that is present. */
export function openKnown({ git, readSettings }: Access, commonDir: string): Repository {
  return openRepository(inDirectory(git, commonDir), { commonDir, worktree: undefined }, readSettings);
}

interface Link {
  readonly name: string;
  readonly link: string;
  readonly commonDir: string;
}

function readLinks(directory: string): Link[] {
  const names = attempt(() => readdirSync(directory)) ?? [];
  const links = names.flatMap((name): Link[] => {
    const link = join(directory, name);
    const commonDir = attempt(() => readlinkSync(link));
    return commonDir === undefined ? [] : [{ name, link, commonDir }];
  });
  return links.sort((a, b) => (a.commonDir < b.commonDir ? -1 : 1));
}

/** Of an attached folder: no repository of the user, though `agt ui --export` reads it as one. */
function isStore(commonDir: string): boolean {
  return existsSync(attachedSessions(agtDirectory(commonDir)));
}

function isThere({ commonDir }: Link): boolean {
  return existsSync(agtDirectory(commonDir));
}

/** The path that a person knows. */
export function placeOf({
  area,
  commonDir,
}: Pick<Repository, 'commonDir'> & { readonly area?: string | undefined }) {
  return area ?? commonDir.replace(/\/\.git$/, '');
}
