/** The form of a snapshot, for all that write or read one: paths in its tree beside the files, its message, its labels. */
import { type ReadObject, readObject } from '../git/objects/object-reader.ts';
import type { Git } from '../git/run/git.ts';

/** What agt records beside the files of the session. */
export const OWN = {
  manifest: '_/manifest.json',
  index: '_/index',
  /** Trees that keep the objects of the index reachable. */
  staged: '_/staged',
  stages: '_/stages',
  /** The files that git keeps for the worktree alone, and the tree that one of them names. */
  gitDir: '_/git-dir',
  autoMerge: '_/auto-merge',
} as const;

/** Whether a path in the tree is none of the session's. */
export function isOwn(path: string): boolean {
  return path === '_' || path.startsWith('_/');
}

/** The sandbox's index; undefined if it had none. */
export function readCapturedIndex(git: Git, commit: string): Promise<ReadObject | undefined> {
  return readObject(git, `${commit}:${OWN.index}`);
}

/** The name of the author of every snapshot. */
export const AUTHOR = 'agt';

const TRAILERS = [
  ...['Session', 'Head', 'Agent', 'Conversation', 'Label', 'Tool'],
  ...['Before', 'Call', 'Summary', 'Outcome', 'By-Session', 'During'],
  ...['Restored', 'Restored-By', 'Undone', 'Unfinished'],
] as const;

type Trailers = { readonly [name in (typeof TRAILERS)[number]]?: string | null | undefined };

/** The message of a commit. */
export function snapshotMessage(subject: string, values: Trailers): string {
  const named = TRAILERS.map((name) => ({ name, value: oneLine(values[name] ?? '') }));
  const lines = named.filter(({ value }) => value !== '').map(({ name, value }) => `Agt-${name}: ${value}`);
  return `${subject}\n\n${lines.join('\n')}\n`;
}

/** Those of agt, in the last paragraph. */
export function trailersOf(message: string): Trailers {
  const [, , ...paragraphs] = message.trimEnd().split('\n\n'); // before and with the subject
  const found = [...(paragraphs.at(-1) ?? '').matchAll(/^Agt-([A-Za-z-]+): (.*)$/gm)];
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, oneLine(value)]));
}

/** Text of a stranger as a value that git and agt keep in one line: a prompt, a label, the name of a file. */
export function oneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE).toWellFormed()}…` : line;
}

/** Characters. A prompt may hold a whole file. */
const LONGEST_LINE = 4000;

/** In the user's own checkout: the snapshot of the user's uncommitted work, and the one from which the agent starts. */
export const BEFORE_THE_SESSION = 'before the session';
export const AFTER_THE_SWITCH = 'after the switch';
/** A new sandbox: git has changed the bytes of files as it wrote them. */
export const AS_CHECKED_OUT = 'as checked out';
/** A new sandbox with the uncommitted work of the user. */
export const WITH_CHANGES = 'with your changes';
/** The snapshot that `agt run` takes before it starts its command. */
export const BEFORE_RUN = 'before agt run';
/** Begins a label that git mode gives (gitmode/guard/guard.ts). */
export const BEFORE_GIT = 'before git ';
/** The start commit, to which an undo has gone. */
export const THE_START = 'the start';

/** Of the snapshot that an accept takes, or a sync, when nothing refuses it. */
export const BEFORE_ACCEPT = 'before accept';
export const BEFORE_SYNC = 'before sync';
/** Of the snapshot of what a sync has brought in. */
export const AFTER_SYNC = 'after sync';

/** Of the last snapshot before a session ends. */
export const BEFORE_END = {
  removed: 'before remove',
  accepted: BEFORE_ACCEPT,
  rejected: 'before reject',
  reverted: 'before revert',
} as const;

/** Of the snapshot with which a session has come into a repository. */
export const PULLED = 'pulled';
export const OPENED = 'opened from a file';

/** Of the snapshot after the undo of one thing, such as `turn 3`. */
export function undoLabel(thing: string): string {
  return `undo of ${thing}`;
}

export function oneThingIn(snapshot: { readonly label: string | undefined } | undefined): string | undefined {
  return /^undo of (.*)/.exec(snapshot?.label ?? '')?.[1];
}

/** Not of some paths alone. */
export function isUndoOfWhole(snapshot: { readonly label: string | undefined }): boolean {
  return !/ in /.test(oneThingIn(snapshot) ?? '');
}

/** Begins the label of the snapshot after rejected hunks were taken back; their reasons follow. */
export const REJECTED = 'rejected: ';

export function isArrival({
  label,
  restored,
}: { readonly [name in keyof Named]: string | null | undefined }) {
  return Boolean(restored) && (label === PULLED || label === OPENED);
}

/** Of the snapshot after an undo that looked for a step: one redo takes it back, however many steps it went. */
export const TO_GREEN = 'undo to the newest step at which it passes: ';

/** What was there before the agent began, or came with a sync. */
export function isBroughtIn(label: string | undefined): boolean {
  const all = [BEFORE_THE_SESSION, AFTER_THE_SWITCH, AS_CHECKED_OUT, WITH_CHANGES, AFTER_SYNC];
  return all.includes(label ?? '');
}

/** The label, unless agt gave it, as to all snapshots after a restore. agt keeps those of a person. */
export function labelByPerson({ label, restored }: Named): string | undefined {
  if (label === undefined || restored !== undefined) return undefined;
  return OWN_LABEL.test(label) || label.startsWith(PROMPT) ? undefined : label;
}

interface Named {
  readonly label: string | undefined;
  readonly restored: string | undefined;
}

const OWN_LABEL =
  /^(after (the switch|sync)|as checked out|with your changes|before (agt run|remove|accept|reject|revert|sync|doctor|removed|accepted|rejected|reverted|the (session|return)|fork to [A-Za-z0-9._-]+|git .*))$/;

const PROMPT = 'prompt: ';

/** The label of the snapshot that is made before an agent answers a prompt. */
export function promptLabel(firstWords: string): string {
  return `${PROMPT}${firstWords}`;
}

/** The first words of the prompt before which a snapshot was made. */
export function promptIn({ label }: { readonly label: string | undefined }): string | undefined {
  return label?.startsWith(PROMPT) ? label.slice(PROMPT.length) : undefined;
}
