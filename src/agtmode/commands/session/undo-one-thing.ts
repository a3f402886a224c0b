/** agt undo --turn N, --step, --agent: one change is taken back, and all others stay. */
import { displayPath } from '../../../disk/path-bytes.ts';
import { AgtError, FEW, listSome, usageError } from '../../../errors.ts';
import { nameOf, where } from '../../../folders/git-state/ref-plan.ts';
import { shownId } from '../../../folders/store.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { findIntegration } from '../../../integrations/tools.ts';
import { commandToList } from '../../../session/advised-commands.ts';
import { requireActive } from '../../../session/operation.ts';
import type { Session } from '../../../session/session.ts';
import { AFTER_SYNC, REJECTED, undoLabel } from '../../../snapshot/format.ts';
import type { Snapshot } from '../../../snapshot/history.ts';
import { showDiff } from '../../../timetravel/diff/diff.ts';
import { branchesLeft, commandToMoveBack } from '../../../timetravel/moved-branches.ts';
import { withPresent } from '../../../timetravel/restore/present.ts';
import { planTakeBack, type TakenBack } from '../../../timetravel/restore/take-back.ts';
import { pathInSession, readAmbiguousFolders, relativeToSandbox } from '../../../timetravel/session-paths.ts';
import { readTimeline } from '../../../timetravel/timeline.ts';
import { spansOf, undoneTurns, withRenamed } from '../../../timetravel/turn-files.ts';
import { type AuthoredHistory, type TurnSteps, turnNumbered } from '../../../timetravel/turns.ts';
import { type Arguments, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { showPath } from '../../output/format.ts';
import { runRestore } from './restore.ts';

/** So many names of commits fit into a line of a snapshot's message. */
const MOST_UNDONE = 60;

export const ONE_THING = {
  turn: {
    ...option.flag(
      'take back the last turn and all since; with a number, that turn of agt log --turns and nothing else',
    ),
    valueName: 'n',
  },
  step: option.value('take back only what this step changed: @{3} in agt session log'),
  agent: option.value('take back what this agent changed, and nothing else'),
  path: option.many('take back only changes of this file or directory, as after --'),
  'keep-ours': option.flag('where a later change is in the same lines, keep that'),
  'write-conflicts': option.flag(
    'where a later change is in the same lines, write both into the file, as git does',
  ),
} as const;

type OneThing = Arguments<typeof ONE_THING> & {
  readonly count: string | undefined;
  readonly dryRun: boolean;
  readonly json: boolean;
};

export async function undoOneThing(context: Context, session: Session, args: OneThing) {
  if (args.keepOurs && args.writeConflicts)
    throw usageError('--keep-ours and --write-conflicts exclude each other', 'give one');
  requireActive(session.record);
  const now = context.now();
  // As the user has seen it in the log: the snapshot that agt makes now may be one more.
  const step = args.step === undefined ? undefined : await session.find(args.step, now);
  return withPresent(session, { now, dryRun: args.dryRun }, (seen, authored) =>
    takeBack(context, seen, authored, step, args),
  );
}

async function takeBack(
  context: Context,
  session: Session,
  authored: AuthoredHistory,
  step: Snapshot | undefined,
  args: OneThing,
) {
  const tip = authored.steps.at(-1)?.snapshot;
  const { turns: chosen, name } = chooseTurns(session, authored, args, step);
  const positions = new Map(authored.steps.map(({ snapshot }, i) => [snapshot.commit, i]));
  const at = ({ commit }: Snapshot) => positions.get(commit) ?? 0;
  const spans = chosen.flatMap(spansOf).toSorted((a, b) => at(b) - at(a));
  const turns = `see: ${commandToList(session.record)} --turns`;
  if (tip === undefined || spans.length === 0) {
    const isShared = authored.steps.some(({ among }) => among.length > 1);
    const why = isShared ? `no change is known to be of ${name} alone` : `${name} changed nothing`;
    throw new AgtError(why, { hints: [turns] });
  }
  const namesakes = await readAmbiguousFolders(session.git, [tip.commit]);
  const paths = [...(args.path ?? []), ...args.rest].map((path) =>
    pathInSession(session.record, path, context.cwd, namesakes),
  );
  const onConflict = args.keepOurs ? 'ours' : args.writeConflicts ? 'markers' : 'refuse';
  const request = { spans, paths: paths.length > 0 ? paths : undefined, onConflict, name } as const;
  const { undone } = await undoneTurns(session, authored, chosen);
  const isUndone = chosen.every((one) => undone.has(one));
  const plan = await planTakeBack(session, tip, request);
  const taken = isUndone ? { ...plan, wanted: undefined, conflicts: [] } : plan;
  const shown = (path: string) => showPath(relativeToSandbox(displayPath(path), namesakes));
  if (taken.conflicts.length > 0 && onConflict === 'refuse')
    throw await conflictError(session, authored, spans, taken, name, shown);
  const branches = paths.length > 0 ? [] : await describeBranches(session, tip, spans, name);
  const where = paths.length === 0 ? '' : ` in ${paths.map(shown).join(', ')}`;
  if (taken.isNothing) {
    const hints = [...branches, `${turns} --stat`];
    throw new AgtError(`${name} changed ${branches.length > 0 ? 'no file' : 'nothing'}${where}`, { hints });
  }
  context.err(branches.map((line) => `hint: ${line}\n`).join(''));
  const byLater = args.keepOurs ? ': later lines stay' : '';
  for (const path of taken.conflicts) {
    const kept = taken.kept.includes(path) ? ', which stays as it is' : byLater;
    context.err(`warning: conflict in ${shown(path)}${kept}\n`);
  }
  const { wanted, staying } = taken;
  const isBack = isUndone && paths.length === 0;
  const stays = staying.length > 0 && !isBack;
  if (stays) context.err(`warning: what git ignores stays: ${listSome(staying.map(shown), FEW)}\n`);
  if (wanted === undefined) {
    const hasConflict = taken.conflicts.length > 0;
    const without = isBack ? `${name} has been taken back already` : `nothing of ${name} is left${where}`;
    const result = hasConflict || stays ? 'nothing has changed' : without;
    const json = { session_id: session.id, changed: 0, changes: [] };
    return { json, text: `${shownId(session.record)}: ${result}\n`, failed: hasConflict && !args.keepOurs };
  }
  if (args.dryRun && !args.json) {
    const { exitCode } = await showDiff(session, { before: tip, after: wanted, pathspecs: () => [] }, []);
    return exitCode;
  }
  const named = paths.length === 0 ? '' : ` in ${listSome(paths.map(shown), FEW)}`;
  const restore = {
    ...({ scope: taken.paths, by: 'restore', now: context.now(), filesOnly: true } as const),
    label: undoLabel(name + named),
    undone: spans.flatMap(({ previous }) => previous ?? []).slice(0, MOST_UNDONE),
    choose: async (seen: Session) => {
      const [newest] = await seen.history();
      if (newest?.commit === tip.commit) return wanted;
      throw new AgtError(`"${shownId(session.record)}" has changed meanwhile`, {
        hints: ['nothing is taken back; try again'],
      });
    },
  };
  const turn = args.turn ? turnNumbered(session, authored, args.count ?? '').prompt : undefined;
  const thing = `${turn === undefined ? name : `turn "${showPath(turn)}"`}${named}`;
  return runRestore(context, session, restore, args.dryRun, { thing });
}

/** agt takes back files alone. */
async function describeBranches(session: Session, tip: Snapshot, spans: readonly Snapshot[], name: string) {
  const lines = (await branchesLeft(session, tip, spans)).map(async (moved) => {
    const was = where(moved.from).replace(/^at /, '');
    const did = moved.to === undefined ? 'deleted' : 'moved';
    const what = `${nameOf(moved.ref)} stays ${where(moved.to)}: ${name} ${did} it (was ${was})`;
    if (moved.hasMore) return `${what}, and there are newer commits on it`;
    return `${what}; to move it back: ${await commandToMoveBack(session, moved, false)}`;
  });
  return Promise.all(lines);
}

function chooseTurns(
  session: Session,
  authored: AuthoredHistory,
  args: OneThing,
  step: Snapshot | undefined,
): { readonly turns: readonly Pick<TurnSteps, 'steps'>[]; readonly name: string } {
  const given = [args.step, args.agent, args.turn ? args.count : undefined];
  if (given.filter((one) => one !== undefined).length !== 1)
    throw usageError('more than one thing is given', 'give a turn, --step or --agent');
  if (step !== undefined) return { turns: [{ steps: [step] }], name: `step ${shortOid(step.commit)}` };
  if (args.agent !== undefined) {
    const names = [args.agent, findIntegration(args.agent)?.program];
    const own = authored.turns.filter(({ agent }) => names.includes(agent));
    const known = [...new Set(authored.turns.flatMap(({ agent }) => agent ?? []))].join(', ');
    const hint = known === '' ? 'agt knows agents from their hooks' : `there are turns of: ${known}`;
    if (own.length === 0) throw new AgtError(`no turn is of agent "${args.agent}"`, { hints: [hint] });
    return { turns: own.filter(({ steps }) => steps.length > 0), name: `the work of ${args.agent}` };
  }
  const turn = turnNumbered(session, authored, args.count ?? '');
  return { turns: [turn], name: `turn ${turn.number}` };
}

/** Names the paths, and who changed them since. */
async function conflictError(
  { git, record }: Session,
  { steps }: AuthoredHistory,
  spans: readonly Snapshot[],
  { conflicts, solved }: TakenBack,
  name: string,
  shown: (path: string) => string,
): Promise<AgtError> {
  const paths = conflicts.map(shown).join(', ');
  if (solved.length === conflicts.length)
    return new AgtError(`${name} has solved conflicts in ${paths}, which would be back`, {
      hints: [
        'nothing has changed',
        'keep those files: --keep-ours; or have the conflicts back: --write-conflicts',
      ],
    });
  const own = new Set(spans.map(({ commit }) => commit));
  const first = steps.findLastIndex(({ snapshot }) => own.has(snapshot.commit));
  const later = new Map(steps.slice(first + 1).map((step) => [step.snapshot, step]));
  const timeline = await readTimeline(git, [...later.keys()], { pathspecs: [], countLines: true });
  const names = new Set(conflicts);
  const touching: { snapshot: Snapshot; isRename: boolean }[] = [];
  for (const { snapshot, files } of timeline.toReversed()) {
    const all = await withRenamed(git, snapshot, files);
    const found = all.filter(({ path, old = path }) => names.has(path) || names.has(old));
    for (const { old } of found) if (old !== undefined) names.add(old);
    const isRename = found.every(
      ({ old, insertions, removals }) => old && insertions === 0 && removals === 0,
    );
    if (found.length > 0) touching.unshift({ snapshot, isRename });
  }
  const writing = touching.filter(({ isRename }) => !isRename);
  const who = (writing.length > 0 ? writing : touching).map(({ snapshot }) => {
    const step = later.get(snapshot);
    if (step?.turn !== undefined) return `turn ${step.turn.number}`;
    if (snapshot.label === AFTER_SYNC) return 'a sync';
    if (snapshot.label?.startsWith(REJECTED)) return 'a rejection';
    return step?.author === 'restore' ? 'an undo or restore' : 'you or another program';
  });
  const by = who.length === 0 ? '' : ` (by ${[...new Set(who)].join(', ')})`;
  const where = `the same lines as ${name}, or lines beside them`;
  return new AgtError(`some of the later changes of ${paths}${by} are in ${where}`, {
    hints: [
      'nothing has changed',
      'keep the later lines: --keep-ours; or have both in the files, as git writes conflicts: --write-conflicts',
      `see: ${commandToList(record)} --turns`,
    ],
  });
}
