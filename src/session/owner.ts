/**
 * The owner of a session: the command that `agt session run` has started in it. An owner that has ended by itself is no
 * longer named. So if metadata name one that is gone, somebody has killed it together with its agt.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify, type ProcessIdentity, processIsGone } from '../disk/lock-owner.ts';
import { AgtError, attempt } from '../errors.ts';
import { commandsDirectory } from '../layout.ts';

export interface Owner extends ProcessIdentity {
  /** The name of the program, without its arguments: those may hold secrets. */
  readonly command: string;
  readonly at: string;
  /** The `agt session run` that captures while the command runs. */
  readonly runner?: ProcessIdentity;
}

export function ownerOf(pid: number, command: string, now: Date): Owner {
  return { ...identify(pid), command, at: now.toISOString() };
}

/** Whether the owner goes on although its `agt session run` was killed. */
export function isAlone(owner: Owner | undefined): owner is Owner {
  return owner?.runner !== undefined && processIsGone(owner.runner) && !processIsGone(owner);
}

/** A command of `agt session exec` runs in the session, and does not own it. Returns what ends the note. */
export function noteCommand({ agtDir }: Place, id: string, owner: Owner): () => void {
  const directory = commandsDirectory(agtDir, id);
  const file = join(directory, `${owner.pid}`);
  attempt(() => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(file, JSON.stringify(owner));
  });
  return () => {
    rmSync(file, { force: true });
    attempt(() => rmdirSync(directory)); // another one runs
  };
}

/** Those whose agt was killed count while they run; then their notes go. */
function commandsIn({ agtDir }: Place, id: string): Owner[] {
  const directory = commandsDirectory(agtDir, id);
  const files = (attempt(() => readdirSync(directory)) ?? []).map((name) => join(directory, name));
  return files.flatMap((file) => {
    const owner = attempt(() => JSON.parse(readFileSync(file, 'utf8')) as Owner);
    if (owner === undefined || !processIsGone(owner)) return owner ?? [];
    attempt(() => rmSync(file, { force: true }));
    return [];
  });
}

interface Place {
  readonly agtDir: string;
}

/** @throws AgtError while the owner or another command runs: it would lose the folder that it works in. */
export function refuseRunning(
  {
    repository,
    record: { session_id: id, owner },
  }: {
    readonly repository: Place;
    readonly record: { readonly session_id: string; readonly owner?: Owner };
  },
  ...ways: readonly string[]
): void {
  const all = [...(owner === undefined ? [] : [owner]), ...commandsIn(repository, id)];
  const running = all.find((one) => !processIsGone(one));
  if (running === undefined) return;
  throw new AgtError(`"${running.command}" runs in session "${id}" (process ${running.pid})`, {
    hints: ['wait until it has ended, or end it', ...ways],
  });
}
