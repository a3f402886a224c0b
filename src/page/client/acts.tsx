/** The acts of a person: each shows first what it will change, then does it, then can be taken back. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { shellQuote } from '../../process/shell-quote.ts';
import { ask, isSaved, type Row, withJson } from './api.ts';
import { type Effect, Effects, isIdle, type Outcome, Told } from './effects.tsx';
import { isFolder } from './format.ts';
import { Button, focus, hrefOf, ofSession, useLoaded } from './shell.tsx';

export interface Act {
  readonly title: string;
  /** The command line, as in a terminal. */
  readonly words: readonly string[];
  /** Paths, which come last. */
  readonly paths?: readonly string[];
  /** The command knows no dry run: this says what it does. */
  readonly says?: string;
  /** This says that it would change nothing. */
  readonly idle?: string;
  /** Takes it back. */
  readonly back?: readonly string[];
  /** A text that the person gives, as the value of an option. The preview may propose it. */
  readonly asks?: { readonly label: string; readonly option: string; readonly isProposed?: true };
}

const session = (word: string, row: Row, ...more: string[]) => ['session', word, row.session_id, ...more];

const plain =
  (word: string, title: string, back = 'undo') =>
  (row: Row): Act => ({ title, words: session(word, row), back: session(back, row) });

export const ACTS = {
  restore: (row: Row, commit: string, title: string, paths: readonly string[] = []): Act => ({
    ...{ title, words: session('restore', row, '--to', commit), paths },
    back: session('undo', row),
  }),
  undo: plain('undo', 'Undo the last step', 'redo'),
  redo: plain('redo', 'Redo what was undone'),
  undoTurn: (row: Row, turn: number): Act => ({
    title: `Take back turn ${turn}, and nothing else`,
    words: session('undo', row, `${turn}`, '--turn'),
    idle: `Nothing of turn ${turn} is left to take back.`,
    back: session('undo', row),
  }),
  fork: (row: Row, commit?: string): Act => ({
    title: commit ? 'Fork from the chosen step' : 'Fork from the present moment',
    words: session('fork', row, ...(commit ? ['--at', commit] : [])),
    says: 'A new session begins with these files. This one stays as it is.',
    asks: { label: 'Name of the new session', option: '--id' },
  }),
  accept: (row: Row, seen = false): Act => ({
    title: seen ? 'Accept what was seen; the rest stays in the session' : 'Accept: bring the work home',
    words: session('accept', row, seen ? '--seen' : '--keep'),
    back: session('unaccept', row),
    asks: { label: 'Message of the commit', option: '--message', isProposed: true },
  }),
  unaccept: (row: Row): Act => ({ title: 'Take the acceptance back', words: session('unaccept', row) }),
  sync: plain('sync', 'Sync: bring your branch into the session'),
  reject: plain('reject', 'Reject: end the session without its work'),
  remove: plain('remove', 'Remove: end the session, keep its snapshots'),
  label: (row: Row): Act => ({
    title: 'Label the present moment',
    words: isFolder(row) ? ['snapshot'] : ['autocommit', row.session_id],
    says: 'The present moment gets a name, by which you find it again. No file changes.',
    asks: { label: 'Name', option: '--label' },
  }),
} as const;

