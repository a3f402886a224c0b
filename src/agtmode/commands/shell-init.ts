import { basename } from 'node:path';
import { usageError } from '../../errors.ts';
import { defineCommand, withValue } from '../command-line/command.ts';
import { completionScript, initScript, SHELLS, type Shell } from '../command-line/shell-scripts.ts';
import type { Context } from '../context.ts';

const SHELL_ARGUMENT = withValue('bash, zsh or fish (default: the one of $SHELL)');

export const shellInit = defineCommand({
  usage: 'shell-init [shell]',
  group: 'setup',
  summary: 'print what your shell needs for agt cd and completion',
  description:
    'Print a shell function and completion, for the startup file of your shell. The function adds agt cd <id>, which ' +
    'goes to the sandbox of a session; completion knows sessions, snapshots, labels, settings, remotes and branches.',
  positionals: { shell: SHELL_ARGUMENT },
  examples: [
    ['eval "$(agt shell-init bash)"', 'in ~/.bashrc; for zsh the same in ~/.zshrc'],
    ['agt shell-init fish | source', 'in ~/.config/fish/config.fish'],
  ],
  run: async (args, context) => initScript(chooseShell(args.shell, context, 'shell-init')),
});

export const completion = defineCommand({
  usage: 'completion [shell]',
  group: 'setup',
  summary: 'print a completion script for bash, zsh or fish',
  positionals: { shell: SHELL_ARGUMENT },
  examples: [['eval "$(agt completion zsh)"', 'in ~/.zshrc; agt shell-init has this and agt cd']],
  run: async (args, context) => completionScript(chooseShell(args.shell, context, 'completion')),
});

/** @throws AgtError for a shell that agt does not know. Without a SHELL it is bash. */
function chooseShell(given: string | undefined, { env }: Context, command: string): Shell {
  const name = basename(given ?? env['SHELL'] ?? '');
  if ((SHELLS as readonly string[]).includes(name)) return name as Shell;
  if (given === undefined && ['', 'sh', 'dash'].includes(name)) return 'bash';
  throw usageError(
    `no completion for the shell "${given ?? name}"`,
    `choose one: agt ${command} ${SHELLS.join('|')}`,
  );
}
