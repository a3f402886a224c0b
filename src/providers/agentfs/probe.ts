/**
 * Whether there is an agentfs program that is sound enough for sessions. agt measures it in a folder that it throws away.
 * Versions differ in what a session needs: that a look at a file costs no descriptor, that reading a file copies nothing,
 * that a second mount shows the same files, and that a file can be used that is deleted while it is open.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { abandonedDirectories, makeOwnedDirectory } from '../../disk/lock-owner.ts';
import { hasProc } from '../../disk/platform.ts';
import { readJson } from '../../disk/read-file.ts';
import { errorCode, isAgtError } from '../../errors.ts';
import { agentfsDirectory } from '../../layout.ts';
import { cannot, type Finding, type Place, refuseUnwritable, runToolNow } from '../provider.ts';
import { DATABASE, databaseFiles, mountDatabase, unmountDatabase } from './server.ts';

const SCORE = 10;
const DEVICE = '/dev/fuse';

export function findAgentfs(place: Place): Finding {
  const program = agentfsProgram(place);
  if (typeof program !== 'string') return program;
  const unwritable = refuseUnwritable('agentfs', place);
  if (unwritable !== undefined) return unwritable;
  if (place.state === undefined)
    return cannot('agentfs', 'HOME is not set, and agt keeps its notes there', 'set HOME');
  try {
    const { version, faults } = measure(program, place.state);
    const notes = [`version ${version} mounts a clone of a session; ask for it with --fs-snapshots agentfs`];
    if (faults.length === 0)
      return { kind: 'agentfs', score: SCORE, clone: true, freeze: false, drop: 'at once', notes };
    const next = 'agt measures it again once the program has changed; meanwhile: --fs-snapshots git';
    return cannot('agentfs', `${program}, version ${version}, is not sound: ${faults.join('; ')}`, next);
  } catch (error) {
    if (!isAgtError(error)) throw error;
    return cannot('agentfs', `agt could not measure it: ${error.message}`, error.hints[0]);
  }
}

/** Its real path, or why there is none that could work. */
export function agentfsProgram({ program, isRoot }: Place): string | Finding {
  const found = program('agentfs');
  const source = 'see https://github.com/tursodatabase/agentfs';
  if (found === undefined) return cannot('agentfs', 'there is no agentfs program on PATH', source);
  if (!existsSync(DEVICE)) return cannot('agentfs', `there is no ${DEVICE}`, 'load the kernel module fuse');
  if (!hasProc()) return cannot('agentfs', 'there is no /proc, and agt measures it there');
  if (!isRoot && program('fusermount3') === undefined)
    return cannot('agentfs', 'only root mounts without fusermount3', 'install the package fuse3');
  return realpathSync(found);
}

const FOLDER = 'measuring-';

/** As often as the program changes. @throws AgtError if it cannot be measured */
function measure(program: string, state: string): ReturnType<typeof measureIn> {
  const { mtimeMs, size } = statSync(program);
  const measuredProgram = `${program} ${mtimeMs} ${size}`;
  const directory = agentfsDirectory(state);
  const file = join(directory, 'measured.json');
  const known = readJson(file) as (ReturnType<typeof measureIn> & { measuredProgram?: string }) | undefined;
  if (known?.measuredProgram === measuredProgram) return known;
  for (const folder of leftFolders(state)) endFolder(folder);
  mkdirSync(directory, { recursive: true });
  const folder = makeOwnedDirectory(join(directory, FOLDER));
  try {
    failurePoint('agentfs: folder to measure');
    const measured = measureIn(program, folder);
    writeFileAtomic(file, `${JSON.stringify({ measuredProgram, ...measured })}\n`);
    return measured;
  } finally {
    endFolder(folder);
  }
}

const LOOKED_AT = 2_000;
const LARGE_FILE = 4 * 2 ** 20;