function ActDialog({ row, act, onClose }: { row: Row; act: Act; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isWorking, setWorking] = useState(false);
  const [done, setDone] = useState<Outcome & { readonly wasBack: boolean }>();
  const [value, setValue] = useState('');
  const [progress, setProgress] = useState('');
  const [more, setMore] = useState<readonly string[]>([]);
  const { paths = [], says, asks, back } = act;
  const rest = paths.length === 0 ? [] : ['--', ...paths];
  const given = asks === undefined ? [] : [`${asks.option}=${value.trim()}`];
  const words = [...act.words, ...more];
  const call = (words: readonly string[]): Promise<Outcome> => {
    setProgress('');
    return ask<Effect>(row, withJson(words), {}, setProgress).then(
      ({ json: effect, err = '', exitCode }) => ({ effect, err, failed: exitCode !== 0 }),
      ({ message: err }: Error) => ({ err, failed: true }),
    );
  };
  const preview = useLoaded(async () => {
    if (says !== undefined) return { err: '', failed: false };
    const planned = await call([...words, '--dry-run', ...rest]);
    setValue(planned.effect?.message ?? '');
    return planned;
  }, [more]);
  useEffect(() => dialog.current?.showModal(), []);
  const run = async (words: readonly string[], wasBack = false) => {
    setWorking(true);
    setDone({ ...(await call(words)), wasBack });
    setWorking(false);
  };
  const found = preview.isLoading ? undefined : preview.value;
  const at = ofSession('timeline', row);
  const isReady = found?.failed === false && !(found.effect && isIdle(found.effect));
  const Field = asks?.isProposed ? 'textarea' : 'input';
  const shown = (outcome: Outcome, wasBack = false) => (
    <>
      {says !== undefined && !wasBack && !outcome.failed && <p>{says}</p>}
      {(says === undefined || wasBack) && <Effects row={row} {...outcome} {...(!wasBack && act)} />}
      <Told {...outcome} />
    </>
  );
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="act-title" class="act">
      <h2 id="act-title">{done?.wasBack ? 'Taken back' : act.title}</h2>
      {done !== undefined && !isWorking ? (
        <>
          <div class={done.failed ? '' : 'success'} role="status">
            {!done.failed && <strong>Done.</strong>}
            {shown(done, done.wasBack)}
            {act.words[1] === 'fork' && done.effect?.session_id && (
              <a href={hrefOf({ ...at, session: done.effect.session_id })} onClick={onClose}>
                Session {done.effect.session_id}
              </a>
            )}
          </div>
          <p class="buttons">
            {back !== undefined && !done.failed && !done.wasBack && (
              <Button onClick={() => run(back, true)}>Take it back</Button>
            )}
            {asks !== undefined && done.failed && (
              <Button onClick={() => setDone(undefined)}>Try again…</Button>
            )}
            <Button class="main" onClick={() => dialog.current?.close()}>
              Close
            </Button>
          </p>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void run([...words, ...given, ...rest]);
          }}
        >
          {(preview.isLoading || isWorking) && (
            <p class="loading" aria-live="polite">
              {progress || (isWorking ? 'Working…' : 'Looking at what would change…')}
            </p>
          )}
          {found !== undefined && shown(found)}
          {found?.effect?.ways?.map(({ does, words }) => (
            <Button key={does} onClick={() => setMore([...more, ...words])}>
              {does}
            </Button>
          ))}
          {asks !== undefined && isReady && (
            <p class="field">
              <label for="act-value">{asks.label}</label>
              <Field
                id="act-value"
                ref={asks.isProposed ? null : focus}
                required
                value={value}
                onInput={(event) => setValue(event.currentTarget.value)}
              />
            </p>
          )}
          {isReady && (
            <p class="note terminal">
              in the terminal:{' '}
              <code>{typed([...words, ...(asks?.isProposed || value === '' ? [] : given), ...rest])}</code>
            </p>
          )}
          <p class="buttons">
            <Button onClick={() => dialog.current?.close()}>Cancel</Button>
            <button type="submit" class="main" disabled={!isReady || isWorking}>
              Do it
            </button>
          </p>
        </form>
      )}
    </dialog>
  );
}

/** The command line for a shell, with short names of commits. */
const typed = (words: readonly string[]) =>
  ['agt', ...words]
    .map((word) => shellQuote(/^[0-9a-f]{40,}$/.test(word) ? word.slice(0, 10) : word))
    .join(' ');

interface Started {
  readonly row: Row;
  readonly act: Act;
  readonly onDone?: (() => void) | undefined;
}

let show: (started: Started) => void = () => undefined;

/** Opens the dialog of an act. A saved page has none. */
export const start = (row: Row, act: Act, onDone?: () => void) => show({ row, act, onDone });
export const canAct = !isSaved;

/** The place of the dialog. It stays when a session that ends leaves the list. */
export function Acts() {
  const [started, setStarted] = useState<Started>();
  show = setStarted;
  if (started === undefined) return null;
  const close = () => {
    setStarted(undefined);
    started.onDone?.();
  };
  return <ActDialog {...started} onClose={close} />;
}
