/** The acts of a person: each shows first what it will change, then does it, then can be taken back. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, isSaved, type Row, reason } from './api.ts';
import { isFolder } from './format.ts';
import { Button, Problem, useLoaded } from './shell.tsx';

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
  /** A text that the person gives, as the value of an option. */
  readonly asks?: { readonly label: string; readonly option: string };
}

const id = (row: Row) => (row.session_id === undefined ? [] : [row.session_id]);

export const ACTS = {
  restore: (row: Row, commit: string, paths: readonly string[] = []): Act => ({
    title: paths.length === 0 ? 'Restore the whole session' : `Restore ${paths.join(', ')}`,
    words: ['session', 'restore', ...id(row), '--to', commit],
    paths,
    back: ['session', 'undo', ...id(row)],
  }),
  undo: (row: Row): Act => ({
    title: 'Undo the last step',
    words: ['session', 'undo', ...id(row)],
    back: ['session', 'redo', ...id(row)],
  }),
  redo: (row: Row): Act => ({
    title: 'Redo',
    words: ['session', 'redo', ...id(row)],
    back: ['session', 'undo', ...id(row)],
  }),
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
  accept: (row: Row): Act => ({
    title: 'Accept: bring the work home',
    words: ['session', 'accept', ...id(row), '--keep'],
    back: ['session', 'unaccept', ...id(row)],
  }),
  acceptSeen: (row: Row): Act => ({
    title: 'Accept what was seen; the rest stays in the session',
    words: ['session', 'accept', ...id(row), '--seen'],
    back: ['session', 'unaccept', ...id(row)],
  }),
  sync: (row: Row): Act => ({
    title: 'Sync: bring your branch into the sandbox',
    words: ['session', 'sync', ...id(row)],
    back: ['session', 'undo', ...id(row)],
  }),
  reject: (row: Row): Act => ({
    title: 'Reject: end the session without its work',
    words: ['session', 'reject', ...id(row)],
    back: ['session', 'undo', ...id(row)],
  }),
  remove: (row: Row): Act => ({
    title: 'Remove the sandbox; the snapshots stay',
    words: ['session', 'remove', ...id(row)],
    back: ['session', 'undo', ...id(row)],
  }),
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
  | { readonly is: 'done'; readonly text: string; readonly failed: boolean };

export function ActDialog({ row, act, onClose }: { row: Row; act: Act; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [phase, setPhase] = useState<Phase>({ is: 'preview' });
  const [value, setValue] = useState('');
  const [progress, setProgress] = useState('');
  const { paths = [], says, asks, back } = act;
  const rest = paths.length === 0 ? [] : ['--', ...paths];
  const preview = useLoaded(async () => {
    if (says !== undefined) return says;
    const {
      text = '',
      err = '',
      exitCode,
    } = await ask(row, [...act.words, '--dry-run', ...rest], {}, setProgress);
    if (exitCode !== 0 && text === '') throw new Error(reason(err, exitCode));
    return `${text}${err}` || 'Nothing would change.';
  }, []);
  useEffect(() => dialog.current?.showModal(), []);
  const run = async (words: readonly string[]) => {
    setPhase({ is: 'working' });
    setProgress('');
    const answer = await ask(row, words, {}, setProgress).catch((error: Error) => ({
      exitCode: 1,
      err: error.message,
      text: '',
    }));
    const { text = '', err = '', exitCode } = answer;
    setPhase({ is: 'done', text: `${text}${err}`.trim() || 'Done.', failed: exitCode !== 0 });
  };
  const given = asks === undefined ? [] : [`${asks.option}=${value.trim()}`];
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="act-title" class="act">
      <h2 id="act-title">{act.title}</h2>
      {phase.is !== 'done' && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void run([...act.words, ...given, ...rest]);
          }}
        >
          {preview.isLoading && <p class="loading">{progress || 'Looking at what would change…'}</p>}
          {preview.error !== undefined && <Problem text={preview.error} />}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a person scrolls it by keys */}
          {preview.value !== undefined && <pre tabIndex={0}>{preview.value}</pre>}
          {asks !== undefined && (
            <label>
              {asks.label}
              <input required value={value} onInput={(event) => setValue(event.currentTarget.value)} />
            </label>
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
            {back !== undefined && !phase.failed && <Button onClick={() => run(back)}>Take it back</Button>}
            <Button class="main" onClick={() => dialog.current?.close()}>
              Close
            </Button>
          </p>
        </>
      )}
    </dialog>
  );
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
