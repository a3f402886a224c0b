/** Amp. Its documentation: https://ampcode.com/manual/plugin-api */
import { join } from 'node:path';
import { ownFile } from './install/settings.ts';
import type { Integration } from './integration.ts';
import { callingAgt, likePlugin, pluginReader } from './plugin-events.ts';

const plugin = (command: string) => `${callingAgt(command)}
const about = ({ thread }) => ({ cwd: process.cwd(), session: thread?.id });
const callOf = ({ tool, toolUseID, input }) => ({ tool, call: toolUseID, input: inputOf(input) });

export default function (amp) {
  amp.on('session.start', async (event) => {
    await callAgt({ event: 'start', ...about(event) });
  });
  amp.on('agent.start', async (event) => {
    const prompt = event.message.slice(0, LONGEST_PROMPT);
    const output = await callAgt({ event: 'prompt', ...about(event), prompt });
    const answer = answerIn(output);
    // There is no prompt without the model.
    const content = answer ? REPEAT + answer : contextIn(output);
    return content ? { message: { content } } : {};
  });
  amp.on('tool.call', async (event) => {
    const message = answerIn(await callAgt({ event: 'before', ...about(event), ...callOf(event), failed: false }));
    return message ? { action: 'reject-and-continue', message } : { action: 'allow' };
  });
  amp.on('tool.result', async (event) => {
    const failed = event.status !== 'done';
    await callAgt({ event: 'tool', ...about(event), ...callOf(event), failed });
  });
  amp.on('agent.end', async (event) => {
    await callAgt({ event: 'idle', ...about(event) });
  });
}
`;

export const amp: Integration = {
  name: 'amp',
  title: 'Amp',
  program: 'amp',
  isByDocumentation: true,
  readEvent: pluginReader({
    reading: /^(Read|Grep|glob|finder|librarian|oracle|read_\w+|web_\w+|mermaid|look_at|todo_\w+|list_\w+)$/,
    writing: /^(create_file|edit_file)$/,
  }),
  ...likePlugin,
  addContext: (context) => JSON.stringify({ context }),
  home: (env) => join(env['HOME'] ?? '', '.config/amp'),
  file: 'plugins/agt.ts',
  projectFile: '.amp/plugins/agt.ts',
  settings: ownFile(plugin),
};
