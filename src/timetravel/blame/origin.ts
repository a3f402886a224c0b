/** Where a line comes from, as far as a session or a folder knows: what blame, why and the map of an acceptance have. */
import type { Repository } from '../../repository/repository.ts';
import type { SessionId } from '../../session/id.ts';
import { readRecord } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { promptIn } from '../../snapshot/format.ts';
import { type Author, type AuthoredStep, bySessionOf, readAuthors } from '../turns.ts';

export interface Origin {
  readonly session: string;
  /** The one whose agent wrote the line from outside of this folder. */
  readonly bySession: string | undefined;
  readonly author: Author;
  readonly agent: string | undefined;
  readonly turn: number | undefined;
  readonly tool: string | undefined;
  readonly call: string | undefined;
  /** Not in the map of an acceptance. */
  readonly conversation?: string | undefined;
  /** The first words of it. */
  readonly prompt: string | undefined;
  readonly snapshot: string;
  readonly time: Date;
}

export function originOf(step: AuthoredStep | undefined): Origin | undefined {
  if (step === undefined) return undefined;
  const { snapshot, author, turn, isOfCall } = step;
  return {
    session: snapshot.session,
    bySession: isOfCall ? snapshot.bySession : turn && bySessionOf(turn),
    author,
    agent: turn?.agent ?? (author === 'agent' ? snapshot.agent : undefined),
    turn: turn?.number,
    tool: isOfCall ? snapshot.tool : undefined,
    call: isOfCall ? snapshot.call?.id : undefined,
    conversation: turn?.conversation,
    prompt: turn?.prompt ?? promptIn({ label: author === 'agent' ? snapshot.label : undefined }),
    snapshot: snapshot.commit,
    time: snapshot.time,
  };
}

/** Where the agent of another session wrote a line, the history of that one has the prompt. */
export async function withPrompts(
  repository: Repository,
  origins: Iterable<Origin>,
): Promise<(origin: Origin) => Origin> {
  const ids = new Set([...origins].flatMap(({ bySession }) => bySession ?? []));
  const turnsOf = async (id: string) => {
    const record = readRecord(repository, id as SessionId);
    const history = record && (await readAuthors(new Session(repository, record)).catch(() => undefined));
    return [id, history?.begun ?? []] as const;
  };
  const turns = new Map(await Promise.all([...ids].map(turnsOf)));
  return (origin) => {
    const { bySession, conversation, time } = origin;
    if (bySession === undefined || conversation === undefined) return origin;
    const own = turns.get(bySession)?.filter((turn) => turn.conversation === conversation);
    const turn = own?.findLast(({ from }) => from <= time);
    return { ...origin, prompt: turn?.prompt };
  };
}
