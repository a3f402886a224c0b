/** opencode. Its documentation: https://opencode.ai/docs/plugins */
import { join } from 'node:path';
import { jsonServer } from './install/mcp-server.ts';
import { ownFile } from './install/settings.ts';
import type { Integration } from './integration.ts';
import { callingAgt, likePlugin, pluginReader } from './plugin-events.ts';

const plugin = (command: string) => `${callingAgt(command)}
export const AgtPlugin = async ({ directory: cwd }) => {
  let gitDirectory;
  const about = (session) => ({ cwd, session });
  const start = callAgt({ event: 'start', ...about() });
  return {
    'chat.message': async ({ sessionID }, { parts }) => {
      await start;
      const texts = parts.filter(({ type }) => type === 'text');
      const prompt = texts.map(({ text }) => text).join('\\n').slice(0, LONGEST_PROMPT);
      const answer = answerIn(await callAgt({ event: 'prompt', ...about(sessionID), prompt }));
      // There is no prompt without the model.
      if (answer) for (const [i, part] of texts.entries()) part.text = i === 0 ? REPEAT + answer : '';
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      const call = { tool, call: callID, input: inputOf(args) };
      const refusal = answerIn(await callAgt({ event: 'before', ...about(sessionID), ...call, failed: false }));
      if (refusal) throw new Error(refusal);
    },
    'tool.execute.after': async ({ tool, sessionID, callID, args }, { metadata = {} }) => {
      const failed = (metadata?.exit ?? 0) !== 0;
      await callAgt({ event: 'tool', ...about(sessionID), tool, call: callID, input: inputOf(args), failed });
    },
    'shell.env': async (_input, { env }) => {
      gitDirectory ??= callAgt({ event: 'environment', ...about() });
      const directory = await gitDirectory;
      if (directory) env.PATH = directory + ':' + (env.PATH ?? process.env.PATH);
    },
    event: async ({ event }) => {
      const { sessionID } = event.properties ?? {};
      if (event.type === 'permission.asked') await callAgt({ event: 'waits', ...about(sessionID) });
      if (event.type === 'session.idle') await callAgt({ event: 'idle', ...about(sessionID) });
    },
  };
};
`;

const readEvent = pluginReader({
  reading: /^(read|grep|glob|list|todoread|todowrite|webfetch|websearch|skill|question|lsp)$/,
  writing: /^(write|edit)$/,
});

/** `variables`: how the names of its variables begin. */
export function likeOpencode(name: string, title: string, variables: string): Integration {
  return {
    name,
    title,
    program: name,
    readEvent,
    ...likePlugin,
    home: (env) =>
      env[`${variables}_CONFIG_DIR`] ||
      join(env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? '', '.config'), name),
    file: 'plugins/agt.js',
    projectFile: `.${name}/plugins/agt.js`,
    resume: { words: (id) => ['--session', id] },
    conversations: { [`${variables}_DB`]: `{xdg}/${name}.db` },
    // Its own snapshots would be in those of agt.
    injectHooks: ({ write }) => {
      const content = { plugin: [`file://${write(`agt-${name}.js`)}`], snapshot: false };
      return { words: [], variables: { [`${variables}_CONFIG_CONTENT`]: JSON.stringify(content) } };
    },
    settings: ownFile(plugin),
    mcp: {
      file: `${name}.json`,
      projectFile: `${name}.json`,
      settings: jsonServer('mcp', (command) => ({ type: 'local', command })),
    },
    note: `${title} installs a package for plugins when it next starts, which takes a moment, or a minute offline`,
  };
}

export const opencode = likeOpencode('opencode', 'opencode', 'OPENCODE');

/** Kilo Code CLI is made of opencode. Its documentation: https://kilo.ai/docs */
export const kilo = likeOpencode('kilo', 'Kilo Code', 'KILO');
