/**
 * A program that does what agt asks of agentfs, by the kernel's overlay file system. Its database is an image with the
 * changed files, so a copy of it is a clone. It needs root. FAULT gives it one of the faults of real versions.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { makeTempDir, write } from './world.ts';

const SCRIPT = `#!/bin/bash
echo "$1" >> "$CALLS"
case $1 in
--version) echo 'agentfs v9.8.7' ;;
init)
  base=
  if [ "$2" = --base ]; then base=$3; shift 2; fi
  mkdir -p .agentfs .new/upper .new/work .new/empty
  printf %s "$base" > .new/base
  truncate -s 32M ".agentfs/$2.db"
  mkfs.ext4 -q -F -d .new ".agentfs/$2.db"
  rm -r .new ;;
mount)
  database=$3 point=$4
  if [ "$FAULT" = silent ]; then echo 'no such device' >&2; exit 1; fi
  exec 3< "$database"
  inside=$(mktemp -d "$IMAGES/XXXXXX")
  mount -o loop "$database" "$inside" || exit
  base=$(cat "$inside/base")
  if [ "$FAULT" = names ] && [ -e "$inside/upper/changed/one/f1" ]; then rm "$inside/upper/changed/one/f1"; fi
  if [ "$FAULT" = descriptors ]; then for file in "$base"/looked/*/*; do exec {held}< "$file"; done; fi
  layers=lowerdir=\${base:-$inside/empty},upperdir=$inside/upper,workdir=$inside/work
  mount -t overlay -o "$layers" "agentfs:$database" "$point"
  while grep -q " $point " /proc/self/mountinfo; do sleep 0.01 3<&-; done
  umount "$inside"
  rmdir "$inside"
  if [ "$FAULT" = copies ]; then head -c 4194304 /dev/zero >> "$database"; fi ;;
esac
`;

export interface FakeAgentfs {
  readonly program: string;
  readonly env: { readonly PATH: string; readonly XDG_STATE_HOME: string } & Record<string, string>;
  /** The commands that agt has called. */
  readonly calls: () => string[];
  /** Undoes the mounts that a killed program has left. */
  readonly end: () => void;
}

export function makeFakeAgentfs(fault = ''): FakeAgentfs {
  const directory = makeTempDir('fake');
  const program = join(directory, 'agentfs');
  write(program, SCRIPT, 0o755);
  const [calls, images] = [join(directory, 'calls'), makeTempDir('images')];
  const env = {
    PATH: `${directory}${delimiter}${process.env['PATH']}`,
    ...{ FAULT: fault, CALLS: calls, IMAGES: images, XDG_STATE_HOME: makeTempDir('state') },
  };
  return {
    program,
    env,
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
    end: () => {
      for (const name of readdirSync(images)) spawnSync('umount', ['--lazy', join(images, name)]);
    },
  };
}

/** Why it cannot work here; undefined if it can. */
export function fakeProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can mount';
  if (!existsSync('/dev/fuse')) return 'there is no /dev/fuse';
  for (const type of ['overlay', 'ext4', 'loop']) spawnSync('modprobe', ['-q', type]);
  const known = readFileSync('/proc/filesystems', 'utf8');
  if (!/\toverlay$/m.test(known)) return 'the kernel has no overlay file system';
  if (spawnSync('mkfs.ext4', ['-V']).status !== 0) return 'there is no mkfs.ext4: install e2fsprogs';
  return existsSync('/dev/loop-control') ? undefined : 'there are no loop devices';
}

/** Mount points at or below a directory. */
export function mountsBelow(directory: string): string[] {
  const table = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return table.map((line) => line.split(' ')[4] ?? '').filter((point) => point.startsWith(directory));
}
