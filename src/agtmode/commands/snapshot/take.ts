import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { realPath } from '../../../disk/real-path.ts';
import { AgtError, usageError } from '../../../errors.ts';
import { FolderRefused } from '../../../folders/refuse.ts';
import { findAttached, settingsFile } from '../../../folders/store.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { resolveObject } from '../../../git/run/git.ts';
import { sessionContaining } from '../../../session/find-session.ts';
import { Session } from '../../../session/session.ts';
import { autocommit, captureFolder, type FolderCapture } from '../../../triggers/autocommit.ts';
import type { AutocommitOptions } from '../../../workspace/capture-session.ts';
import { defineCommand, flag, type Report, shared, withValue } from '../../command-line/command.ts';
import { type Context, openContext } from '../../context.ts';
import { reportAutocommit } from '../../output/autocommit.ts';
import { json, showPath } from '../../output/format.ts';
import { folderHere } from '../../session-here.ts';

/** Words that people try after `agt snapshot`. */
const OTHER_COMMANDS = new Map([
  ['undo', 'agt undo'],
  ['redo', 'agt redo'],
  ['log', 'agt snapshot list'],
]);

export const snapshot = defineCommand({
  usage: 'snapshot [folder]',
  group: 'snapshots',
  summary: 'record any folder as a snapshot, with or without git',
  description:
    'Record the files of a folder, so that agt undo, agt redo and agt snapshot restore can bring them back. In a git ' +
    'checkout agt takes the whole worktree. Files that git ignores stay out, but for those that .worktreeinclude names. ' +
    'The snapshots are in a store of their own, in $XDG_STATE_HOME/agt/folders: agt writes nothing into your ' +
    'repository, and a restore writes files only. If nothing changed, do nothing. In the folder of a session, this is ' +
    'agt autocommit. agt takes no snapshots of a home directory, of / and of more than 200,000 files.',
  positionals: { folder: withValue('folder (default: the current directory)') },
  options: {
    label: withValue('name the snapshot'),
    tool: withValue('store the name of the tool that made the changes'),
    agent: withValue('store the name of the agent'),
    conversation: withValue('store the id of the conversation of the agent'),
    ignored: flag('take the files that git ignores as well'),
    'if-changed': flag('if nothing but the label is new, add no snapshot'),
    ...shared('wait', 'dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt snapshot', 'record the worktree or folder that you are in'],
    ['agt snapshot ~/notes --label "before the clean-up"', 'record another folder, with a name'],
    ['agt undo', 'go back to the snapshot before'],
  ],
  run: async (args, context) => {
    for (const name of ['label', 'tool', 'agent', 'conversation'] as const)
      if (args[name]?.trim() === '') throw usageError(`--${name} is empty`, 'give a text, or leave it out');
    const options: AutocommitOptions = {
      ...args,
      now: context.now(),
      onlyIfChanged: args.ifChanged,
      withIgnored: args.ignored,
    };
    const taken = await take(context, args.folder, options).catch((error: unknown) => {
      if (args.json && error instanceof FolderRefused) context.out(json(refusalJson(error)));
      throw error;
    });
    if (typeof taken === 'string')
      return {
        json: { folder: taken, outcome: 'would-commit', commit: null, changes: null },
        text: `would take the first snapshot of ${showPath(taken)}\n`,
      };
    return report(taken, args.json);
  },
});

/** For hooks, which tell of a refusal once. */
function refusalJson({ message, hints, isKnown }: FolderRefused) {
  return { outcome: 'refused', commit: null, refused: message, hints, is_known: isKnown };
}

/** A path: the folder whose first snapshot agt would take. */
async function take(context: Context, given: string | undefined, options: AutocommitOptions) {
  const place = given === undefined ? context : openContext(requireDirectory(context, given), context.env);
  const user = await place.repositoryIfAny();
  const record = user && sessionContaining(user, place.cwd);
  if (user !== undefined && record !== undefined) {
    const session = new Session(user, record);
    return { session, result: await autocommit(session, options), isNew: false };
  }
  const here = await folderHere(place);
  const folder = given !== undefined && user === undefined ? place.cwd : here.folder;
  const access = place.folderAccess();
  if (options.dryRun === true && findAttached(access, folder, settingsFile(user)) === undefined)
    return folder;
  return captureFolder(access, { folder, user }, options);
}

/** The real path. */
function requireDirectory({ cwd }: Context, given: string): string {
  const path = resolve(cwd, given);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return realPath(path);
  const problem = stat === undefined ? 'there is no such folder' : 'it is no folder';
  const other = stat === undefined ? OTHER_COMMANDS.get(given) : undefined;
  throw new AgtError(`cannot snapshot "${given}": ${problem}`, {
    hints: [
      ...(other === undefined ? [] : [`use: ${other}`]),
      'give a folder, or leave it out for the current directory',
    ],
  });
}

async function report({ session, result, isNew }: FolderCapture, asJson: boolean): Promise<Report> {
  const { repository, record } = session;
  const { commit } = result;
  const { json: captured, text, ...others } = reportAutocommit(record, result);
  const tree = asJson && commit && (await resolveObject(repository.git, `${commit}^{tree}`));
  return {
    ...others,
    json: { folder: record.checkout ?? record.sandbox, ...captured, tree: tree || null },
    text: isNew ? `${record.session_id}: first snapshot, ${shortOid(commit ?? '')}\n` : text,
  };
}
