/** The scripts that `agt completion` and `agt shell-init` print. Shells ask `agt --get-yargs-completions` for the words. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const COMPLETION: Record<Shell, string> = {
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
`,
};

const POSIX_FUNCTION = `# agt cd [id]: go to the sandbox of a session
agt() {
  if [ "\${1-}" = cd ]; then
    shift
    local agt_sandbox
    agt_sandbox=$(command agt session path "$@") && cd -- "$agt_sandbox"
  else
    command agt "$@"
  fi
}
`;

const FUNCTION: Record<Shell, string> = {
  bash: POSIX_FUNCTION,
  zsh: POSIX_FUNCTION,
  fish: `# agt cd [id]: go to the sandbox of a session
function agt
    if test "$argv[1]" = cd
        set -l agt_sandbox (command agt session path $argv[2..-1]); and cd -- $agt_sandbox
    else
        command agt $argv
    end
end
`,
};

export function completionScript(shell: Shell): string {
  return COMPLETION[shell];
}

export function initScript(shell: Shell): string {
  return FUNCTION[shell] + COMPLETION[shell];
}
