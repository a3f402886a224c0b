/** The process that serves a mounted snapshot: `agt --serve-mount FILE`, where FILE is the record of the mount. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, statSync, writeSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { identify } from '../../disk/lock-owner.ts';
import { listMounts } from '../../disk/mounts.ts';
import { AgtError } from '../../errors.ts';
import { type Git, gitText, inDirectory } from '../../git/run/git.ts';
import { mountFile } from '../../layout.ts';
import { forgetMount, removeDirectory, unmount } from '../../lifecycle/mounted/end-mount.ts';
import {
  type MountRecord,
  mountSource,
  readMount,
  writeMount,
} from '../../lifecycle/mounted/mount-record.ts';
import { ownCommand } from '../../process/invocation.ts';
import { MOUNT_TYPE } from '../../snapshot/folders.ts';
import { readSnapshotMetadata } from '../../snapshot/manifest.ts';
import { FileContents } from './file-contents.ts';
import { MountServer } from './server.ts';
import { SnapshotFiles } from './snapshot-files.ts';

/** The server prints this line once the files can be read. */
const MOUNTED = 'mounted\n';

export const FUSE_DEVICE = '/dev/fuse';

/** `git`: in any directory. Ends when the snapshot is unmounted. @throws AgtError if it cannot be mounted */
export async function serveMount(git: Git, recordFile: string): Promise<void> {
  const agtDir = dirname(dirname(recordFile));
  const commonDir = dirname(agtDir);
  const here = inDirectory(git, commonDir);
  const record = readMount(agtDir, basename(recordFile, '.json'));
  if (record === undefined) throw new AgtError(`there is no mount ${recordFile}`);
  const { served, fd } = await startServing(here, agtDir, record);
  const place = endEarly(record, agtDir);
  failurePoint('mount: mounted');
  writeMount(agtDir, { ...record, process: identify(process.pid), served: true });
  failurePoint('mount: recorded as served');
  writeSync(1, MOUNTED);
  await served;
  closeSync(fd);
  if (existsSync(agtDir)) await forgetMount({ git: here, agtDir }, record);
  else if (record.made_directory && place.directory !== record.directory)
    removeDirectory({ ...record, directory: place.directory });
}

async function startServing(git: Git, agtDir: string, record: MountRecord) {
  const shown = await readShown(git, agtDir, record.commit);
  const fd = openSync(FUSE_DEVICE, 'r+');
  const files = new SnapshotFiles(git, shown);
  const server = new MountServer(fd, files, new FileContents(git, agtDir));
  const served = server.serve();
  try {
    await mount(fd, mountSource(agtDir, record), record.directory);
  } catch (error) {
    server.end();
    throw error;
  }
  return { served, fd };
}

async function readShown(git: Git, agtDir: string, commit: string) {
  const [metadata, facts] = await Promise.all([
    readSnapshotMetadata(git, commit),
    gitText(git, ['log', '-1', '--format=%T %ct', commit, '--']),
  ]);
  const [tree = '', time] = facts.split(' ');
  const { uid, gid } = statSync(agtDir);
  return { metadata, tree, time: Number(time), owner: { uid, gid } };
}

/** Everybody may look, and the permissions of the files decide. No program gains rights by the bits of a file. */
const OPTIONS =
  'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions,ro,nosuid,nodev,noatime';

/** mount(8) hands `/dev/fuse`, its descriptor 3, to the kernel. */
function mount(fd: number, source: string, directory: string): Promise<void> {
  const args = ['-i', '-n', '-t', MOUNT_TYPE, '-o', OPTIONS, source, directory];
  const child = spawn('mount', args, { stdio: ['ignore', 'ignore', 'pipe', fd] });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new AgtError(`mount(8) failed: ${reason}`));
    child.on('error', (error) => fail(error.message));
    child.on('close', (code) => (code === 0 ? resolve() : fail(said.trim().split('\n')[0] ?? String(code))));
  });
}

const LOOK_MS = 1_000;

/** A signal, or the end of the repository, unmounts the snapshot. Returns where it is mounted. */
function endEarly(record: MountRecord, agtDir: string): { readonly directory: string } {
  const place = { directory: record.directory };
  const end = () => {
    place.directory = placeNow(record, agtDir);
    unmount(place.directory, true).catch(() => process.exit(1));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  const look = setInterval(() => {
    if (existsSync(dirname(agtDir))) return;
    clearInterval(look);
    end();
  }, LOOK_MS);
  look.unref();
  return place;
}

/** A mount moves with the directory that it is in. */
function placeNow(record: MountRecord, agtDir: string): string {
  const source = mountSource(agtDir, record);
  const points = listMounts().flatMap((one) => (one.source === source ? one.point : []));
  return points.includes(record.directory) ? record.directory : (points[0] ?? record.directory);
}

/** The server goes on when this agt has ended. @throws AgtError with what the server said */
export async function startServer(agtDir: string, name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [program = '', ...first] = ownCommand();
  const { AGT_TRACE: _, ...quiet } = { ...process.env, ...env };
  const server = spawn(program, [...first, '--serve-mount', mountFile(agtDir, name)], {
    ...{ cwd: '/', detached: true, env: quiet },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  server.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.on('close', () => {
      const reason = /^error: (.*)$/m.exec(said)?.[1];
      reject(new AgtError(reason ?? 'the process that serves the snapshot has ended'));
    });
    server.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString() === MOUNTED) resolve();
    });
  });
  server.stdout.destroy();
  server.stderr.destroy();
  server.unref();
}
