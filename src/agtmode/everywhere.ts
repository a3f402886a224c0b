/** `--everywhere`: a command in each repository that has sessions, under a heading, as JSON one list; or one list of all. */
import { rmSync } from 'node:fs';
import { AgtError, EXIT, isAgtError } from '../errors.ts';
import { listStores, openListedStore, shownId } from '../folders/store.ts';
import { knownRepositories, openKnown, placeOf } from '../repository/known-repositories.ts';
import type { Repository } from '../repository/repository.ts';
import { advisedIn, withAdviceIn } from '../session/advised-commands.ts';
import { isAttached, listRecords, type SessionRecord } from '../session/record.ts';
import { type Answer, partOf, type Report, reportEach } from './command-line/report.ts';
import { type Context, openContext } from './context.ts';
import { paint, showPath } from './output/format.ts';
import { requireRepositoriesHere } from './session-here.ts';

/** `tolerant`: see `openContext`. `forgets`: those that are gone are not named again. */
export async function everywhere(
  context: Context,
  run: (context: Context) => Promise<Answer>,
  { tolerant = false, forgets = false } = {},
): Promise<Report> {
  const { present, gone } = knownRepositories(context.env);
  const env = { ...context.env, GIT_DIR: undefined, GIT_WORK_TREE: undefined };
  const inOne = async (repository: string) => {
    const there = openContext(repository.replace(/\/\.git$/, ''), env, tolerant);
    const found = await there.repositoryIfAny();
    if (found === undefined)
      throw new AgtError('git finds no repository there any more', { exitCode: EXIT.git });
    const place = placeOf(found);
    const { json, text = '', notes = '', warnings = '', ...part } = await partOf(await run(there));
    const heading = paint(context.colour())('bold', showPath(place));
    const rows = [json].flat().map((row) => ({ repository, ...(row as object) }));
    const told = { ...part, json: rows, warnings: advisedIn(there.cwd, warnings) };
    return text === ''
      ? told
      : { ...told, notes: advisedIn(there.cwd, notes), text: `${heading}\n${text}\n` };
  };
  const report = await reportEach(
    present,
    (repository) => ({ repository }),
    (repository) => inOne(repository).catch((error: unknown) => Promise.reject(named(repository, error))),
  );
  if (forgets) for (const { link } of gone) rmSync(link, { force: true });
  const notes = gone.map((one) => `note: agt has forgotten ${showPath(placeOf(one))}, which is gone\n`);
  const warnings = (forgets ? notes.join('') : goneNotes(gone)) + report.warnings;
  return { ...report, text: report.text.replace(/\n\n$/, '\n'), warnings };
}

/** An error of git, and a hint, say nothing of the place. */
export function named(repository: string, error: unknown): unknown {
  if (!isAgtError(error)) return error;
  const place = placeOf({ commonDir: repository });
  const { message, hints, exitCode } = withAdviceIn(place, error);
  return new AgtError(`${showPath(place)}: ${message}`, { hints, exitCode, cause: error });
}

/** A line for each repository that is not where agt knew it. */
function goneNotes(gone: readonly { readonly commonDir: string }[]): string {
  const next = 'if you moved it, call agt there once; else forget it: agt doctor --everywhere --fix';
  return gone.map((one) => `note: ${showPath(placeOf(one))} is gone; ${next}\n`).join('');
}

export type Source = ReturnType<typeof sourceOf>;

/** In a column beside sessions. `folder`: the record of one without a session. */
export function nameOf(session: string, folder: SessionRecord | undefined): string {
  return folder === undefined ? session : `${shownId(folder)} (folder)`;
}

/** Where to look for sessions: here, or everywhere; then one that cannot be read hides no other. `hints`: if none is here. */
export async function findSources(context: Context, everywhere: boolean, ...hints: string[]) {
  if (!everywhere) {
    const found = await requireRepositoriesHere(context, ...hints);
    return { sources: found.map(sourceOf), errors: [] as unknown[], warnings: '' };
  }
  const { present, gone } = knownRepositories(context.env);
  const access = context.folderAccess();
  const errors: unknown[] = [];
  const open = (place: string, repository: () => Repository | undefined): Source[] => {
    try {
      const found = repository();
      return found === undefined ? [] : [sourceOf(found)];
    } catch (error) {
      errors.push(named(place, error));
      return [];
    }
  };
  const ofRepositories = present.flatMap((commonDir) => open(commonDir, () => openKnown(access, commonDir)));
  const ofFolders = listStores(access).flatMap((store) =>
    open(store, () => openListedStore(access, store)?.repository),
  );
  return { sources: [...ofRepositories, ...ofFolders], errors, warnings: goneNotes(gone) };
}

/** `place`: the path that a person knows. `record`: that of a folder without a session. */
function sourceOf(repository: Repository) {
  const record = listRecords(repository).records.find(isAttached);
  return { repository, place: record?.checkout ?? placeOf(repository), record };
}
