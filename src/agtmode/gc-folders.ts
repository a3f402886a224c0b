/** `agt gc --folders`. */
import { showSize } from '../config/values.ts';
import { EXIT, exitCodeFor, formatError, worstExitCode } from '../errors.ts';
import { listStores } from '../folders/store.ts';
import { inDirectory } from '../git/run/git.ts';
import {
  type FolderOutcome,
  isTidyDue,
  PRUNE_FOLDERS_BEFORE,
  tidyFolders,
} from '../maintenance/retention/folders.ts';
import { expiryTime } from '../maintenance/retention/prune.ts';
import type { Context } from './context.ts';
import { errorJson, json, plural, showPath } from './output/format.ts';

interface Arguments {
  readonly thin: boolean;
  readonly prune: string | undefined;
  readonly daily: boolean;
  readonly 'dry-run': boolean;
  readonly json: boolean;
}

export async function gcFolders(context: Context, args: Arguments): Promise<number> {
  const access = context.folderAccess();
  const [store] = listStores(access);
  const pruneBefore =
    args.prune === undefined || store === undefined
      ? PRUNE_FOLDERS_BEFORE
      : await expiryTime(inDirectory(access.git, store), args.prune);
  const now = context.now();
  const isDue = !args.daily || isTidyDue(access, now);
  const request = { thin: args.thin, now, pruneBefore, dryRun: args['dry-run'] };
  const outcomes = isDue ? await tidyFolders(access, request) : [];
  const errors = outcomes.flatMap(({ error }) => (error === undefined ? [] : [error]));
  if (args.json) context.out(json({ folders: outcomes.map(outcomeJson) }));
  else for (const outcome of outcomes) context.out(describe(outcome, args['dry-run']));
  for (const error of errors) context.err(formatError(error, false));
  return errors.length === 0 ? EXIT.done : worstExitCode(errors.map(exitCodeFor));
}

function outcomeJson({ store, folder, plan, freed, refused, error }: FolderOutcome) {
  return {
    folder: folder ?? null,
    store,
    snapshots: plan?.chain.snapshots.length ?? null,
    going: plan?.going ?? 0,
    bytes: freed,
    refused: refused ?? null,
    ...errorJson(error),
  };
}

function describe({ store, folder = store, plan, freed, refused }: FolderOutcome, isDryRun: boolean): string {
  const name = showPath(folder);
  if (refused !== undefined) return `${name}: skipped: ${refused}\n`;
  if (plan === undefined && freed === 0) return '';
  const verb = isDryRun ? 'would delete' : 'deleted';
  const snapshots = `${plan?.going ?? 0} of ${plural(plan?.chain.snapshots.length ?? 0, 'snapshot')}`;
  if (plan === undefined) return `${name}: ${showSize(freed)} freed\n`;
  return `${name}: ${verb} ${snapshots} (${showSize(freed)})\n`;
}
