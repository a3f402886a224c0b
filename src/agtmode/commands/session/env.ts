import { shellQuote } from '../../../git/run/trace.ts';
import type { EnvironmentChanges } from '../../../running/environment.ts';
import { JSON_OPTION } from '../../command-line/command.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import { changesFor, PROFILE_OPTION, requireRunnable } from '../../running.ts';

export const sessionEnv = defineSessionCommand({
  name: 'session env',
  group: 'sessions',
  summary: 'print the environment of agt session run, for eval in a shell',
  options: {
    profile: PROFILE_OPTION,
    shell: {
      choices: ['sh', 'fish'],
      default: 'sh',
      describe: 'whose syntax to print; sh is also for bash and zsh',
    },
    json: JSON_OPTION,
  },
  examples: [['eval "$(agt session env fix-login)"', 'work in this shell as agt session run would']],
  run: async (args, context, { record }) => {
    await requireRunnable(context, record);
    const changes = await changesFor(context, record, args.profile);
    return { json: changes, text: args.shell === 'fish' ? fishText(changes) : shText(changes) };
  },
});

function shText({ set, unset }: EnvironmentChanges): string {
  const exports = Object.entries(set).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`);
  return [...unset.map((name) => `unset ${name}\n`), ...exports].join('');
}

/** In quotes, fish reads a backslash and a quote after a backslash. */
function fishText({ set, unset }: EnvironmentChanges): string {
  const quoted = (value: string) => `'${value.replace(/[\\']/g, '\\$&')}'`;
  const words = (name: string, value: string) =>
    name === 'PATH' ? value.split(':').map(quoted).join(' ') : quoted(value);
  const exports = Object.entries(set).map(([name, value]) => `set -gx ${name} ${words(name, value)}\n`);
  return [...unset.map((name) => `set -e ${name}\n`), ...exports].join('');
}
