/** Whether there is an agentfs program that is sound enough for sessions. */
import { accessSync, constants, existsSync, readFileSync, realpathSync } from 'node:fs';
import { isAgtError } from '../../errors.ts';
import type { Place } from '../place.ts';
import type { Finding } from '../provider.ts';
import { type Measured, measure } from './probe.ts';

const SCORE = 10;
const DEVICE = '/dev/fuse';

export function findAgentfs(place: Place): Finding {
  const found = agentfsProgram(place);
  if (typeof found !== 'string') return found;
  const { existing, state } = place;
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    return cannot(`${existing} is not writable`, `let your user write to ${existing}`);
  }
  if (state === undefined) return cannot('HOME is not set, and agt keeps its notes there', 'set HOME');
  try {
    return judge(found, measure(found, state));
  } catch (error) {
    if (!isAgtError(error)) throw error;
    return cannot(`agt could not measure it: ${error.message}`, error.hints[0]);
  }
}

/** Its real path, or why there is none that could work. */
export function agentfsProgram({ program, isRoot }: Place): string | Finding {
  const found = program('agentfs');
  if (found === undefined)
    return cannot('there is no agentfs program on PATH', 'see https://github.com/tursodatabase/agentfs');
  if (!existsSync(DEVICE)) return cannot(`there is no ${DEVICE}`, 'load the kernel module fuse');
  if (!isRoot && program('fusermount3') === undefined)
    return cannot('only root mounts without fusermount3', 'install the package fuse3');
  return realpathSync(found);
}

function cannot(reason: string, hint?: string): Finding {
  return {
    ...{ kind: 'agentfs', score: 0, clone: false, freeze: false, drop: 'slowly' },
    ...{ notes: [reason], hint },
  };
}

function judge(program: string, measured: Measured): Finding {
  const faults = faultsOf(measured);
  const { version } = measured;
  if (faults.length > 0) {
    const next = 'agt measures it again once the program has changed; meanwhile: --fs-snapshots git';
    return cannot(`${program}, version ${version}, is not sound: ${faults.join('; ')}`, next);
  }
  const notes = [`version ${version} mounts a clone of a session; ask for it with --fs-snapshots agentfs`];
  return { kind: 'agentfs', score: SCORE, clone: true, freeze: false, drop: 'at once', notes };
}

function faultsOf({ files, descriptors, read, copied, compared, changed, deleted }: Measured): string[] {
  const faults: string[] = [];
  if (descriptors > files / 2)
    faults.push(
      `after a look at ${files} files it has ${descriptors} descriptors open (limit: ${descriptorLimit()})`,
    );
  if (copied > read / 2)
    faults.push(`reading a file of ${megabytes(read)} adds ${megabytes(copied)} to its database`);
  if (changed > 0)
    faults.push(`after a second mount ${changed} of ${compared} files are missing or have other content`);
  if (deleted !== null) faults.push(`a file that is deleted while it is open fails with ${deleted}`);
  return faults;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

/** agentfs raises its own limit to the hard one. */
function descriptorLimit(): string {
  return /^Max open files +\S+ +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 'unknown';
}
