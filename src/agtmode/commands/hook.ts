import { defineCommand, withValue } from '../command-line/command.ts';
import { answerHook } from '../hooks/answer.ts';

export const hook = defineCommand({
  usage: 'hook <tool>',
  group: 'setup',
  summary: 'record an event of an agent; the settings of the agent call this',
  description:
    'Read an event of an agent, as JSON, from standard input, and record it in the session that the agent works in: a ' +
    'snapshot for each prompt, for each tool call that changed something or failed, and at the end of each turn. ' +
    'agt hooks install writes the line that calls this into the settings of the agent. The prompts agt undo, agt redo, ' +
    'agt snapshots, agt restore SNAPSHOT, agt status, agt list, agt accept and agt reject are answered without the model. Variables that begin with AGT_ or GIT_ ' +
    'count for nothing. Whatever fails, the exit code is 0 and the agent goes on; agt status shows the reason. ' +
    'agt.hooks=false switches it off.',
  positionals: { tool: withValue('name of the agent, such as claude-code') },
  examples: [['agt hook claude-code', 'as a command of a hook in the settings of Claude Code']],
  run: ({ tool = '' }) => answerHook([tool]),
});
