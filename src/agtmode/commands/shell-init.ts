/** The scripts that `agt completion` and `agt shell-init` print. Shells ask `agt --get-yargs-completions` for the words. */
import { basename } from 'node:path';
import { usageError } from '../../errors.ts';
import { defineCommand, option } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { FOLLOWED } from '../enter-directory.ts';

const positionals = { shell: option.value('bash, zsh or fish (default: the one of $SHELL)') };

export const shellInit = defineCommand({
  usage: 'shell-init [shell]',
  summary: 'print what your shell needs for agt cd and completion',
  description:
    'Print a shell function and completion, for the startup file of your shell. The function adds agt cd <id>, which ' +
    'goes to the sandbox of a session, and takes your shell to the repository if a command has deleted the directory ' +
    'that it is in; completion knows sessions, snapshots, labels, settings, remotes and branches.',
  positionals,
  examples: [
    ['eval "$(agt shell-init bash)"', 'in ~/.bashrc; for zsh the same in ~/.zshrc'],
    ['agt shell-init fish | source', 'in ~/.config/fish/config.fish'],
  ],
  run: async (args, context) => {
    const shell = chooseShell(args.shell, context, 'shell-init');
    return (shell === 'fish' ? FISH_FUNCTION : POSIX_FUNCTION) + COMPLETION[shell];
  },
});

export const completion = defineCommand({
  usage: 'completion [shell]',
  summary: 'print a completion script for bash, zsh or fish',
  positionals,
  examples: [['eval "$(agt completion zsh)"', 'in ~/.zshrc; agt shell-init has this and agt cd']],
  run: async (args, context) => COMPLETION[chooseShell(args.shell, context, 'completion')],
});

/** @throws AgtError for a shell that agt does not know. Without a SHELL it is bash. */
function chooseShell(given: string | undefined, { env }: Context, command: string): keyof typeof COMPLETION {
  const name = basename(given ?? env['SHELL'] ?? '');
  if (Object.hasOwn(COMPLETION, name)) return name as keyof typeof COMPLETION;
  if (given === undefined && ['', 'sh', 'dash'].includes(name)) return 'bash';
  throw usageError(
    `no completion for the shell "${given ?? name}"`,
    `choose one: agt ${command} ${Object.keys(COMPLETION).join('|')}`,
  );
}

const COMPLETION = {
  bash: `# completion of agt for bash
_agt_complete() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    [ -n "$word" ] && COMPREPLY+=("$(printf '%q' "$word")")
  done <<EOF
$(command agt --get-yargs-completions "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
EOF
  # bash has already written what comes before the last =.
  local current="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$current" = = ] || { [ "$COMP_CWORD" -gt 0 ] && [ "\${COMP_WORDS[COMP_CWORD-1]}" = = ]; }; then
    COMPREPLY=("\${COMPREPLY[@]#--*=}")
  fi
}
complete -o bashdefault -o default -F _agt_complete agt
`,
  zsh: `#compdef agt
# completion of agt for zsh
_agt() {
  local -a found
  found=("\${(@f)$(command agt --get-yargs-completions "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [ -n "$found" ]; then compadd -a found; else _default; fi
}
if [ "$funcstack[1]" = _agt ]; then _agt "$@"; else compdef _agt agt; fi
`,
  fish: `# completion of agt for fish
complete -c agt -f -a '(command agt --get-yargs-completions (commandline -opc) (commandline -ct) 2>/dev/null)'
complete -c agt -n 'contains -- -- (commandline -opc)' -F
`,
};

const POSIX_FUNCTION = `# agt cd [id]: go to the sandbox of a session
# A command that deletes the current directory: go to the repository
agt() {
  local agt_status
  if [ "\${1-}" = cd ]; then
    shift
    local agt_sandbox
    agt_sandbox=$(command agt session path "$@") && cd -- "$agt_sandbox"
  else
    ${FOLLOWED}=1 command agt "$@"
    agt_status=$?
    [ -d "$PWD" ] || cd -- "$(command agt --place-outside "$PWD" 2>/dev/null)"
    return $agt_status
  fi
}
`;

const FISH_FUNCTION = `# agt cd [id]: go to the sandbox of a session
# A command that deletes the current directory: go to the repository
function agt
    if test "$argv[1]" = cd
        set -l agt_sandbox (command agt session path $argv[2..-1]); and cd -- $agt_sandbox
    else
        ${FOLLOWED}=1 command agt $argv
        set -l agt_status $status
        test -d "$PWD"; or cd -- (command agt --place-outside "$PWD" 2>/dev/null)
        return $agt_status
    end
end
`;
