/**
 * Runs a command in copies of snapshots. The command has a process group of its own, which ends with the probe, and also if
 * agt is killed.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { abandonedDirectories, makeOwnedDirectory } from '../../disk/lock-owner.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError, attempt } from '../../errors.ts';
import { REPOSITORY_VARIABLES } from '../../git/run/environment.ts';
import { probesDirectory } from '../../layout.ts';
import { removeEmptyParents } from '../../lifecycle/delete-folder.ts';
import { sayWhenInterrupted } from '../../process/interrupts.ts';
import { waitUntil } from '../../process/wait.ts';
import type { Session } from '../../session/session.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { type Candidate, type Copy, fill, readTimes } from './copies.ts';

export interface ProbeEnd {
  readonly exitCode: number;
  /** The end of what it printed. */
  readonly output: string;
}

export type RunProbe = (candidate: Candidate, cancel: AbortSignal) => Promise<ProbeEnd>;

interface Command {
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** `history`: newest first. At the end nothing is left of the copies, nor of the processes in them. */
export async function withProbes<T>(
  session: Session,
  history: readonly Snapshot[],
  command: Command,
  action: (run: RunProbe) => Promise<T>,
): Promise<T> {
  const parent = probesDirectory(session.repository.agtDir, await session.repository.sessionsDir());
  const groups = new Map<string, number | undefined>();
  const cleanUp = () => {
    for (const pid of groups.values()) signalGroup(pid, 'SIGKILL');
    // A killed process may still end a write.
    for (const folder of groups.keys())
      waitUntil(() => attempt(() => removeTree(folder) ?? true) === true, LONGEST_MS, POLL_MS);
    removeEmptyParents(parent);
  };
  const times = await readTimes(session, history);
  const idle: Copy[] = [];
  const newCopy = (): Copy => ({
    folder: makeOwnedDirectory(join(parent, 'probe-')),
    contents: undefined,
  });
  return sayWhenInterrupted(cleanUp, async () => {
    for (const path of abandonedDirectories(parent)) removeTree(path);
    try {
      return await action(async (candidate, cancel) => {
        const copy = idle.pop() ?? newCopy();
        groups.set(copy.folder, undefined);
        try {
          await fill(session, copy, candidate, times);
          cancel.throwIfAborted();
          return await runIn(copy.folder, command, cancel, (pid) => groups.set(copy.folder, pid));
        } finally {
          groups.set(copy.folder, undefined);
          idle.push(copy);
        }
      });
    } finally {
      cleanUp();
    }
  });
}

/** The first part ends the process group when agt is no longer there to do it: nobody else holds the pipe. */
const KEEPER = `trap : HUP INT TERM
(trap '' HUP INT TERM; read -r end <&3; kill -9 0) >/dev/null 2>&1 &
exec 3<&-
"$@"`;

/** Bytes of the output that are kept. */
const MOST_OUTPUT = 4000;
/** So long a command may clean up when it is no longer needed. */
const GRACE_MS = 2000;
const LONGEST_MS = 2000;
const POLL_MS = 20;

function runIn(
  folder: string,
  { words, env: { ...env } }: Command,
  cancel: AbortSignal,
  started: (group: number | undefined) => void,
): Promise<ProbeEnd> {
  for (const name of REPOSITORY_VARIABLES) delete env[name];
  const cwd = join(folder, 'sandbox');
  const child = spawn('/bin/sh', ['-c', KEEPER, 'sh', ...words], {
    cwd,
    env: { ...env, PWD: cwd, GIT_CEILING_DIRECTORIES: folder },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  started(child.pid);
  let output = Buffer.alloc(0);
  const keep = (chunk: Buffer) => {
    output = Buffer.concat([output, chunk]).subarray(-MOST_OUTPUT);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  let timer: NodeJS.Timeout | undefined;
  cancel.addEventListener('abort', () => {
    signalGroup(child.pid, 'SIGTERM');
    timer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), GRACE_MS);
  });
  return new Promise((resolve, reject) => {
    let exitCode = 0;
    child.on('error', (cause) => reject(new AgtError(`cannot run /bin/sh in ${cwd}`, { cause })));
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      exitCode = code ?? 128 + constants.signals[signal as NodeJS.Signals];
      signalGroup(child.pid, 'SIGKILL'); // what the command has left behind
    });
    child.on('close', () => resolve({ exitCode, output: output.toString() }));
  });
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid !== undefined) attempt(() => process.kill(-pid, signal));
}
