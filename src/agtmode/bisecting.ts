/** Tests the snapshots of a session with a command, and says on standard error how far that has come. */
import { availableParallelism } from 'node:os';
import { AgtError, plural } from '../errors.ts';
import { shownId } from '../folders/store.ts';
import { shortOid } from '../git/files/ref-files.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import type { Session } from '../session/session.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { OWN, TO_GREEN } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { readSnapshotMetadata } from '../snapshot/manifest.ts';
import { newestGood, type Probe, probeAll, type Verdict } from '../timetravel/bisect/bisect.ts';
import type { Candidate } from '../timetravel/bisect/copies.ts';
import { type ProbeEnd, withProbes } from '../timetravel/bisect/probe.ts';
import { type Distance, readSteps } from '../timetravel/restore/steps.ts';
import type { RestoreRequest } from '../timetravel/restore/unfinished-restore.ts';
import { autocommit } from '../triggers/autocommit.ts';
import type { Context } from './context.ts';

interface Testing {
  readonly history: readonly Snapshot[];
  readonly candidates: readonly Candidate[];
  readonly words: readonly string[];
}

/** `action` gets a probe of candidates by their index, and what each probe has found. */
export function withTests<T>(
  context: Context,
  session: Session,
  { history, candidates, words }: Testing,
  action: (probe: Probe, ends: ReadonlyMap<number, ProbeEnd>) => Promise<T>,
): Promise<T> {
  const known = new Map<string, ProbeEnd>();
  const ends = new Map<number, ProbeEnd>();
  return withProbes(session, history, { words, env: context.env }, (run) => {
    const probe: Probe = async (index, cancel) => {
      const candidate = candidates[index] as Candidate;
      const content = await contentOf(session, candidate);
      const end = known.get(content) ?? (await run(candidate, cancel));
      if (cancel.aborted) return 'skip';
      const name = nameOf(history, candidate);
      const verdict = verdictOf(end, name);
      known.set(content, end);
      ends.set(index, end);
      context.err(`${name}: ${verdict}${verdict === 'bad' ? `, exit code ${end.exitCode}` : ''}\n`);
      return verdict;
    };
    return action(probe, ends);
  });
}

export function nameOf(history: readonly Snapshot[], candidate: Candidate): string {
  if ('start' in candidate) return `the start commit ${shortOid(candidate.start)}`;
  const number = history.findIndex(({ commit }) => commit === candidate.commit);
  return `@{${number}} ${shortOid(candidate.commit)}`;
}

/** All on which the command may depend: not names, labels and times. */
async function contentOf({ git }: Session, candidate: Candidate): Promise<string> {
  if ('start' in candidate) return candidate.start;
  const { commit } = candidate;
  const parts = [...TOP_FOLDERS, OWN.index].map((part) => `${commit}:${part}`);
  const oids = (await findObjects(git, parts)).map((object) => object?.oid);
  const { head, modes, empty_directories } = (await readSnapshotMetadata(git, commit)).manifest;
  return JSON.stringify([oids, head, modes, empty_directories]);
}

/** Exit codes as for git bisect run. */
const SKIP = 125;
const STOP = 128;

function verdictOf({ exitCode, output }: ProbeEnd, name: string): Verdict {
  if (exitCode < STOP) return exitCode === 0 ? 'good' : exitCode === SKIP ? 'skip' : 'bad';
  throw new AgtError(`the command ended with ${exitCode} at ${name}: from ${STOP} on that stops a bisect`, {
    hints: ['125 passes over a snapshot, any other code but 0 is a failure', ...lastLines(output)],
  });
}

const LINES = 5;

/** For a hint. */
export function lastLines(output: string): string[] {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.length === 0 ? [] : [`its output ended with:\n${lines.slice(-LINES).join('\n')}`];
}

/**
 * Goes to the newest step of the session at which a shell command passes. Undefined if that is the current one.
 * @throws AgtError if the command passes nowhere
 */
export async function findGreen(
  context: Context,
  session: Session,
  command: string,
  { filesOnly, dryRun }: { readonly filesOnly: boolean; readonly dryRun: boolean },
): Promise<{ readonly request: RestoreRequest; readonly distance: Distance } | undefined> {
  const now = context.now();
  if (!dryRun && session.place === 'here') await autocommit(session, { now });
  const { history, steps, current } = await readSteps(session);
  const candidates = steps.slice(0, current + 1).map(({ snapshot }) => snapshot);
  if (current < 0) throw new AgtError(`"${shownId(session.record)}" has no snapshots yet`);
  const words = ['/bin/sh', '-c', command];
  return withTests(context, session, { history, candidates, words }, async (probe) => {
    const [present] = await probeAll([current], 1, probe);
    if (present === 'good') return undefined;
    const found = await newestGood(current, availableParallelism(), probe);
    const snapshot = found && candidates[found.good];
    if (found === undefined || snapshot === undefined)
      throw new AgtError(`"${command}" passes at none of the ${plural(candidates.length, 'step')}`, {
        hints: ['nothing has changed'],
      });
    const label = `${TO_GREEN}${command}`;
    const choose = async () => snapshot;
    const request = { scope: TOP_FOLDERS, by: 'undo', now, filesOnly, label, choose } as const;
    return { request, distance: { count: current - found.good, unit: 'step' } };
  });
}
