import { defineSessionCommand } from '../../command-line/session-command.ts';

export const sessionPath = defineSessionCommand({
  name: 'session path',
  group: 'sessions',
  summary: 'print the path of the sandbox',
  examples: [['cd "$(agt session path fix-login)"', 'go to the sandbox']],
  run: async (_args, _context, { record }) => ({ text: `${record.checkout ?? record.sandbox}\n` }),
});
