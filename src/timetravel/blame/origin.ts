/** Where a line comes from, as far as a session or a folder knows: what blame, why and the map of an acceptance have. */
import { promptIn } from '../../snapshot/format.ts';
import type { Author, AuthoredStep } from '../turns.ts';

export interface Origin {
  readonly session: string;
  readonly author: Author;
  readonly agent: string | undefined;
  readonly turn: number | undefined;
  readonly tool: string | undefined;
  readonly call: string | undefined;
  /** The first words of it. */
  readonly prompt: string | undefined;
  readonly snapshot: string;
  readonly time: Date;
}

export function originOf(step: AuthoredStep): Origin;
export function originOf(step: AuthoredStep | undefined): Origin | undefined;
export function originOf(step: AuthoredStep | undefined): Origin | undefined {
  if (step === undefined) return undefined;
  const { snapshot, author, turn, isOfCall } = step;
  return {
    session: snapshot.session,
    author,
    agent: turn?.agent ?? (author === 'agent' ? snapshot.agent : undefined),
    turn: turn?.number,
    tool: isOfCall ? snapshot.tool : undefined,
    call: isOfCall ? snapshot.call?.id : undefined,
    prompt: turn?.prompt ?? promptIn({ label: author === 'agent' ? snapshot.label : undefined }),
    snapshot: snapshot.commit,
    time: snapshot.time,
  };
}
