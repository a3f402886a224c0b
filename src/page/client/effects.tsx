/** Says in plain words what a command would change or has changed, from its JSON, and what else it told. */
import type { Change, Row } from './api.ts';
import { isFolder, nameOf, plural, shortRef } from './format.ts';
import { Lines, Many } from './shell.tsx';

/** Fields of the results of all acts. */
export interface Effect {
  readonly session_id?: string;
  /** In the session. */
  readonly changes?: readonly Change[];
  /** `null`: there is none. */
  readonly refs?: readonly {
    readonly ref: string;
    readonly from: string | null;
    readonly to: string | null;
  }[];
  /** On a branch, whose new commit takes them or is taken back. */
  readonly files?: readonly Change[];
  readonly onto?: string;
  readonly undone?: string;
  readonly message?: string | null;
  readonly worktree?: string | null;
  readonly left_out?: readonly string[];
  readonly sandbox_restored?: boolean;
  /** That comes into the session. */
  readonly branch?: string;
  readonly commits?: number;
  readonly reverted_by?: string | null;
  /** Of a session that ends; only a rejected one has a reason. */
  readonly folder?: string | null;
  readonly reason?: string | null;
  readonly ignored?: readonly string[];
  /** Of a refusal. */
  readonly ways?: readonly {
    readonly does: string;
    readonly words: readonly string[];
    readonly hint: string;
  }[];
}

const FATES: Readonly<Record<string, string>> = {
  ...{ modified: 'changed', deleted: 'deleted', mode: 'permissions changed' },
  blocked: 'not restored: something is in its way',
};

/** Of the session itself: it comes back with them. */
const OWN = ['config', 'sandbox', 'xdg'];

export const isIdle = ({ changes, refs = [], branch, commits = 0 }: Effect) =>
  changes === undefined ? branch !== undefined && commits === 0 : changes.length + refs.length === 0;

export function Effects({ effect, row, idle }: Partial<Outcome> & { row: Row; idle?: string }) {
  if (effect === undefined) return null;
  const { changes = [], files: landed = changes } = effect;
  const isBack = changes.some(({ path }) => path === 'sandbox');
  const files = landed.filter(({ path }) => !(isBack && OWN.includes(path)));
  const added = (effect.changes ?? effect.undone) === undefined ? 'new' : 'brought back';
  const fate = ({ status }: Change) => (status === 'added' ? added : (FATES[status] ?? status));
  const counts = [...Map.groupBy(files, fate)]
    .map(([words, same]) => `${plural(same.length, 'file')} ${words}`)
    .join(', ');
  return (
    <>
      {sentencesOf(effect, row, counts, idle).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {files.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a person scrolls it by keys
        <ul class="effects" tabIndex={0}>
          <Many all={files} in="list">
            {(file) => (
              <li key={file.path}>
                <span class={`sign is-${file.status}`}>{fate(file)}</span> {file.path}{' '}
                {file.insertions != null && <Lines added={file.insertions} removed={file.deletions ?? 0} />}
              </li>
            )}
          </Many>
        </ul>
      )}
    </>
  );
}

function sentencesOf(effect: Effect, row: Row, counts: string, idle?: string): string[] {
  const { changes, refs = [], onto, undone, worktree, left_out: left = [] } = effect;
  const { branch, commits = 0, reverted_by, folder, reason, ignored = [] } = effect;
  const name = `${isFolder(row) ? 'the folder' : 'session'} ${nameOf(row)}`;
  const all: (string | false | null | undefined)[] = [];
  if (changes !== undefined)
    all.push(
      changes.length > 0 && `In ${name}: ${counts}. All else stays as it is.`,
      isIdle(effect) && (idle ?? `Nothing changes: ${name} is as it was then.`),
      changes.some(({ path }) => path === 'sandbox') && 'The session goes on, in its folder.',
      ...refs.map(({ ref, from, to }) => {
        const move = to === null ? 'is deleted' : from === null ? 'comes back' : 'moves to where it was';
        return `${ref.startsWith('refs/heads/') ? 'Branch ' : ''}${shortRef(ref)} ${move}.`;
      }),
    );
  if (onto !== undefined)
    all.push(
      undone === undefined
        ? `Branch ${onto} gets one new commit: ${counts}. Rejected lines stay out of it.`
        : `Branch ${onto} goes back to where it was before: ${counts}.`,
      worktree && `The files in ${worktree} follow.`,
      left.length > 0 && `Left out: ${left.join(', ')}.`,
      effect.sandbox_restored && 'The session comes back, with its folder.',
    );
  if (branch !== undefined)
    all.push(
      commits === 0
        ? `Nothing changes: ${name} has all commits of ${branch}.`
        : `Into ${name}: ${plural(commits, 'commit')} of ${branch}. ${reverted_by ? 'One of them takes work of the session back: it goes here, too.' : 'Its own work stays.'}`,
    );
  if (folder !== undefined)
    all.push(
      row.checkout
        ? `The session ends. Your folder ${row.checkout} is as before it, on ${shortRef(row.user_branch)}.`
        : `The session ends. Its folder ${folder} is deleted.`,
      reason !== undefined && `Its branch ${shortRef(row.work_branch)} is deleted.`,
      'Your branches stay as they are. So do the snapshots of the session: Undo brings it back.',
      ignored.length > 0 && `No snapshot has these, because of .agtignore: ${ignored.join(', ')}.`,
    );
  return all.filter((sentence) => typeof sentence === 'string');
}

export interface Outcome {
  readonly effect?: Effect | undefined;
  readonly err: string;
  readonly failed: boolean;
}

/** All that a command printed beside its result: why it failed, warnings, and what to do next. */
export function Told({ effect, err, failed }: Outcome) {
  const hasButton = (line: string) => effect?.ways?.some(({ hint }) => line === `hint: ${hint}`);
  const lines = err.split('\n').filter((line) => line.trim() !== '' && !hasButton(line));
  return (
    <div role={failed ? 'alert' : undefined}>
      {lines
        .map((line) => line.replace(/^(error|hint|warning|note): /, '').replace(/ \(in [0-9a-f]+\)/g, ''))
        .map((line, i) => (
          <p key={line} class={failed && i === 0 ? 'problem' : 'note'}>
            {line}
          </p>
        ))}
    </div>
  );
}
