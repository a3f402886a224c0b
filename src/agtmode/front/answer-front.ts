/**
 * Answers of `agt watch` to the front: it captures as agt would, and says what agt would print. If anything goes wrong, the
 * front starts agt, which finds the same and reports it.
 */
import { existsSync } from 'node:fs';
import { attempt, EXIT } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import { parseEventJson } from '../../integrations/event.ts';
import { writeLastEvent } from '../../integrations/hooks-log.ts';
import { recordEvent } from '../../integrations/record-event.ts';
import { findIntegration } from '../../integrations/tools.ts';
import { watcherFile } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { findSession, sessionContaining } from '../../session/find-session.ts';
import type { SessionId } from '../../session/id.ts';
import { listRecords } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { autocommit } from '../../triggers/autocommit.ts';
import { type Answer, answerQuestions, type Question } from '../../triggers/watch/questions.ts';
import { openContext } from '../context.ts';
import { placeOf, withoutProjectVariables } from '../hooks/call.ts';
import { reportAutocommit } from '../output/autocommit.ts';

/** For another agt that works on the session: long enough for most autocommits. agt itself goes by `--wait`. */
const WAIT_MS = 1_000;

export async function answerFront({ agtDir }: Repository, question: Question, env: NodeJS.ProcessEnv) {
  const answer = question.kind === 'hook' ? answerTool : answerAutocommit;
  return answer(agtDir, question, env);
}

const CHECK_MS = 5_000;

/** One answer at a time. Nothing is captured unasked, and nothing is watched. */
export async function answerUntilIdle(repository: Repository, env: NodeJS.ProcessEnv, idleMs: number) {
  let last: Promise<unknown> = Promise.resolve();
  const ended = Promise.withResolvers<void>();
  const timer = setTimeout(ended.resolve, idleMs);
  const stop = await answerQuestions(repository.agtDir, env, (question) => {
    timer.refresh();
    const answer = last.then(() => answerFront(repository, question, env));
    last = answer.catch(() => undefined);
    return answer;
  });
  if (stop === undefined) ended.resolve();
  const check = setInterval(() => attempt(() => hasSessions(repository)) || ended.resolve(), CHECK_MS);
  await ended.promise;
  clearTimeout(timer);
  clearInterval(check);
  await last;
  stop?.();
}

/** Somebody may delete the repository, or its last session. */
function hasSessions(repository: Repository): boolean {
  if (!existsSync(watcherFile(repository.agtDir))) return false;
  return listRecords(repository).records.some(
    (record) => isActive(record) && existsSync(record.checkout ?? record.sandbox),
  );
}

/** The session that a question is about, if it says so. */
export function sessionAsked(repository: Repository, { session, cwd }: Question): SessionId | undefined {
  return (session as SessionId | undefined) ?? sessionContaining(repository, cwd)?.session_id;
}

async function answerAutocommit(agtDir: string, { cwd, session, tool }: Question, env: NodeJS.ProcessEnv) {
  const context = openContext(cwd, env);
  const repository = await context.repository();
  const record = findSession(repository, session, cwd);
  if (repository.agtDir !== agtDir || !isActive(record)) return undefined;
  const now = context.now();
  const result = await autocommit(new Session(repository, record), { now, tool, waitMs: WAIT_MS });
  const { text, notes, failed } = reportAutocommit(record, result);
  const exit = `exit ${failed ? EXIT.failed : EXIT.done}\n`;
  return notes.replace(/^(?=[\s\S])/gm, 'err ') + text.replace(/^(?=[\s\S])/gm, 'out ') + exit;
}

/** The front has looked that the event is that of a tool: before it runs, or after it has succeeded. */
async function answerTool(
  agtDir: string,
  { session, tool = '', event: text }: Question,
  allVariables: NodeJS.ProcessEnv,
): Promise<Answer> {
  const env = withoutProjectVariables({ ...allVariables }, tool);
  const integration = findIntegration(tool);
  const event = integration?.readEvent(parseEventJson(text), env, '');
  if (integration === undefined || (event?.kind !== 'tool' && event?.kind !== 'before-tool'))
    return undefined;
  const { name, cwd } = event;
  const context = openContext(cwd, env);
  const place = await placeOf(context, false);
  if (place?.user?.agtDir !== agtDir || place.record?.session_id !== session) return undefined;
  const now = context.now();
  writeLastEvent(env, tool, { at: now.toISOString(), event: name, cwd });
  const leave = () => {
    throw new Error('agt does this in a process of its own');
  };
  await recordEvent(place, {
    event,
    integration,
    access: context.folderAccess(),
    now,
    isInBackground: false,
    leaveToBackground: leave,
    gitDirectory: leave,
  });
  return `exit ${EXIT.done}\n`;
}
