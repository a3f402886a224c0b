/** Lines with their origins as a record of Agent Trace 0.1.0, which other tools read: https://agent-trace.dev */
import { randomUUID } from 'node:crypto';
import { displayPath } from '../../disk/path-bytes.ts';
import { ownVersion } from '../../process/invocation.ts';
import type { AuthoredLine } from '../../timetravel/blame/blame.ts';

interface Range {
  readonly start_line: number;
  end_line: number;
}

/** `path`: in the repository, of the revision whose lines these are. */
export function agentTrace(
  lines: readonly AuthoredLine[],
  about: { readonly path: string; readonly revision: string; readonly now: Date },
) {
  const conversations = Map.groupBy(lines, ({ origin }) =>
    origin?.author === 'agent' ? `${origin.session} ${origin.turn ?? ''}` : (origin?.author ?? 'other'),
  );
  const file = {
    path: displayPath(about.path),
    conversations: [...conversations.values()].map(conversation),
  };
  return {
    version: '0.1.0',
    id: randomUUID(),
    timestamp: about.now.toISOString(),
    vcs: { type: 'git', revision: about.revision },
    tool: { name: 'agt', version: ownVersion() },
    files: [file],
  };
}

function conversation(lines: readonly AuthoredLine[]) {
  const origin = lines[0]?.origin;
  const ranges = rangesOf(lines);
  if (origin?.author !== 'agent')
    return { contributor: { type: origin?.author === 'unknown' ? 'unknown' : 'human' }, ranges };
  const { session, turn, agent, prompt } = origin;
  const url = `agt:${encodeURIComponent(session)}${turn === undefined ? '' : `/turn/${turn}`}`;
  return {
    contributor: { type: 'ai' },
    ranges,
    related: [{ type: 'session', url }],
    metadata: { agent: agent ?? null, prompt: prompt ?? null },
  };
}

function rangesOf(lines: readonly AuthoredLine[]): Range[] {
  const ranges: Range[] = [];
  for (const { number } of lines) {
    const last = ranges.at(-1);
    if (last?.end_line === number - 1) last.end_line = number;
    else ranges.push({ start_line: number, end_line: number });
  }
  return ranges;
}
