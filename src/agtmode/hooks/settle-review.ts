/** Hunks that a person has rejected in agt review go back at the end of a turn, or are told with the next prompt. */
import { AgtError, EXIT } from '../../errors.ts';
import { reviewRef } from '../../filter/agent-refs.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import type { FileEvent } from '../../integrations/event.ts';
import { isOfSubagent } from '../../integrations/note-state.ts';
import type { Place } from '../../integrations/place.ts';
import type { Context } from '../context.ts';
import { runAgt } from './answer-prompt.ts';

/** Returns what the model is to hear. Another agt does it: this one starts with every call of an agent. */
export async function settleReview(
  context: Context,
  { user, record }: Place,
  event: FileEvent,
): Promise<string | undefined> {
  const when = event.kind === 'prompt' ? 'prompt' : 'turn';
  const isEnd = event.kind === 'session-end' || (event.kind === 'turn' && !isOfSubagent(event));
  if (user === undefined || record === undefined || (when === 'turn' && !isEnd)) return undefined;
  if ((await findObject(user.git, reviewRef(record.session_id))) === undefined) return undefined;
  const { exitCode, text } = await runAgt(['review', record.session_id, '--settle', when], context);
  if (exitCode !== EXIT.done) throw new AgtError(text.trimEnd().replace(/^error: /, ''));
  return text === '' ? undefined : text;
}
