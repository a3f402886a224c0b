/** Cline CLI. Its documentation: https://docs.cline.bot/customization/plugins */
import { join } from 'node:path';
import { ownFile } from './install/settings.ts';
import type { Integration } from './integration.ts';
import { callingAgt, likePlugin, pluginReader } from './plugin-events.ts';

/** Its hooks are one file for each event; a plugin is one file for all. */
const plugin = (command: string) => `${callingAgt(command)}
function textsOf({ content }) {
  const texts = typeof content === 'string' ? [content] : content.map(({ text }) => text ?? '');
  return texts.join('\\n').replace(/^<user_input[^>]*>|<\\/user_input>$/g, '');
}

let cwd = process.cwd();
let start;
const about = (session) => ({ cwd, session });

// Cline ends the run if a hook takes three seconds. agt goes on then.
function inTime(answer) {
  return Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 2_500))]);
}

export default {
  name: 'agt',
  manifest: { capabilities: ['hooks'] },
  setup(_api, { workspaceInfo }) {
    cwd = workspaceInfo?.rootPath ?? cwd;
    start = callAgt({ event: 'start', ...about() });
  },
  hooks: {
    async beforeRun({ snapshot }) {
      const message = snapshot.messages.findLast(({ role }) => role === 'user');
      const prompt = message === undefined ? '' : textsOf(message).slice(0, LONGEST_PROMPT);
      const event = { event: 'prompt', ...about(snapshot.conversationId), prompt };
      const output = await inTime(start.then(() => callAgt(event)));
      const late = output === undefined && /^\\s*agt\\s/.test(prompt);
      const answer = late ? 'agt is still at work on it: agt status shows what came of it' : answerIn(output);
      // Cline shows no reason for which a plugin stops a prompt.
      const appendContext = answer ? REPEAT + answer : contextIn(output);
      return appendContext ? { appendContext } : undefined;
    },
    async beforeTool({ snapshot, toolCall, input }) {
      const call = { tool: toolCall.toolName, call: toolCall.toolCallId, input: inputOf(input) };
      const event = { event: 'before', ...about(snapshot.conversationId), ...call, failed: false };
      const reason = answerIn(await inTime(callAgt(event)));
      return reason ? { skip: true, reason } : undefined;
    },
    async afterTool({ snapshot, toolCall, input, result }) {
      const call = { tool: toolCall.toolName, call: toolCall.toolCallId, input: inputOf(input) };
      const failed = result.isError === true || [result.output].flat().some((part) => part?.success === false);
      await inTime(callAgt({ event: 'tool', ...about(snapshot.conversationId), ...call, failed }));
    },
    async afterRun({ snapshot }) {
      await inTime(callAgt({ event: 'idle', ...about(snapshot.conversationId) }));
    },
  },
};
`;

export const cline: Integration = {
  name: 'cline',
  title: 'Cline',
  program: 'cline',
  readEvent: pluginReader({
    reading:
      /^(read_files|search_codebase|fetch_web_content|ask_question|team_(status|read_mailbox|list_.*))$/,
    writing: /^editor$/,
  }),
  ...likePlugin,
  addContext: (context) => JSON.stringify({ context }),
  home: (env) => env['CLINE_DIR'] || join(env['HOME'] ?? '', '.cline'),
  file: 'plugins/agt.js',
  projectFile: '.cline/plugins/agt.js',
  settings: ownFile(plugin),
};
