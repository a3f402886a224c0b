/** Crush. Its documentation: https://github.com/charmbracelet/crush/blob/main/docs/hooks/README.md */
import { join } from 'node:path';
import { likeClaude } from './claude-events.ts';
import { eventReader, readBefore, textOf } from './event.ts';
import { jsonHooks } from './install/json-hooks.ts';
import type { Integration } from './integration.ts';

export const crush: Integration = {
  name: 'crush',
  title: 'Crush',
  program: 'crush',
  isByDocumentation: true,
  readEvent: eventReader({ PreToolUse: readBefore }, (json, cwd) => ({
    name: textOf(json, 'event') ?? '',
    cwd: textOf(json, 'cwd') ?? cwd,
    conversation: textOf(json, 'session_id'),
  })),
  quietEvents: { after: '"event":"PostToolUse"', before: '"event":"PreToolUse"' },
  refuseTool: likeClaude.refuseTool,
  home: (env) =>
    env['CRUSH_GLOBAL_CONFIG'] || join(env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? '', '.config'), 'crush'),
  file: 'crush.json',
  projectFile: '.crush.json',
  /** It refuses settings with events that it does not know, and most versions know this one alone. */
  settings: jsonHooks({
    events: ['PreToolUse'],
    matchers: { PreToolUse: '^(bash|edit|multiedit|write|download|agent|lsp_re.*|mcp_.*)$' },
    hasGroups: false,
  }),
};
