/**
 * Two names of one file in a session are two files in its fork, as they are when agt writes the files of a snapshot. A
 * clone on btrfs or ZFS has them as one. On overlay the kernel separates them with the first write.
 */
import { chmodSync, constants, copyFileSync, lchownSync, lstatSync, renameSync, utimesSync } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { parentPath } from '../../disk/path-bytes.ts';
import { AgtError } from '../../errors.ts';
import { fieldsOf } from '../../git/run/git.ts';
import { runProgram } from '../../process/program.ts';

/** `folder` is as Node has it. */
export async function separateNames(folder: string): Promise<void> {
  const args = [folder, '-xdev', '-type', 'f', '-links', '+1', '-print0'];
  const { exitCode, stdout, stderr } = await runProgram('find', args);
  if (exitCode !== 0) throw new AgtError(`find failed: ${stderr.trim()}`);
  for (const path of fieldsOf(stdout)) separate(path);
}

function separate(path: string): void {
  const stat = lstatSync(systemPath(path));
  if (stat.nlink === 1) return;
  const copy = systemPath(`${parentPath(path)}/.agt-${process.pid}.tmp`);
  copyFileSync(systemPath(path), copy, constants.COPYFILE_FICLONE);
  lchownSync(copy, stat.uid, stat.gid);
  chmodSync(copy, stat.mode);
  utimesSync(copy, stat.atimeMs / 1000, stat.mtimeMs / 1000);
  renameSync(copy, systemPath(path));
}
