/**
 * Writes a captured state into a session folder: files byte for byte, links, permissions, empty directories and the
 * sandbox's index. Each file appears whole, by a temporary name and a rename; no link is followed. The folder holds
 * nothing yet but its own directories and the sandbox's `.git`.
 */
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type CapturedManifest, readModes } from '../../autocommit/captured-manifest.ts';
import { pathFromJson } from '../../autocommit/display.ts';
import { bringBackIgnoreFile } from '../../autocommit/ignore-file.ts';
import { readShadowTree } from '../../autocommit/tree-state.ts';
import { systemPath } from '../../autocommit/walk.ts';
import { readBlobs } from '../../git/cat-file.ts';
import { type Git, gitText, runGit } from '../../git/git.ts';
import { worktreeGitDir } from '../../git/worktree-git-dir.ts';

export interface Place {
  /** Absolute. */
  readonly folder: string;
  readonly sandbox: string;
}

export async function checkOutState(git: Git, state: string, place: Place): Promise<void> {
  const manifest = JSON.parse(
    await gitText(git, ['cat-file', 'blob', `${state}:_/manifest.json`]),
  ) as CapturedManifest;
  const folder = Buffer.from(place.folder).toString('latin1');
  const { files } = await readShadowTree(git, state);
  const entries = [...files];
  const modes = readModes(manifest);
  const bitsOf = (path: string, usual: number) => modes.others.get(path) ?? usual;

  const empty = manifest.empty_directories.map(pathFromJson);
  for (const path of directoriesOf([...files.keys()], empty))
    mkdirSync(systemPath(`${folder}/${path}`), { recursive: true });
  await readBlobs(
    git,
    entries.map(([, { oid }]) => oid),
    async (index, chunks) => {
      const [path, { mode }] = entries[index] as (typeof entries)[number];
      if (mode === '120000') await writeLink(`${folder}/${path}`, chunks);
      else {
        const usual = mode === '100755' ? modes.usual.program : modes.usual.file;
        await writeFile(`${folder}/${path}`, chunks, bitsOf(path, usual));
      }
    },
  );
  bringBackIgnoreFile(place.folder, manifest.agtignore);
  await restoreIndex(git, state, place.sandbox);
  // Deepest first: a directory may be read-only.
  for (const path of directoriesOf([...files.keys()], empty).reverse()) {
    chmodSync(systemPath(`${folder}/${path}`), bitsOf(path, modes.usual.directory));
  }
}

/** Every directory that something stands in, and the empty ones, parents first. */
function directoriesOf(files: readonly string[], empty: readonly string[]): string[] {
  const directories = new Set<string>();
  const add = (path: string) => {
    if (path === '.' || directories.has(path)) return;
    add(dirname(path));
    directories.add(path);
  };
  for (const path of files) add(dirname(path));
  for (const path of empty) add(path);
  return [...directories];
}

async function writeFile(path: string, chunks: AsyncGenerator<Buffer>, mode: number): Promise<void> {
  const temporary = temporaryName(path);
  const fd = openSync(systemPath(temporary), 'wx', 0o600);
  try {
    for await (const chunk of chunks) for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
  } finally {
    closeSync(fd);
  }
  chmodSync(systemPath(temporary), mode);
  renameSync(systemPath(temporary), systemPath(path));
}

async function writeLink(path: string, chunks: AsyncGenerator<Buffer>): Promise<void> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const temporary = temporaryName(path);
  symlinkSync(Buffer.concat(parts), systemPath(temporary));
  renameSync(systemPath(temporary), systemPath(path));
}

/** In the same directory; the name itself may be as long as names can be. */
function temporaryName(path: string): string {
  return `${dirname(path)}/.agt-${process.pid}.tmp`;
}

/** The index as it was; its stat data are of other files, so git will look at each file once. */
async function restoreIndex(git: Git, state: string, sandbox: string): Promise<void> {
  const index = await runGit(git, ['cat-file', 'blob', `${state}:_/index`]);
  if (index.exitCode !== 0) return;
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) return;
  const temporary = join(gitDir, `index.agt-${process.pid}.tmp`);
  writeFileSync(temporary, index.stdout);
  renameSync(temporary, join(gitDir, 'index'));
}
