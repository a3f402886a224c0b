/**
 * The descriptors above 2 that the caller gave: the file of `GIT_TRACE=9`, a jobserver of make, a lock of flock. Node
 * marks them close-on-exec at its start, and has no call that takes the mark away. A child can be given them.
 *
 * Node's own descriptors carry the same mark. Each of its event loops has an eventpoll and a pipe that does not block, and
 * all loops share a pipe that blocks.
 *
 * Limit: only Linux tells what a descriptor leads to. Above the first gap after 16, Node leaves descriptors as they were.
 */
import { constants, fstatSync, readdirSync, readlinkSync } from 'node:fs';
import { readIfThere } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';

const DESCRIPTORS = '/proc/self/fd';
const LOOP = 'anon_inode:[eventpoll]';
const CLOSE_ON_EXEC = 0o2000000;

/** Standard streams, and after them what the caller gave, for a child. */
export function withInherited<Stdio>(streams: readonly Stdio[]): (Stdio | number | 'ignore')[] {
  const stdio: (Stdio | number | 'ignore')[] = [...streams];
  for (const descriptor of inheritedDescriptors()) {
    while (stdio.length < descriptor) stdio.push('ignore');
    stdio.push(descriptor);
  }
  return stdio;
}

function inheritedDescriptors(): number[] {
  const open = openDescriptors();
  const pipes = open.filter(({ leadsTo }) => leadsTo.startsWith('pipe:'));
  const loops = open.filter(({ leadsTo }) => leadsTo === LOOP);
  const others = open.filter(({ leadsTo }) => !/^(anon_inode|pipe):/.test(leadsTo));
  // The usual case reads no flags.
  const ownPipes = pipes.length === 2 * (loops.length + 1) ? pipes : pipesOfNode(pipes);
  return [...others, ...pipes.filter((pipe) => !ownPipes.includes(pipe))]
    .filter(({ descriptor }) => (flagsOf(descriptor) & CLOSE_ON_EXEC) !== 0)
    .map(({ descriptor }) => descriptor)
    .sort((a, b) => a - b);
}

interface Open {
  readonly descriptor: number;
  /** Such as `pipe:[123]`, `anon_inode:[eventfd]`, `/dev/null`. */
  readonly leadsTo: string;
}

function openDescriptors(): Open[] {
  return (attempt(() => readdirSync(DESCRIPTORS)) ?? []).flatMap((name) => {
    const descriptor = Number(name);
    // None for the descriptor by which the directory was read.
    const leadsTo = descriptor > 2 ? attempt(() => readlinkSync(`${DESCRIPTORS}/${name}`)) : undefined;
    return leadsTo === undefined ? [] : [{ descriptor, leadsTo }];
  });
}

/**
 * Both ends of these are here. The shared pipe is the lock of signal handlers, so a change of handlers writes to it: it is
 * the one that was written to last. Times have steps of milliseconds; the kernel numbers pipes in order, and Node makes
 * the shared one just before that of its first loop.
 */
function pipesOfNode(pipes: readonly Open[]): readonly Open[] {
  const handler = () => {};
  process.on('SIGWINCH', handler).off('SIGWINCH', handler);
  const pairs = [...Map.groupBy(pipes, ({ leadsTo }) => leadsTo).values()]
    .filter(({ length }) => length === 2)
    .map((ends) => ({
      ends,
      blocking: ends.filter(({ descriptor }) => (flagsOf(descriptor) & constants.O_NONBLOCK) === 0).length,
      changed: Math.max(...ends.map(({ descriptor }) => fstatSync(descriptor).ctimeMs)),
      number: Number(/\d+/.exec(ends[0]?.leadsTo ?? '')?.[0]),
    }));
  const ofLoops = pairs.filter(({ blocking }) => blocking === 0);
  const first = ofLoops[0]?.number ?? 0;
  const [shared] = pairs
    .filter(({ blocking }) => blocking === 2)
    .sort((a, b) => b.changed - a.changed || Math.abs(first - a.number) - Math.abs(first - b.number));
  return [...ofLoops, ...(shared === undefined ? [] : [shared])].flatMap(({ ends }) => ends);
}

function flagsOf(descriptor: number): number {
  const info = readIfThere(`/proc/self/fdinfo/${descriptor}`); // it may be closed meanwhile
  return Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0', 8);
}
