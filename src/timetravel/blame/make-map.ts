/** Makes the map of an acceptance: which step each changed file, or each of its lines, comes from. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { findObjects } from '../../git/objects/object-reader.ts';
import type { DiffEntry } from '../../git/objects/raw-diff.ts';
import { inDirectory } from '../../git/run/git.ts';
import { once } from '../../once.ts';
import { reportProgress } from '../../process/progress.ts';
import type { Session } from '../../session/session.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { readTimeline } from '../timeline.ts';
import { type AuthoredHistory, type AuthoredStep, readAuthors } from '../turns.ts';
import { type FileOrigins, readAcceptMaps, writeAcceptMap } from './accept-map.ts';
import { originsOfLost } from './blame.ts';
import { withStepsOfLines } from './lines-of-session.ts';
import { filesBeside } from './made-commits.ts';
import { type Origin, originOf } from './origin.ts';
import { asInWorktree } from './porcelain.ts';

/** `changes`: of the commit that has landed, against the branch before. */
export async function keepOrigins(
  session: Session,
  {
    from,
    commit,
    changes,
  }: { readonly from: string; readonly commit: string; readonly changes: readonly DiffEntry[] },
): Promise<undefined> {
  const { git, record } = session;
  const place = existsSync(record.sandbox) ? inDirectory(git, record.sandbox) : git;
  if ((await readAcceptMaps(git, session.id))[0]?.landed === commit) return; // agt was killed since
  const history = await readAuthors(session);
  const { stepsOf, moving } = await stepsByPath(session, history.steps);
  const changed = changes.filter(({ after }) => after !== undefined);
  const [first, last] = [history.steps[0]?.snapshot.parents[0], history.steps.at(-1)?.snapshot.commit];
  const objects = (names: readonly string[]) => findObjects(git, names);
  const oids = await objects(changed.map(({ path }) => `${last}:${encodePath(`sandbox/${path}`)}`));
  const starts = await objects(changed.map(({ path }) => `${first}:${path}`));
  const beside = once(() => filesBeside(git, commit));
  const files = await withStepsOfLines(session, history, async (stepsOfLines) => {
    const originsOf = async ({ path, before, after }: DiffEntry, i: number) => {
      const [only, ...others] = stepsOf(path);
      if (only === undefined) return undefined;
      // A session may have begun with lines that the branch does not have.
      const isAlone = others.length === 0 && starts[i]?.oid === before?.oid;
      if (isAlone && !moving.has(only)) return originOf(only);
      // git may store other bytes than those on disk, and the branch may have lines of its own. A part of the session
      // may have lines that a later step changed, in a file that is gone.
      const content =
        oids[i]?.oid === after?.oid ? undefined : await asInWorktree(place, after?.oid ?? '', path);
      const steps = afterAll(history, [only, ...others]);
      const found = await stepsOfLines({ path, content, after: steps, beside });
      const earlier = await originsOfLost(session.repository, from, found);
      const lines = found.map((line, n) => [n + 1, originOf(line.step) ?? earlier(line)] as const);
      return new Map(lines.filter((line): line is [number, Origin] => line[1] !== undefined));
    };
    const found = new Map<string, FileOrigins>();
    const atOnce = availableParallelism();
    for (let i = 0; i < changed.length; i += atOnce) {
      reportProgress('noting who wrote the lines', i, changed.length);
      const some = changed.slice(i, i + atOnce);
      const origins = await Promise.all(some.map((change, n) => originsOf(change, i + n)));
      for (const [n, { path }] of some.entries()) if (origins[n]) found.set(path, origins[n]);
    }
    return found;
  });
  await writeAcceptMap(git, { session: session.id, landed: commit, from, files });
}

/** Newest first: these steps, and the last of all. */
export function afterAll({ steps }: AuthoredHistory, chosen: readonly AuthoredStep[]): number[] {
  return [...chosen.map((step) => steps.indexOf(step)), steps.length - 1].reverse();
}

/**
 * The steps that changed a file of the sandbox, also under the names that it may have had, oldest first; and those that may
 * have renamed one.
 */
export async function stepsByPath({ git }: Session, steps: readonly AuthoredStep[]) {
  const known = new Map(steps.map((step) => [step.snapshot, step]));
  const timeline = await readTimeline(git, [...known.keys()], { pathspecs: [], countLines: false });
  const found = new Map<string, AuthoredStep[]>();
  const moving = new Map<AuthoredStep, readonly string[]>();
  for (const { snapshot, files } of timeline) {
    const step = known.get(snapshot);
    if (step === undefined) continue;
    const own = files.flatMap(({ path, kind }) =>
      path.startsWith(SANDBOX) ? [{ name: path.slice(SANDBOX.length), kind }] : [],
    );
    const deleted = own.flatMap(({ name, kind }) => (kind === 'deleted' ? name : []));
    if (deleted.length > 0 && files.some(({ kind }) => kind === 'added')) moving.set(step, deleted);
    for (const { name } of own) found.set(name, [...(found.get(name) ?? []), step]);
  }
  const stepsOf = (path: string, seen = new Set<string>()): AuthoredStep[] => {
    const own = found.get(path) ?? [];
    seen.add(path);
    const former = new Set(own.flatMap((step) => (moving.get(step) ?? []).slice(0, MOST_NAMES)));
    const before = [...former].flatMap((name) => (seen.has(name) ? [] : stepsOf(name, seen)));
    const all = new Set([...own, ...before]);
    return before.length === 0 ? own : steps.filter((step) => all.has(step));
  };
  return { stepsOf, moving };
}

/** A step that moves more files at once has moved a directory, and its files are as they were. */
const MOST_NAMES = 50;
const SANDBOX = 'sandbox/';
