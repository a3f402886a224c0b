/** Transcripts of real runs, shortened: two prompts with two calls of a tool each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findIntegration } from '../../src/integrations/tools.ts';
import { cutTranscript, moveTranscript } from '../../src/integrations/transcript.ts';

const AGENTS = ['claude-code', 'codex', 'qwen', 'pi'];

const textOf = (tool: string) => readFileSync(join(import.meta.dirname, `transcripts/${tool}.jsonl`), 'utf8');

function formOf(tool: string) {
  const form = findIntegration(tool)?.resume?.transcript;
  if (form === undefined) throw new Error(tool);
  return form;
}

/** The time of the n-th line of a kind, without milliseconds as in a commit; and its number. */
function lineOf(text: string, kind: RegExp, words: string) {
  const lines = text.split('\n');
  const line = lines.findIndex((one) => kind.test(one) && one.includes(words));
  const time = /"timestamp":"([^"]+)"/.exec(lines[line] ?? '')?.[1] ?? '';
  return { line, time: new Date(Math.floor(Date.parse(time) / 1000) * 1000) };
}

const plain = { label: undefined, tool: undefined, call: undefined };
const count = (text: string | undefined, kind: RegExp) =>
  (text ?? '').split('\n').filter((line) => kind.test(line)).length;

test.each(AGENTS)('%s: before a prompt, nothing of it is left', (tool) => {
  const text = textOf(tool);
  const form = formOf(tool);
  const { line, time } = lineOf(text, form.prompt, 'second');
  const cut = cutTranscript(text, form, { ...plain, time, label: 'prompt: second' });
  expect(cut).toBe(`${text.split('\n').slice(0, line).join('\n')}\n`);
  expect(cut).toContain('done 1');
  expect(count(cut, form.result)).toBe(2);
  const first = lineOf(text, form.prompt, 'first');
  expect(cutTranscript(text, form, { ...plain, time: first.time, label: 'prompt: first' })).toBeUndefined();
});

test.each([
  ['claude-code', 'toolu_call_2'],
  ['codex', 'call_2'],
  ['qwen', 'an id that agt made'],
  ['pi', undefined],
])('%s: after a call of a tool, its result is the last line', (tool, id) => {
  const text = textOf(tool);
  const form = formOf(tool);
  const results = text.split('\n').filter((line) => form.result.test(line));
  const third = Date.parse(/"timestamp":"([^"]+)"/.exec(results[2] ?? '')?.[1] ?? '');
  const call = { outcome: 'succeeded', id } as const;
  for (const early of [0, 200]) {
    const time = new Date(Math.floor((third - early) / 1000) * 1000);
    const cut = cutTranscript(text, form, {
      ...plain,
      time,
      tool: 'Bash',
      ...(tool === 'pi' ? {} : { call }),
    });
    if (early === 0 || id?.includes('call_')) expect(cut?.trimEnd().split('\n').at(-1)).toBe(results[2]);
  }
});

test.each(AGENTS)('%s: at any other snapshot, all lines until then', (tool) => {
  const text = textOf(tool);
  const form = formOf(tool);
  const { time } = lineOf(text, form.prompt, 'second');
  const before = cutTranscript(text, form, { ...plain, time: new Date(time.getTime() - 1000) });
  expect(before).toContain('done 1');
  expect(count(before, form.prompt)).toBe(count(text, form.prompt) - 1);
  const later = new Date(time.getTime() + 3_600_000);
  expect(cutTranscript(text, form, { ...plain, time: later })).toBe(text);
  // The prompt is not in the transcript.
  expect(cutTranscript(text, form, { ...plain, time: later, label: 'prompt: x' })).toBe(text);
  expect(cutTranscript(text, form, { ...plain, time: new Date(0) })).toBeUndefined();
});

test.each(AGENTS)('%s: moved to another sandbox, no line names the old one', (tool) => {
  const from = '/home/me/project.agt/sessions/s1/sandbox';
  const to = '/home/me/a "b"\\c/sandbox';
  const moved = moveTranscript(textOf(tool), from, to);
  expect(moved).not.toContain('sessions/s1/');
  for (const line of moved.split('\n').slice(0, -1)) JSON.parse(line);
  expect(moved).toContain(JSON.stringify(to).slice(1, -1));
  expect(moveTranscript('/a/b /a/b/c /a/bc /a/b.d /a/b-e "/a/b"', '/a/b', '/x')).toBe(
    '/x /x/c /a/bc /a/b.d /a/b-e "/x"',
  );
});
