/**
 * Who made each step of a history, and the turns of the agents: a prompt with all that its agent did until the next prompt
 * of that conversation. A change is of a call that was at work when it came. With none at work it is of a person or of
 * another program, with two nobody knows. Without any event of an agent in the history, agt knows only the labels.
 */
import { AgtError } from '../errors.ts';
import { tipRef } from '../filter/agent-refs.ts';
import { shownId } from '../folders/store.ts';
import { type Git, gitAnswer } from '../git/run/git.ts';
import { commandToList } from '../session/advised-commands.ts';
import { conversationIn } from '../session/calls-at-work.ts';
import { isAttached, readRecord, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { BEFORE_RUN, isBroughtIn, labelByPerson, promptIn } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { compareWithPrevious } from './timeline.ts';

/** `other`: a person, or a program that is no call of an agent. `restore`: a person has brought a snapshot back. */
export type Author = 'agent' | 'other' | 'restore' | 'unknown';

export interface AuthoredStep {
  readonly snapshot: Snapshot;
  readonly author: Author;
  /** The one whose call it was, or in a history without events the last one. */
  readonly turn: TurnSteps | undefined;
  /** The call is known, not only its turn. */
  readonly isOfCall: boolean;
  /** The conversations of which one made it, if it is unknown. */
  readonly among: readonly string[];
}

export interface TurnSteps {
  /** Counted from 1 by the first call of an agent, so that a later prompt shifts none; 0 before that. */
  number: number;
  readonly session: string;
  /** No turn of an agent: what a person or another program has done after one. */
  readonly isPersons: boolean;
  readonly prompt: string | undefined;
  readonly from: Date;
  agent: string | undefined;
  readonly conversation: string | undefined;
  /** Snapshots that belong to it, also those without a change; oldest first. The last one may begin the next turn. */
  readonly snapshots: Snapshot[];
  /** Those of them whose change is its own. */
  readonly steps: Snapshot[];
}

export interface AuthoredHistory {
  /** Oldest first, one for each snapshot. */
  readonly steps: readonly AuthoredStep[];
  readonly turns: readonly TurnSteps[];
  /** Also those without a call of an agent: a prompt alone, or snapshots of which agt knows only labels. */
  readonly begun: readonly TurnSteps[];
}

/**
 * `history`: oldest first. `isFolder`: its first snapshot has all that was there before. `empty`: see `emptySteps`; it
 * matters to the numbers of turns.
 */
export function authorsOf(
  history: readonly Snapshot[],
  isFolder: boolean,
  empty: ReadonlySet<string> = new Set(),
): AuthoredHistory {
  const turns: TurnSteps[] = [];
  const begun: TurnSteps[] = [];
  const current = new Map<string, TurnSteps>();
  const told = new Set<string | undefined>();
  const begin = (snapshot: Snapshot, key: string): TurnSteps => {
    const { session, time: from, agent, conversation } = snapshot;
    const prompt = promptIn(snapshot);
    const isPersons = key === OF_PERSONS;
    const about = { number: 0, session, isPersons, prompt, from, agent, conversation };
    const turn = { ...about, snapshots: [], steps: [] };
    current.set(key, turn);
    begun.push(turn);
    return turn;
  };
  const steps = history.map((snapshot): AuthoredStep => {
    const { tool, agent, conversation } = snapshot;
    const own = conversation ?? '';
    if (isOfHook(snapshot)) told.add(agent);
    const isTold = told.size > 0;
    const isOfRun = agent !== undefined && conversation === undefined && !told.has(agent);
    const { author, key, among } = authorOf(snapshot, {
      hasEvents: isTold && !isOfRun,
      isStart: isFolder && isTold && snapshot.previous === undefined,
    });
    const present = current.get(own);
    const isNamed = agent !== undefined || (tool === undefined && author === 'unknown');
    const isOther = author === 'restore' || (isNamed && agent !== present?.agent);
    if (present?.prompt === undefined && isOther) current.delete(own);
    const isPrompt = promptIn(snapshot) !== undefined;
    const isOfTurn = author === 'agent' || (author === 'unknown' && among.length === 0);
    const turn = isOfTurn ? (current.get(key) ?? (isPrompt ? undefined : begin(snapshot, key))) : undefined;
    const last = agent === undefined ? begun.at(-1) : undefined;
    const isChange = !isPrompt && snapshot.before === undefined && !isBroughtIn(snapshot.label);
    const isPersons = author === 'other' && isChange && own === '';
    if (!isPersons) current.delete(OF_PERSONS);
    const belongsTo = isPersons
      ? (current.get(OF_PERSONS) ?? begin(snapshot, OF_PERSONS))
      : isPrompt
        ? begin(snapshot, own)
        : (turn ?? current.get(own) ?? last);
    const owner = isPersons ? belongsTo : turn;
    owner?.steps.push(snapshot);
    for (const one of new Set([owner, belongsTo]))
      if (isEventOf(snapshot) || (one === owner && !empty.has(snapshot.commit)))
        one?.snapshots.push(snapshot);
    const isOfLabel = turn?.prompt !== undefined && !isTold && !empty.has(snapshot.commit);
    const isWork = tool !== undefined || author === 'agent' || isOfLabel;
    const atWork = turn ?? belongsTo;
    if (atWork?.number === 0 && isWork) atWork.number = turns.push(atWork);
    if (turn !== undefined && turn.agent === undefined && key === own) turn.agent = agent;
    const isAlone = key === own && among.length === 0 && !snapshot.during.map(conversationIn).includes(own);
    const isOfCall = tool !== undefined && isAlone;
    return { snapshot, author, turn, isOfCall, among };
  });
  const known = steps.map((step) => (step.turn?.number === 0 ? { ...step, turn: undefined } : step));
  return { steps: known, turns, begun };
}

export function isOfHook({ conversation, before, during }: Snapshot): boolean {
  return conversation !== undefined || before !== undefined || during.length > 0;
}

export function isMove({ restoredBy }: Snapshot): boolean {
  return restoredBy === 'undo' || restoredBy === 'redo';
}

/** The snapshots that the content of `from` comes from, newest first. `isBack`: one is as the snapshot that it restored. */
export function lineOf(known: ReadonlyMap<string, Snapshot>, from = '', isBack = isMove): Set<Snapshot> {
  const before = (one: Snapshot) => known.get((isBack(one) ? one.restored : one.previous) ?? '');
  const line = new Set<Snapshot>();
  for (let at = known.get(from); at !== undefined; at = before(at)) line.add(at);
  return line;
}

/** What people do after the agents: no conversation has this name. */
const OF_PERSONS = '\0';

/** `key`: the conversation whose turn it is. */
function authorOf(
  snapshot: Snapshot,
  { hasEvents, isStart }: Readonly<Record<'hasEvents' | 'isStart', boolean>>,
): Pick<AuthoredStep, 'author' | 'among'> & { readonly key: string } {
  const { tool, before, label, conversation: own = '' } = snapshot;
  const open = snapshot.during.map(conversationIn);
  const others = open.filter((name) => name !== own);
  if (snapshot.restoredBy !== undefined) return { author: 'restore', key: own, among: [] };
  if (isStart || isBroughtIn(label) || label === BEFORE_RUN) return { author: 'other', key: own, among: [] };
  if (tool === undefined && before === undefined && others.length < open.length)
    return { author: 'unknown', key: own, among: open }; // interrupted, and a person may have gone on
  const atWork = tool === undefined ? open : [own, ...others];
  const [only = own, ...more] = atWork;
  if (more.length > 0) return { author: 'unknown', key: own, among: atWork };
  if (atWork.length > 0) return { author: 'agent', key: only, among: [] };
  return { author: hasEvents ? 'other' : 'unknown', key: own, among: [] };
}

/** A command of a person, such as accept or undo, makes snapshots that are of no turn, unless they have its changes. */
function isEventOf(snapshot: Snapshot): boolean {
  const { label, restoredBy } = snapshot;
  return (
    restoredBy === undefined &&
    (label === undefined || promptIn(snapshot) !== undefined || labelByPerson(snapshot) !== undefined)
  );
}

/** The session whose agent made these changes from outside of this folder. */
export function bySessionOf({ steps, conversation }: TurnSteps): string | undefined {
  return steps.find((one) => one.bySession !== undefined && one.conversation === conversation)?.bySession;
}

export async function readAuthors(session: Session): Promise<AuthoredHistory> {
  const history = await withOwners(session, (await session.requireHistory()).toReversed());
  return authorsOf(history, isAttached(session.record), await emptySteps(session.git, [history]));
}

/** The session that made a snapshot no longer has it where a pull has left it to this fork, whose it is then. */
async function withOwners({ repository, git, id, record }: Session, history: readonly Snapshot[]) {
  const { from, created_at: created } = record;
  if (!from || readRecord(repository, from)?.moved?.came.includes(created) !== true) return history;
  const words = ['rev-list', '--first-parent', history.at(-1)?.commit ?? '', `^${tipRef(from)}`, '--'];
  const left = new Set((await gitAnswer(git, words))?.split('\n'));
  const isLeft = ({ session, commit }: Snapshot) => session === from && left.has(commit);
  return history.map((one) => (isLeft(one) ? { ...one, session: id } : one));
}

/**
 * The commits of snapshots that changed no file: those of commands, and all where labels alone tell of prompts, as events
 * come only with changes.
 */
export async function emptySteps(git: Git, histories: readonly (readonly Snapshot[])[]) {
  const hasLabel = (one: Snapshot) => promptIn(one) !== undefined && !isOfHook(one);
  const isOfCommand = (one: Snapshot) => one.previous !== undefined && !isEventOf(one);
  const steps = histories.flatMap((all) => (all.some(hasLabel) ? all : all.filter(isOfCommand)));
  const changed = await compareWithPrevious(git, steps);
  return new Set(steps.map(({ commit }) => commit).filter((commit) => !changed.get(commit)?.length));
}

/** @throws AgtError if there is no turn of this number */
export function turnNumbered({ record }: Session, { turns }: AuthoredHistory, number: string): TurnSteps {
  const turn = /^[1-9]\d*$/.test(number) ? turns[Number(number) - 1] : undefined;
  if (turn !== undefined) return turn;
  const known = ['it has none', 'it has turn 1'][turns.length] ?? `it has turns 1 to ${turns.length}`;
  throw new AgtError(`"${shownId(record)}" has no turn "${number}": ${known}`, {
    hints: [`see: ${commandToList(record)} --turns`],
  });
}

/**
 * For each turn. A call or a prompt without a name is of the agent that told its name last in the session, unless it was
 * before the first name.
 */
export function namesOfAgents(records: readonly SessionRecord[], authored: readonly AuthoredHistory[]) {
  const unnamed = authored.flatMap(({ steps }) => {
    const first = steps.findIndex(({ snapshot }) => snapshot.agent !== undefined);
    return steps.slice(0, Math.max(0, first)).map(({ snapshot }) => snapshot.commit);
  });
  const isUnnamed = new Set(unnamed);
  return ({ session, number, agent, snapshots: [first] }: TurnSteps) => {
    if (agent !== undefined || number === 0 || isUnnamed.has(first?.commit ?? '')) return agent;
    return records.find(({ session_id: id }) => id === session)?.agent;
  };
}
