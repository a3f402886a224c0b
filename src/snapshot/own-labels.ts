/** In the user's own checkout: the snapshot of the user's uncommitted work, and the one from which the agent starts. */
export const BEFORE_THE_SESSION = 'before the session';
export const AFTER_THE_SWITCH = 'after the switch';

/** Labels that agt gives. agt assumes that a person gave every other label, and keeps it. */
export function isOwnLabel(label: string): boolean {
  return OWN_LABEL.test(label) || label.startsWith(PROMPT);
}

const OWN_LABEL =
  /^(after the switch|before (remove|accept|sync|doctor|removed|accepted|rejected|reverted|the (session|return)|fork to [A-Za-z0-9._-]+|git .*))$/;

const PROMPT = 'prompt: ';

/** The label of the snapshot that is made before an agent answers a prompt. */
export function promptLabel(firstWords: string): string {
  return `${PROMPT}${firstWords}`;
}

/** The first words of the prompt before which a snapshot was made. */
export function promptIn({ label }: { readonly label: string | undefined }): string | undefined {
  return label?.startsWith(PROMPT) ? label.slice(PROMPT.length) : undefined;
}
