/** Words for people. */
import { landingPlace } from '../../survey/landing-place.ts';
import type { Row, Step, Turn } from './api.ts';

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

export function ago(time: string | number, now = Date.now()): string {
  const seconds = Math.max(0, (now - new Date(time).getTime()) / 1000);
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

export const clock = (time: string) =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' });

/** Its folder is deleted, its snapshots are kept. */
export const isEnded = (row: Row) => ['removed', 'accepted', 'rejected', 'reverted'].includes(row.state);

/** It has snapshots, and no session. */
export const isFolder = (row: Row) => row.working_copy === 'attached';

export const nameOf = (row: Row) => (isFolder(row) ? lastParts(row.session_id, 1) : row.session_id);

/** Of the path of a repository or a folder. */
const lastParts = (path: string, n: number) =>
  path
    .replace(/\/(\.git)?$/, '')
    .split('/')
    .slice(-n)
    .join('/');

/** Two may have the same last part. */
export const placeOf = (repository: string) => lastParts(repository, 2);

export function stateOf(row: Row): { readonly state: string; readonly words: string } {
  if (isEnded(row)) return { state: 'ended', words: row.state };
  if (row.agent_state !== null) {
    const { state, since } = row.agent_state;
    const words = { works: 'works', waits: 'waits for you', done: 'done', failed: 'failed' }[state];
    return { state, words: state === 'done' ? words : `${words} · ${ago(since)}` };
  }
  if (isFolder(row)) return { state: 'idle', words: 'folder' };
  if (row.state === 'failed') return { state: 'failed', words: 'failed' };
  return row.running ? { state: 'works', words: 'running' } : { state: 'idle', words: row.state };
}

export const agentOf = (row: Row) =>
  isFolder(row) ? row.session_id : (row.agent ?? forkOf(row) ?? 'no agent');

export const forkOf = ({ from, from_spec: at }: Row) =>
  from ? `fork of ${from}${at && at !== from ? `, at ${at.slice(0, 10)}` : ''}` : undefined;

/** `when`: `7 min ago`, with a space before it. */
export const landedAs = (landed: Row['landed'], when = '') =>
  landed && `accepted${landed.in_part ? ' in part' : ''}${when} as ${landingPlace(landed)}`;

export const shortRef = (ref: string | null = '') => ref?.replace(/^refs\/(heads|tags)\//, '');

export const plural = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`;

/** Changes whenever the files of the session do, also before there is a snapshot of them. */
export const filesOf = ({ last_autocommit, dirty, diff, new_hunks, ahead, landed }: Row) =>
  JSON.stringify([last_autocommit, dirty, diff, new_hunks, ahead, landed]);

/** The kind of a step: a prompt, a call of a tool, a label, a restore, an edit of a person. */
export function titleOf(step: Step): string {
  if (step.restored !== null) return step.label ?? `restored ${step.restored.slice(0, 10)}`;
  if (step.tool !== null) return `${step.tool}${step.summary === null ? '' : ` ${step.summary}`}`;
  if (kindOf(step) === 'hand') return 'edited by hand';
  return step.label ?? step.begins ?? (step.files.length === 0 ? 'no file changed' : 'snapshot');
}

/** As `agt log --turns` says it. */
export const promptOf = ({ prompt, stands }: Turn) => `${stands ? '' : '(undone) '}${prompt ?? 'no prompt'}`;

export const nameOfAuthor = (author: Step['author'], agent: string | null) =>
  author === 'restore' ? 'a restore' : author === 'other' ? 'by hand' : (agent ?? 'an agent');

export type StepKind = 'prompt' | 'restore' | 'label' | 'failed' | 'hand' | 'tool';

export function kindOf(step: Step): StepKind {
  if (step.restored !== null || step.author === 'restore') return 'restore';
  if (step.label?.startsWith('prompt: '))
    return step.author === 'other' && step.files.length > 0 ? 'hand' : 'prompt';
  if (step.label !== null) return 'label';
  if (step.outcome === 'failed') return 'failed';
  return step.author === 'other' && step.files.length > 0 && step.begins === undefined ? 'hand' : 'tool';
}
