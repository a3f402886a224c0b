/** The acts of a person: each shows first what it will change, then does it, then can be taken back. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, isSaved, type Row, reason } from './api.ts';
import { isFolder } from './format.ts';
import { Button, focus, Problem, useLoaded } from './shell.tsx';

export interface Act {
  readonly title: string;
  /** The command line, as in a terminal. */
  readonly words: readonly string[];
  /** Paths, which come last. */
  readonly paths?: readonly string[];
  /** The command knows no dry run: this says what it does. */
  readonly says?: string;
  /** Takes it back. */
  readonly back?: readonly string[];
  /** A text that the person gives, as the value of an option. The end of the preview may propose it. */
  readonly asks?: { readonly label: string; readonly option: string; readonly isProposed?: true };
}

const id = (row: Row) => (row.session_id === undefined ? [] : [row.session_id]);

const plain =
  (word: string, title: string, back = 'undo') =>
  (row: Row): Act => ({
    title,
    words: ['session', word, ...id(row)],
    back: ['session', back, ...id(row)],
  });

export const ACTS = {
  restore: (row: Row, commit: string, paths: readonly string[] = []): Act => ({
    title: paths.length === 0 ? 'Restore the whole session' : `Restore ${paths.join(', ')}`,
    words: ['session', 'restore', ...id(row), '--to', commit],
    paths,
    back: ['session', 'undo', ...id(row)],
  }),
  undo: plain('undo', 'Undo the last step', 'redo'),
  redo: plain('redo', 'Redo'),
  undoTurn: (row: Row, turn: number): Act => ({
    title: `Take back turn ${turn}, and nothing else`,
    words: ['session', 'undo', ...id(row), `${turn}`, '--turn'],
    back: ['session', 'undo', ...id(row)],
  }),
  fork: (row: Row, commit?: string): Act => ({
    title: 'Fork from here',
    words: ['session', 'fork', ...id(row), ...(commit ? ['--at', commit] : [])],
    says: 'A new session begins with these files. This one stays as it is.',
    asks: { label: 'Name of the new session', option: '--id' },
  }),
  accept: (row: Row, seen = false): Act => ({
    title: seen ? 'Accept what was seen; the rest stays in the session' : 'Accept: bring the work home',
    words: ['session', 'accept', ...id(row), seen ? '--seen' : '--keep'],
    back: ['session', 'unaccept', ...id(row)],
    asks: { label: 'Message of the commit', option: '--message', isProposed: true },
  }),
  unaccept: (row: Row): Act => ({
    title: 'Take the acceptance back',
    words: ['session', 'unaccept', ...id(row)],
  }),
  sync: plain('sync', 'Sync: bring your branch into the sandbox'),
  reject: plain('reject', 'Reject: end the session without its work'),
  remove: plain('remove', 'Remove the sandbox; the snapshots stay'),
  label: (row: Row): Act => ({
    title: 'Label this moment',
    words: isFolder(row) ? ['snapshot'] : ['autocommit', ...id(row)],
    says: 'The next snapshot gets a name, by which you find it again.',
    asks: { label: 'Name', option: '--label' },
  }),
} as const;

type Phase =
  | { readonly is: 'preview' }
  | { readonly is: 'working' }
  | { readonly is: 'done'; readonly text: string; readonly failed: boolean; readonly wasBack: boolean };

