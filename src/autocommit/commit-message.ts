/** The header of a shadow commit in the stream to `git fast-import`: identity, message and parents. */
import { oneLine } from '../snapshot/history.ts';
import type { CaptureOptions, CaptureTarget } from './request.ts';
import type { RefsAtStart } from './starting-refs.ts';

/** The commit becomes mark `:1`. */
export function commitHeader(
  target: CaptureTarget,
  refs: RefsAtStart,
  options: CaptureOptions,
  parents: readonly string[],
): string {
  const message = commitMessage(target, refs, options);
  const seconds = Math.floor(options.now.getTime() / 1000);
  const identity = `agt <${options.agentEmail}> ${seconds} ${timeZone(options.now)}`;
  const [first, ...others] = parents;
  return [
    `commit ${target.tipRef}`,
    'mark :1',
    `author ${identity}`,
    `committer ${identity}`,
    `data ${Buffer.byteLength(message)}`,
    message,
    `from ${first}`,
    ...others.map((parent) => `merge ${parent}`),
    '',
  ].join('\n');
}

function commitMessage(target: CaptureTarget, refs: RefsAtStart, options: CaptureOptions): string {
  const { label, tool, call, restored, unfinished, agent, conversation } = options;
  const trailers: [name: string, value: string | null | undefined][] = [
    ['Session', target.sessionId],
    ['Head', refs.head.commit ?? refs.userHead],
    ['Agent', agent && oneLine(agent)],
    ['Conversation', conversation && oneLine(conversation)],
    ['Label', label && oneLine(label)],
    ['Tool', tool && oneLine(tool)],
    ['Call', call?.id && oneLine(call.id)],
    ['Summary', call?.summary && oneLine(call.summary)],
    ['Outcome', call?.outcome],
    ['Restored', restored?.commit],
    ['Restored-By', restored?.by],
    ['Unfinished', unfinished],
  ];
  const lines = trailers.flatMap(([name, value]) => (value ? [`Agt-${name}: ${value}`] : []));
  return `${oneLine(label ?? '') || subjectOf(options)}\n\n${lines.join('\n')}\n`;
}

function subjectOf({ restored, unfinished, tool, call }: CaptureOptions): string {
  if (call !== undefined) return oneLine([tool, call.summary].filter(Boolean).join(': ')) || 'agt record';
  if (restored !== undefined) return `agt ${restored.by} to ${restored.commit.slice(0, 10)}`;
  return unfinished === undefined ? 'agt autocommit' : `on the way to ${unfinished.slice(0, 10)}`;
}

/** The time zone as git writes it: +0100. */
function timeZone(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const absolute = Math.abs(minutes);
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(absolute / 60))}${twoDigits(absolute % 60)}`;
}
