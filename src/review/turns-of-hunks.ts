/**
 * Which turns wrote a hunk: those of its new lines, by blame; none if they all came outside of turns. If no step is known
 * to have brought some, those that changed the file and were not undone.
 */
import { readObjects } from '../git/objects/object-reader.ts';
import type { Workbench } from '../landing/workbench.ts';
import { once } from '../once.ts';
import type { Session } from '../session/session.ts';
import { withStepsOfLines } from '../timetravel/blame/lines-of-session.ts';
import { afterAll, stepsByPath } from '../timetravel/blame/make-map.ts';
import type { FileChange } from '../timetravel/timeline.ts';
import { filesOfTurns, undoneTurns } from '../timetravel/turn-files.ts';
import { type AuthoredStep, readAuthors } from '../timetravel/turns.ts';
import type { Hunk } from './hunks.ts';

/** In the order of `hunks`. */
export async function turnsOfHunks(
  session: Session,
  { git }: Workbench,
  hunks: readonly Hunk[],
): Promise<(readonly number[])[]> {
  const history = await readAuthors(session);
  const changes = once(() => stepsByPath(session, history.steps));
  const files = once(async () => {
    const { undone } = await undoneTurns(session, history, history.turns);
    const standing = history.turns.filter((turn) => !undone.has(turn));
    return filesOfTurns(session.git, standing);
  });
  return withStepsOfLines(session, history, async (stepsOfLines) => {
    type StepOfLine = (line: number) => AuthoredStep | undefined;
    const known = new Map<string, Promise<StepOfLine>>();
    const stepsIn = async (path: string, oid: string): Promise<StepOfLine> => {
      const { stepsOf, moving } = await changes();
      const chosen = stepsOf(path);
      const [only, ...others] = chosen;
      if (only !== undefined && others.length === 0 && !moving.has(only)) return () => only;
      const [blob] = await readObjects(git, [oid]);
      if (blob?.type !== 'blob') return () => undefined;
      // A later step may have changed what was seen.
      const after = afterAll(history, chosen);
      const steps = await stepsOfLines({ path, content: blob.content, after });
      return (line) => steps[line - 1]?.step;
    };
    const turnsOf = async ({ path, lines, newStart, pieces }: Hunk) => {
      const after = pieces[0]?.piece.file.after;
      const added = addedLines(lines, newStart);
      if (after !== undefined && added.length > 0) {
        const key = `${path}\0${after.oid}`;
        if (!known.has(key)) known.set(key, stepsIn(path, after.oid));
        const stepOf = await known.get(key);
        const steps = added.map((line) => stepOf?.(line));
        const writers = [...new Set(steps.flatMap((step) => step?.turn?.number ?? []))];
        if (writers.length > 0 || steps.every((step) => step !== undefined))
          return writers.sort((a, b) => a - b);
      }
      const changed = await files();
      const isOf = (file: FileChange) => file.path === `sandbox/${path}`;
      return [...changed].filter(([, own]) => own.some(isOf)).map(([{ number }]) => number);
    };
    return Array.fromAsync(hunks, turnsOf);
  });
}

/** Their numbers, counted from 1. */
function addedLines(lines: readonly string[], newStart: number): number[] {
  let number = newStart - 1;
  return lines.flatMap((line) => {
    if (line[0] === ' ' || line[0] === '+') number++;
    return line[0] === '+' ? [number] : [];
  });
}