export function ActDialog({ row, act, onClose }: { row: Row; act: Act; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [phase, setPhase] = useState<Phase>({ is: 'preview' });
  const [value, setValue] = useState('');
  const [progress, setProgress] = useState('');
  const { paths = [], says, asks, back } = act;
  const rest = paths.length === 0 ? [] : ['--', ...paths];
  const [more, setMore] = useState<readonly string[]>([]);
  const preview = useLoaded(async () => {
    if (says !== undefined) return says;
    const answer = await ask(row, [...act.words, ...more, '--dry-run', ...rest], {}, setProgress);
    const { text = '', err = '', exitCode } = answer;
    if (exitCode !== 0 && text === '') throw new Error(reason(err, exitCode));
    const [shown, ...message] = asks?.isProposed ? text.split('\n\n    ') : [text];
    setValue(message.join('\n\n').replaceAll('\n    ', '\n').trim());
    return `${err}${shown}` || 'Nothing would change.';
  }, [more]);
  useEffect(() => dialog.current?.showModal(), []);
  const run = async (words: readonly string[], wasBack = false) => {
    setPhase({ is: 'working' });
    setProgress('');
    const failed = ({ message: err }: Error) => ({ exitCode: 1, err, text: '' });
    const answer = await ask(row, words, {}, setProgress).catch(failed);
    const { text = '', err = '', exitCode } = answer;
    setPhase({ is: 'done', text: `${text}${err}`.trim() || 'Done.', failed: exitCode !== 0, wasBack });
  };
  const given = asks === undefined ? [] : [`${asks.option}=${value.trim()}`];
  const Field = asks?.isProposed ? 'textarea' : 'input';
  const ways = waysOut(preview.error ?? '').filter(
    ([, words]) => !words.every((word) => more.includes(word)),
  );
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="act-title" class="act">
      <h2 id="act-title">{phase.is === 'done' && phase.wasBack ? 'Taken back' : act.title}</h2>
      {phase.is !== 'done' && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void run([...act.words, ...more, ...given, ...rest]);
          }}
        >
          {preview.isLoading && <p class="loading">{progress || 'Looking at what would change…'}</p>}
          {preview.error !== undefined && <Problem text={preview.error} />}
          {ways.map(([text, words]) => (
            <Button key={text} onClick={() => setMore(words)}>
              {text}
            </Button>
          ))}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a person scrolls it by keys */}
          {preview.value !== undefined && <pre tabIndex={0}>{preview.value}</pre>}
          {asks !== undefined && preview.value !== undefined && (
            <p class="field">
              <label for="act-value">{asks.label}</label>
              <Field
                id="act-value"
                ref={focus}
                required
                value={value}
                onInput={(event) => setValue(event.currentTarget.value)}
              />
            </p>
          )}
          {phase.is === 'working' && progress !== '' && (
            <p class="loading" aria-live="polite">
              {progress}
            </p>
          )}
          <p class="buttons">
            <Button onClick={() => dialog.current?.close()}>Cancel</Button>
            <button
              type="submit"
              class="main"
              disabled={preview.value === undefined || phase.is === 'working'}
            >
              {phase.is === 'working' ? 'Working…' : 'Do it'}
            </button>
          </p>
        </form>
      )}
      {phase.is === 'done' && (
        <>
          <pre class={phase.failed ? 'problem' : 'success'} role="status">
            {phase.text}
          </pre>
          <p class="buttons">
            {back !== undefined && !phase.failed && !phase.wasBack && (
              <Button onClick={() => run(back, true)}>Take it back</Button>
            )}
            {asks !== undefined && phase.failed && (
              <Button onClick={() => setPhase({ is: 'preview' })}>Try again…</Button>
            )}
            <Button class="main" onClick={() => dialog.current?.close()}>
              Close
            </Button>
          </p>
        </>
      )}
    </dialog>
  );
}

type WayOut = readonly [text: string, words: readonly string[]];

/** The options that the hints of a refusal offer. */
function waysOut(refusal: string): readonly WayOut[] {
  const options = /^hint: leave (?:them|that) out: agt accept \S+ (.*)$/m.exec(refusal)?.[1] ?? '';
  const words = [...options.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g)]
    .map(([word]) => word.replace(/'([^']*)'|\\(.)/g, '$1$2'))
    .filter((word, i, all) => /^--(exclude|untracked)/.test(word) || all[i - 1] === '--exclude');
  const all: readonly WayOut[] = [
    ['Leave these files out', words],
    ['Take these files, too', refusal.includes('--untracked=all') ? ['--untracked=all'] : []],
  ];
  return all.filter(([, words]) => words.length > 0);
}

/** Shows an act's dialog. A saved page has none. */
export function useAct(row: Row, onDone: () => void = () => undefined) {
  const [act, setAct] = useState<Act>();
  const close = () => {
    setAct(undefined);
    onDone();
  };
  return {
    start: (next: Act) => setAct(next),
    canAct: !isSaved,
    dialog: act === undefined ? null : <ActDialog row={row} act={act} onClose={close} />,
  };
}
