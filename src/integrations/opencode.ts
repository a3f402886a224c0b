/** opencode. Its documentation: https://opencode.ai/docs/plugins */
import { join } from 'node:path';
import {
  type EventJson,
  eventReader,
  firstWords,
  objectOf,
  readTurn,
  summaryOfCall,
  textOf,
} from './event.ts';
import { ownFile } from './install/settings.ts';
import type { Integration } from './integration.ts';

const NAME = 'opencode';

/**
 * The plugin. It starts agt with the event on standard input. opencode may end right after the last event, and agt goes
 * on then. An agt that fails or takes too long changes nothing for the agent.
 */
const plugin = (command: string) => `import { spawn } from 'node:child_process';

const COMMAND = ${JSON.stringify(command)};
const LONGEST_WAIT_MS = 30_000;
const LONGEST_PROMPT = 2_000;

function callAgt(event) {
  return new Promise((resolve) => {
    const script = 'printf %s "$1" | ' + COMMAND;
    const child = spawn('/bin/sh', ['-c', script, 'sh', JSON.stringify(event)], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    child.on('error', () => resolve(''));
    child.on('close', () => resolve(output.trim()));
    setTimeout(() => resolve(''), LONGEST_WAIT_MS).unref?.();
  });
}

export const AgtPlugin = async ({ directory: cwd }) => {
  let gitDirectory;
  const about = (session) => ({ cwd, session });
  const start = callAgt({ event: 'start', ...about() });
  return {
    'chat.message': async ({ sessionID }, { parts }) => {
      await start;
      const prompt = parts.map(({ type, text }) => (type === 'text' ? text : '')).join('\\n');
      await callAgt({ event: 'prompt', ...about(sessionID), prompt: prompt.slice(0, LONGEST_PROMPT) });
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args = {} }, { metadata = {} }) => {
      const { command, filePath } = args;
      const input = { command: command?.slice(0, LONGEST_PROMPT), filePath };
      const failed = (metadata?.exit ?? 0) !== 0;
      await callAgt({ event: 'tool', ...about(sessionID), tool, call: callID, input, failed });
    },
    'shell.env': async (_input, { env }) => {
      gitDirectory ??= callAgt({ event: 'environment', ...about() });
      const directory = await gitDirectory;
      if (directory) env.PATH = directory + ':' + (env.PATH ?? process.env.PATH);
    },
    event: async ({ event }) => {
      if (event.type === 'session.idle') await callAgt({ event: 'idle', ...about(event.properties.sessionID) });
    },
  };
};
`;

/** Tools that change no files. */
const READ_ONLY = /^(read|grep|glob|list|todoread|todowrite|webfetch|websearch|skill|question|lsp)$/;

const readEvent = eventReader(
  {
    start: () => ({ kind: 'session-start' }),
    prompt: (json) => ({ kind: 'prompt', prompt: withoutQuotes(textOf(json, 'prompt') ?? '') }),
    tool: readTool,
    environment: () => ({ kind: 'environment' }),
    idle: readTurn,
  },
  (json, cwd) => ({
    name: textOf(json, 'event') ?? '',
    cwd: textOf(json, 'cwd') ?? cwd,
    conversation: textOf(json, 'session'),
  }),
);

function readTool(json: EventJson) {
  const tool = textOf(json, 'tool') ?? 'tool';
  if (READ_ONLY.test(tool)) return { kind: 'other' } as const;
  return {
    kind: 'tool',
    tool: firstWords(tool),
    callId: textOf(json, 'call'),
    summary: summaryOfCall(objectOf(json, 'input')),
    outcome: json['failed'] === true ? 'failed' : 'succeeded',
  } as const;
}

/** `opencode run` puts its arguments into quotes. */
function withoutQuotes(prompt: string): string {
  return /^"(.*)"$/s.exec(prompt.trim())?.[1] ?? prompt;
}

export const opencode: Integration = {
  name: NAME,
  title: 'opencode',
  program: 'opencode',
  readEvent,
  succeeded: { begins: '"event":"tool"', ends: ',"failed":false}' },
  home: (env) =>
    env['OPENCODE_CONFIG_DIR'] ||
    join(env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? '', '.config'), 'opencode'),
  file: 'plugins/agt.js',
  projectFile: '.opencode/plugins/agt.js',
  conversations: { OPENCODE_DB: '{xdg}/opencode.db' },
  // Its own snapshots would be in those of agt.
  injectHooks: ({ write }) => {
    const content = { plugin: [`file://${write('agt-opencode.js')}`], snapshot: false };
    return { words: [], variables: { OPENCODE_CONFIG_CONTENT: JSON.stringify(content) } };
  },
  settings: () => ownFile(NAME, plugin),
  note: 'opencode installs a package for plugins when it next starts, which takes a moment, or a minute offline',
};
