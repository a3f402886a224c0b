/** Commands on sessions for the folder that the user is in, which needs no id. */
import type { Command } from '../../command-line/command.ts';

/** Options that only sessions with a sandbox have. */
const OF_SANDBOXES = ['session', 'base', 'with', 'only'];

/** The same command without the session and what names one. */
export function withoutSession(command: Command): Command {
  const { positionals = {}, options = {}, ...rest } = command;
  const { id: _, ...others } = positionals;
  const kept = Object.entries(options).filter(([name]) => !OF_SANDBOXES.includes(name));
  const run: Command['run'] = (args, context) =>
    command.run({ id: undefined, session: undefined, ...defaults(options), ...args } as never, context);
  return { ...rest, positionals: others, options: Object.fromEntries(kept), run };
}

function defaults(options: NonNullable<Command['options']>): Record<string, unknown> {
  return Object.fromEntries(OF_SANDBOXES.map((name) => [name, options[name]?.default]));
}