const MAKE = `mkdir -p mount base/looked base/changed
for d in $(seq 20); do
  mkdir base/looked/d$d
  for f in $(seq ${LOOKED_AT / 20}); do echo $d $f > base/looked/d$d/f$f; done
done
for d in one two three; do
  mkdir base/changed/$d
  for f in $(seq 8); do echo $d $f > base/changed/$d/f$f; done
done
yes 'not only zeros' | head -c ${LARGE_FILE} > base/large`;

/** Every kind of change that an overlay keeps in another way. */
const CHANGES = `cd changed
echo other > one/f1; echo more >> one/f2; mv one/f3 one/moved; rm one/f4; mkdir one/made; echo in > one/made/in
echo added > two/added; mv two/f5 three/f5-of-two; ln three/f6 three/linked; mkdir -p two/a/b; mv two/f6 two/a/b/`;
const SUMS = 'find changed -type f | LC_ALL=C sort -r | while read -r f; do cksum "$f"; done | LC_ALL=C sort';

function measureIn(program: string, folder: string) {
  const point = join(folder, 'mount');
  const mount = () => mountDatabase(program, folder, point);
  call(folder, 'sh', '-ec', MAKE);
  const version = call(folder, program, '--version').replace(/^agentfs\s+v?/, '');
  call(folder, program, 'init', '--base', join(folder, 'base'), DATABASE);
  const server = mount();
  failurePoint('agentfs: mounted to measure');
  call(point, 'find', 'looked', '-type', 'f', '-size', '+0');
  const held = readdirSync(`/proc/${server}/fd`).length;
  const limit = call(folder, 'sh', '-c', 'ulimit -Hn'); // agentfs raises its own to this one
  const before = sizeOfDatabase(folder);
  call(point, 'cksum', 'large');
  const added = sizeOfDatabase(folder) - before;
  end(folder);
  mount();
  const copied = Math.max(added, sizeOfDatabase(folder) - before);
  call(point, 'sh', '-ec', CHANGES);
  const sums = call(point, 'sh', '-ec', SUMS).split('\n');
  end(folder);
  mount();
  call(point, 'find', 'looked/d7', 'looked/d3', '-type', 'f', '-size', '+0');
  const changed = new Set(sums).difference(new Set(call(point, 'sh', '-ec', SUMS).split('\n'))).size;
  const failure = useDeleted(join(point, 'deleted'));
  const faults = [
    held > LOOKED_AT / 2 &&
      `after a look at ${LOOKED_AT} files it has ${held} descriptors open (limit: ${limit})`,
    copied > LARGE_FILE / 2 &&
      `reading a file of ${megabytes(LARGE_FILE)} adds ${megabytes(copied)} to its database`,
    changed > 0 &&
      `after a second mount ${changed} of ${sums.length} files are missing or have other content`,
    failure !== undefined && `a file that is deleted while it is open fails with ${failure}`,
  ];
  return { version, faults: faults.filter((fault) => fault !== false) };
}

/** agt and git delete temporary files that they have open, so that a kill leaves none. */
function useDeleted(path: string): string | undefined {
  const file = openSync(path, 'wx+');
  let failure: string | undefined;
  try {
    unlinkSync(path);
    writeSync(file, 'written');
    if (readSync(file, Buffer.alloc(7), { position: 0 }) !== 7) failure = 'nothing to read';
  } catch (error) {
    failure = errorCode(error);
  }
  try {
    closeSync(file);
  } catch (error) {
    failure ??= errorCode(error);
  }
  return failure;
}

/** A program that hangs must not keep agt for ever. */
const LONGEST_MS = 60_000;

function call(cwd: string, program: string, ...args: string[]): string {
  return runToolNow(program, args, { cwd, timeout: LONGEST_MS }).trim();
}

function sizeOfDatabase(folder: string): number {
  return databaseFiles(folder).reduce((sum, file) => sum + statSync(file).size, 0);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function end(folder: string): void {
  for (const pid of unmountDatabase(folder, [join(folder, 'mount')])) process.kill(pid, 'SIGKILL');
}

export function endFolder(folder: string): void {
  end(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Folders that a killed agt has left, perhaps with something mounted. */
export function leftFolders(state: string): string[] {
  return abandonedDirectories(agentfsDirectory(state), FOLDER);
}
