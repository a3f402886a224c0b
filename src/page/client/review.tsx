/** The hunks that nobody has seen yet, file by file: seen, rejected with a sentence, or left for later. */
import { useState } from 'preact/hooks';
import { ACTS, type Act, canAct, start } from './acts.tsx';
import { askJson, isSaved, type Row } from './api.ts';
import { PatchView } from './code.tsx';
import { filesOf, plural } from './format.ts';
import { readPatch } from './patch.ts';
import { Button, Many, Problem, Show, useKeys, useLoaded } from './shell.tsx';

interface Hunk {
  readonly id: string;
  readonly path: string;
  readonly state: 'new' | 'seen' | 'rejected';
  readonly status: string;
  readonly turns: readonly number[] | null;
  readonly sentence: string | null;
  readonly old_start: number;
  readonly new_start: number;
  readonly lines: readonly string[] | null;
}

const PILLS = { new: 'waits', seen: 'works', rejected: 'failed' } as const;

const review = (row: Row, ...words: string[]) => ['session', 'review', row.session_id, ...words];

const reject = (row: Row, { path, id }: Hunk, split: readonly string[]): Act => ({
  title: `Reject lines of ${path}`,
  words: review(row, ...split, `--reject=${path}`, `--hunk=${id}`),
  says: 'These lines stay out of every Accept. In the session they stay until the agent ends its next turn.',
  asks: { label: 'Why? The agent can read it', option: '--message' },
  back: review(row, ...split, `--new=${path}`, `--hunk=${id}`),
});

export function Review({ row }: { row: Row }) {
  const [marks, setMarks] = useState(0);
  const [problem, setProblem] = useState<string>();
  const [turn, setTurn] = useState('');
  const [isSplit, setSplit] = useState(false);
  const [shows, setShows] = useState<'new' | 'all'>(isSaved ? 'all' : 'new');
  const [at, setAt] = useState(0);
  const reload = () => setMarks((n) => n + 1);
  // The choice of a turn also splits hunks.
  const split = !isSaved && (isSplit || turn !== '') ? ['--split'] : [];
  const loaded = useLoaded(
    () => askJson<Hunk[]>(row, review(row, ...split)),
    [row.session_id, filesOf(row), marks, ...split],
  );
  const ofTurns = loaded.value ?? [];
  const turns = [...new Set(ofTurns.flatMap((hunk) => hunk.turns ?? []))].sort((a, b) => a - b);
  const all = ofTurns.filter((hunk) => turn === '' || hunk.turns?.includes(Number(turn)));
  const chosen = all.filter(({ state }) => shows === 'all' || state !== 'seen');
  const mark = async (...words: string[]) => {
    const failed = ({ message }: Error) => message;
    setProblem(await askJson(row, review(row, ...split, ...words)).then(() => undefined, failed));
    reload();
  };
  const see = (hunks: readonly Hunk[]) =>
    mark('--all', ...hunks.filter(({ state }) => state === 'new').map(({ id }) => `--hunk=${id}`));
  const current = chosen[Math.min(at, chosen.length - 1)];
  const move = (by: number) => {
    const next = Math.max(0, Math.min(chosen.length - 1, at + by));
    setAt(next);
    document.getElementById(`hunk-${chosen[next]?.id}`)?.scrollIntoView({ block: 'center' });
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    s: () => canAct && current?.state === 'new' && void see([current]),
    r: () => canAct && current?.state === 'new' && start(row, reject(row, current, split), reload),
  });
  const fresh = all.filter(({ state }) => state === 'new');
  const count = (wanted: Hunk['state']) => all.filter(({ state }) => state === wanted).length;
  const marked = (['seen', 'rejected'] as const).filter((state) => count(state) > 0);
  return (
    <main>
      <header class="bar">
        <h1>
          Review
          <span class="quiet" role="status">
            {[
              fresh.length === 0 ? 'nothing new' : plural(fresh.length, 'new hunk'),
              ...marked.map((state) => `${count(state)} ${state}`),
            ].join(', ')}
          </span>
        </h1>
        <label>
          Turn
          <select value={turn} onChange={({ currentTarget }) => setTurn(currentTarget.value)}>
            <option value="">all</option>
            {turns.map((number) => (
              <option key={number}>{number}</option>
            ))}
          </select>
        </label>
        {!isSaved && (
          <Button aria-pressed={isSplit} onClick={() => setSplit(!isSplit)}>
            Smaller hunks
          </Button>
        )}
        <Button aria-pressed={shows === 'all'} onClick={() => setShows(shows === 'all' ? 'new' : 'all')}>
          Show what I saw
        </Button>
        {canAct && (
          <>
            <Button disabled={fresh.length === 0} onClick={() => see(chosen)}>
              {turn === '' ? 'All seen' : `Turn ${turn} seen`}
            </Button>
            <Button
              class="main"
              disabled={count('seen') === 0}
              onClick={() => start(row, ACTS.accept(row, true), reload)}
            >
              Accept what I saw…
            </Button>
          </>
        )}
      </header>
      {problem !== undefined && <Problem text={problem} />}
      <Show of={loaded}>
        {() => (
          <div class="files">
            <Many all={[...Map.groupBy(chosen, ({ path }) => path)]}>
              {([path, hunks]) => (
                <article key={path} class="change" aria-label={path}>
                  <header>
                    <h2>{path}</h2>
                    {canAct && hunks.length > 1 && <Button onClick={() => see(hunks)}>File seen</Button>}
                  </header>
                  {hunks.map((hunk) => (
                    <section
                      key={hunk.id}
                      id={`hunk-${hunk.id}`}
                      class={`hunk is-${hunk.state} ${hunk === current ? 'selected' : ''}`}
                      aria-label={`${hunk.state} hunk of ${path}`}
                    >
                      <HunkLines hunk={hunk} />
                      <p class="buttons">
                        {canAct && hunk.state === 'new' ? (
                          <>
                            <Button onClick={() => see([hunk])}>Seen</Button>
                            <Button onClick={() => start(row, reject(row, hunk, split), reload)}>
                              Reject…
                            </Button>
                          </>
                        ) : (
                          <span class={`pill is-${PILLS[hunk.state]}`}>{hunk.state}</span>
                        )}
                        {canAct && hunk.state !== 'new' && (
                          <Button onClick={() => mark(`--new=${hunk.path}`, `--hunk=${hunk.id}`)}>
                            {hunk.state === 'seen' ? 'Mark as new' : 'Undo the rejection'}
                          </Button>
                        )}
                        {hunk.sentence !== null && <q>{hunk.sentence}</q>}
                        {hunk.turns !== null && hunk.turns.length > 0 && (
                          <span class="quiet">turn {hunk.turns.join(', ')}</span>
                        )}
                      </p>
                    </section>
                  ))}
                </article>
              )}
            </Many>
          </div>
        )}
      </Show>
    </main>
  );
}

function HunkLines({ hunk: { lines, path, old_start, new_start, status } }: { hunk: Hunk }) {
  if (lines === null)
    return <p class="note">The file is {status}, and looks like a key or a login: see it in Changes.</p>;
  if (lines.length === 0) return <p class="note">The file as a whole is {status}.</p>;
  const patch = readPatch([`@@ -${old_start} +${new_start} @@`, ...lines].join('\n'));
  return <PatchView patch={patch} path={path} isSplit={false} />;
}
