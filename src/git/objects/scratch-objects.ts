/**
 * Objects for the time of one command: git reads those of the repository and writes into a directory of its own. agt
 * deletes the directory when the command ends, also by a signal. If agt is killed, the next comparison deletes it.
 */
import { appendFileSync, existsSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { abandonedDirectories, makeOwnedDirectory } from '../../disk/lock-owner.ts';
import { attempt } from '../../errors.ts';
import { scratchDirectory } from '../../layout.ts';
import { sayWhenInterrupted } from '../../process/interrupts.ts';
import { pause } from '../../process/wait.ts';
import type { Git } from '../run/git.ts';
import { type NewObject, objectName, wholeObject } from './commits.ts';
import { hashNameOf } from './hash.ts';

export interface ScratchObjects {
  /** Writes new objects into `dir`. */
  readonly git: Git;
  /** Absolute. Its objects are in `objects/`, as in a repository. */
  readonly dir: string;
}

/** A repository. */
interface ScratchPlace {
  readonly git: Git;
  readonly commonDir: string;
  readonly agtDir: string;
}

export async function withScratchObjects<T>(
  { git, commonDir, agtDir }: ScratchPlace,
  action: (scratch: ScratchObjects) => Promise<T>,
): Promise<T> {
  const parent = scratchDirectory(agtDir);
  for (const path of abandonedDirectories(parent)) rmSync(path, { recursive: true, force: true });
  let dir: string | undefined;
  const cleanUp = (remove: (directory: string) => void) => {
    if (dir !== undefined) remove(dir);
    attempt(() => rmdirSync(parent)); // another command may use it
  };
  return sayWhenInterrupted(
    () => cleanUp(removePersistently),
    async () => {
      try {
        dir = makeOwnedDirectory(join(parent, 'objects-'));
        initialize(dir, [join(commonDir, 'objects'), git.env['GIT_OBJECT_DIRECTORY']]);
        const env = { ...git.env, GIT_OBJECT_DIRECTORY: join(dir, 'objects') };
        return await action({ git: { ...git, env }, dir });
      } finally {
        cleanUp((directory) => rmSync(directory, { recursive: true, force: true }));
      }
    },
  );
}

/** `others`: the repository's objects, and those of scratch objects around these. */
function initialize(dir: string, others: readonly (string | undefined)[]): void {
  mkdirSync(join(dir, 'objects/info'), { recursive: true });
  mkdirSync(join(dir, 'objects/pack'));
  const lines = others.flatMap((path) => (path === undefined ? [] : `${path}\n`));
  writeFileSync(join(dir, ALTERNATES), lines.join(''));
}

/** `objects`: those of another repository, for each git that starts from now on. */
export function readAlso({ dir }: ScratchObjects, objects: string): void {
  appendFileSync(join(dir, ALTERNATES), `${objects}\n`);
}

const ALTERNATES = 'objects/info/alternates';

/** For a git that moves refs: a repository of its own, with these objects. `like` is the name of any. */
export function scratchRepository({ git, dir }: ScratchObjects, like: string): Git {
  mkdirSync(join(dir, 'refs'), { recursive: true });
  writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/none\n');
  const format =
    hashNameOf(like) === 'sha256'
      ? '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n'
      : '';
  writeFileSync(join(dir, 'config'), format);
  return { ...git, env: { ...git.env, GIT_DIR: dir } };
}

/** Without a git, and without a flush: nobody reads it later. Returns its name; `like` is any other one. */
export function storeInScratch({ dir }: ScratchObjects, object: NewObject, like: string): string {
  const oid = objectName(object, like);
  const folder = join(dir, 'objects', oid.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, oid.slice(2)), deflateSync(wholeObject(object)));
  return oid;
}

/** Time between two attempts to delete a directory, and how many attempts agt makes at most: two seconds. */
const RETRY_MS = 10;
const MAX_ATTEMPTS = 200;
/** The directory is gone for good if so many attempts in a row do not find it. */
const ATTEMPTS_WITHOUT_IT = 5;

/** A git that still runs recreates the directory, so agt deletes it until it stays deleted. */
function removePersistently(directory: string): void {
  let missing = 0;
  for (let tries = 0; tries < MAX_ATTEMPTS && missing < ATTEMPTS_WITHOUT_IT; tries++) {
    missing = existsSync(directory) ? 0 : missing + 1;
    attempt(() => rmSync(directory, { recursive: true, force: true })); // git created a file in it meanwhile
    pause(RETRY_MS);
  }
}
