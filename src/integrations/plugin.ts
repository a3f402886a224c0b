/** The files of a plugin with which an agent gets hooks, MCP server, command and skill of agt at once. */
import { hooksFront } from '../disk/state-home.ts';
import { mcpServers } from './install/mcp-server.ts';
import type { Integration } from './integration.ts';

/** The texts in extensions/plugin; the bundler puts them here. */
declare const AGT_PLUGIN_TEXTS: Readonly<Record<'README' | 'SKILL' | 'undo', string>>;

/** By path. */
export async function pluginFiles(
  { name, title, plugin, settings, file, projectFile }: Integration,
  version: string,
): Promise<Map<string, string> | undefined> {
  if (plugin === undefined) return undefined;
  // With hooks in the settings as well, a prompt such as agt undo would be carried out twice.
  const places = `"${plugin.home}/${file}" "\${CLAUDE_PROJECT_DIR:-.}/${projectFile}"`;
  // The front names one agt, so only agt hooks install makes it: for another agent, say.
  const program = `f="${hooksFront(`\${XDG_STATE_HOME:-$HOME/.local/state}/agt`)}"; [ -x "$f" ] || f=agt`;
  const command = `${program}; grep -qs " hook ${name}" ${places} || "$f" hook ${name}`;
  const manifest = {
    name: 'agt',
    version,
    description: 'Records each step of the agent, and goes back to any of them',
    author: { name: 'agt' },
    license: 'MIT',
  };
  return new Map([
    [`${plugin.directory}/plugin.json`, `${JSON.stringify(manifest, null, 2)}\n`],
    ['hooks/hooks.json', await settings(name, { worktrees: false }).add(undefined, command)],
    ['.mcp.json', await mcpServers(['agt', 'mcp']).add(undefined, '')],
    ['README.md', AGT_PLUGIN_TEXTS.README.replaceAll('AGENT', title)],
    ['skills/agt/SKILL.md', AGT_PLUGIN_TEXTS.SKILL],
    ...(plugin.hasCommands ? ([['commands/undo.md', AGT_PLUGIN_TEXTS.undo]] as const) : []),
  ]);
}
