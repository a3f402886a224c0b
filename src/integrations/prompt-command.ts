/**
 * A prompt that is a command of agt: `agt undo`. The hook answers it, so a person goes back without a request to the
 * model. The prompt has to be that and nothing else.
 */
export type PromptCommand =
  | { readonly command: 'undo' | 'redo' | 'snapshots' }
  | { readonly command: 'restore'; readonly to: string };

/** Undefined for a prompt that the model answers. */
export function parsePromptCommand(prompt: string): PromptCommand | undefined {
  const words = /^\s*\/?agt\s+(\S+)(?:\s+(\S.*?))?\s*$/.exec(prompt);
  if (words === null) return undefined;
  const [, command = '', argument] = words;
  if (argument === undefined) {
    if (command === 'undo' || command === 'redo' || command === 'snapshots') return { command };
    return command === 'states' || command === 'log' ? { command: 'snapshots' } : undefined;
  }
  const to = argument.replace(/^--to\s+/, '').replace(/^(["'])(.*)\1$/, '$2');
  return command === 'restore' ? { command, to } : undefined;
}
