/** agt snapshot and agt snapshot forget: the snapshots of a folder, and their end. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { realPath } from '../../../disk/real-path.ts';
import { stateHome } from '../../../disk/state-home.ts';
import { AgtError, plural, usageError } from '../../../errors.ts';
import { storeName } from '../../../filter/store-name.ts';
import { FolderRefused } from '../../../folders/refuse.ts';
import { findAttached, forgetFolder, openStore, settingsFile } from '../../../folders/store.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { resolveObject } from '../../../git/run/git.ts';
import { writeLastEvent } from '../../../integrations/hooks-log.ts';
import { findIntegration } from '../../../integrations/tools.ts';
import { folderStore } from '../../../layout.ts';
import { shellQuote } from '../../../process/shell-quote.ts';
import { bringBack, commandToList } from '../../../session/advised-commands.ts';
import { sessionContaining } from '../../../session/find-session.ts';
import { Session } from '../../../session/session.ts';
import { autocommit, captureFolder, type FolderCapture } from '../../../triggers/autocommit.ts';
import type { AutocommitOptions } from '../../../workspace/capture-session.ts';
import { defineCommand, option } from '../../command-line/command.ts';
import { type Context, openContext } from '../../context.ts';
import { reportAutocommit } from '../../output/autocommit.ts';
import { json, showPath, verb } from '../../output/format.ts';
import { attachedHere, folderHere, sessionIfAny } from '../../session-here.ts';

/** Words that people try after `agt snapshot`. */
const OTHER_COMMANDS = new Map([
  ['undo', 'agt undo'],
  ['redo', 'agt redo'],
  ['log', 'agt snapshot list'],
  ['ls', 'agt snapshot list'],
  ['show', 'agt snapshot list --stat'],
  ['cat', 'agt cat SNAPSHOT:PATH'],
]);

export const snapshot = defineCommand({
  usage: 'snapshot [folder]',
  elsewhere: Object.fromEntries(OTHER_COMMANDS),
  summary: 'record any folder as a snapshot, with or without git',
  description:
    'Record the files of a folder, so that agt undo, agt redo and agt snapshot restore can bring them back. In a git ' +
    'checkout agt takes the whole worktree, and the state of git: HEAD, index, refs and stashes. Of the files that git ' +
    'ignores it takes small ones, up to agt.ignoredFiles and agt.ignoredSize, but no build output, and those that ' +
    '.worktreeinclude names. Inside of a folder that has snapshots, agt takes the whole of that folder. ' +
    'The snapshots are in a store of their own, in $XDG_STATE_HOME/agt/folders: a snapshot writes nothing into your ' +
    'repository. If nothing changed, do nothing. In the folder of a session, this is agt autocommit. agt takes no ' +
    'snapshots of a home directory, of / and of more than 200,000 files that git neither tracks nor ignores.',
  positionals: { folder: option.value('folder (default: the current directory)') },
  options: {
    label: option.value('name the snapshot', 'm'),
    tool: option.value('store the name of the tool that made the changes'),
    agent: option.value('store the name of the agent'),
    conversation: option.value('store the id of the conversation of the agent'),
    ignored: option.flag('take the files that git ignores as well'),
    'if-changed': option.flag('if nothing but the label is new, add no snapshot'),
    ...option.shared('wait', 'dry-run', 'quiet', 'json'),
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
    const tool = args.agent === undefined ? undefined : findIntegration(args.agent)?.name;
    const event = { at: context.now().toISOString(), event: 'snapshot', cwd: context.cwd };
    if (tool !== undefined) writeLastEvent(context.env, tool, event); // an extension, which calls no hook
    const taken = await take(context, args.folder, options).catch((error: unknown) => {
      if (args.json && error instanceof FolderRefused) {
        // For hooks, which tell of a refusal once.
        const { message: refused, hints, isKnown } = error;
        context.out(json({ outcome: 'refused', commit: null, refused, hints, is_known: isKnown }));
      }
      throw error;
    });
    if (typeof taken !== 'string') return report(taken, args.json, coverNote(context, args.folder, taken));
    return {
      json: { folder: taken, outcome: 'would-commit', commit: null, changes: null },
      text: `would take the first snapshot of ${showPath(taken)}\n`,
    };
  },
});

/** A path: the folder whose first snapshot agt would take. */
async function take(context: Context, given: string | undefined, options: AutocommitOptions) {
  const directory = given === undefined ? undefined : requireDirectory(context, given, options.label);
  const place = directory === undefined ? context : openContext(directory, context.env);
  const user = await place.repositoryIfAny();
  const record = user && sessionContaining(user, place.cwd);
  if (user !== undefined && record !== undefined) {
    const session = new Session(user, record);
    return { session, result: await autocommit(session, options), isNew: false };
  }
  const { folder } = await folderHere(place);
  const access = place.folderAccess();
  if (options.dryRun === true && findAttached(access, folder, settingsFile(user)) === undefined)
    return folder;
  return captureFolder(access, { folder, user }, options);
}

/** For a person who names a part of what agt records. */
function coverNote({ cwd }: Context, given: string | undefined, { session: { record } }: FolderCapture) {
  const folder = record.checkout ?? record.sandbox;
  const named = realPath(resolve(cwd, given ?? folder));
  if (!named.startsWith(`${folder}/`)) return '';
  return `note: ${showPath(named)} is in ${showPath(folder)}, which agt records as a whole\n`;
}

/** The real path. */
function requireDirectory({ cwd }: Context, given: string, named?: string): string {
  const path = resolve(cwd, given);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return realPath(path);
  const cannot = `cannot snapshot "${given}"`;
  const hint = 'give a folder, or leave it out for the current directory';
  if (stat !== undefined) throw new AgtError(`${cannot}: it is no folder`, { hints: [hint] });
  const other = OTHER_COMMANDS.get(given);
  const words = [named, given].filter(Boolean).join(' ');
  const label = `to name the snapshot: agt snapshot --label ${shellQuote(words)}`;
  const hints = other === undefined ? [hint, label] : [`use: ${other}`, hint];
  throw new AgtError(`${cannot}: there is no such folder`, { hints });
}

async function report({ session, result, isNew }: FolderCapture, asJson: boolean, note: string) {
  const { repository, record } = session;
  const { commit } = result;
  const { json: captured, text, notes, ...others } = reportAutocommit(record, result);
  const tree = asJson && commit && (await resolveObject(repository.git, `${commit}^{tree}`));
  return {
    ...others,
    notes: `${note}${notes}`,
    json: { folder: record.checkout ?? record.sandbox, ...captured, tree: tree || null },
    text: isNew ? `${record.session_id}: first snapshot, ${shortOid(commit ?? '')}\n` : text,
  };
}

export const snapshotForget = defineCommand({
  usage: 'snapshot forget [folder]',
  summary: 'delete all snapshots of a folder',
  description:
    'Delete the store of a folder with all of its snapshots. The files of the folder stay as they are, and nothing ' +
    'brings the snapshots back. The folder may be gone. If hooks of an agent take snapshots there, they begin anew.',
  positionals: { folder: option.value('folder (default: the one that you are in)') },
  options: {
    force: option.flag('delete them; without it, agt only says how many there are'),
    ...option.shared('dry-run', 'json'),
  },
  examples: [
    ['agt snapshot forget -n', 'show how many snapshots of this folder would go'],
    ['agt snapshot forget ~/notes --force', 'delete the snapshots of a folder'],
  ],
  run: async (args, context) => {
    const attached = args.folder === undefined ? await attachedOrRefuse(context) : find(context, args.folder);
    const { repository, record } = attached;
    const folder = record.checkout ?? record.sandbox;
    const { length } = await attached.history();
    const snapshots = `${plural(length, 'snapshot')} of ${showPath(folder)}`;
    if (!args.force && !args.dryRun) {
      const next = existsSync(folder)
        ? `to look at them: ${commandToList(record)}`
        : `the folder is gone; to bring it back: ${bringBack(folder)}`;
      const hints = [next, 'to delete them: add --force'];
      throw new AgtError(`${snapshots} would go, and nothing brings them back`, { hints });
    }
    if (!args.dryRun) await forgetFolder(context.folderAccess(), attached);
    return {
      json: { folder, store: repository.commonDir, snapshots: length, deleted: !args.dryRun },
      text: `${verb(args.dryRun, 'deleted', 'delete')} ${snapshots}\n`,
    };
  },
});

/** The store of this folder; if it is gone, the one that has the name of its path. */
function find(context: Context, given: string): Session {
  const access = context.folderAccess();
  const folder = realPath(resolve(context.cwd, given));
  const state = stateHome(access.env);
  const named = () => state && openStore(access, folderStore(state, storeName(folder)), undefined);
  const found = existsSync(folder) ? findAttached(access, folder, undefined) : named();
  if (!found) throw noSnapshots(folder);
  return found;
}

async function attachedOrRefuse(context: Context): Promise<Session> {
  const session = await sessionIfAny(context);
  const attached = await attachedHere(context);
  if (attached !== undefined && attached.record.sandbox === session?.record.sandbox) return attached;
  if (session === undefined) throw noSnapshots(context.cwd);
  const id = session.record.session_id;
  throw new AgtError(`you are in the session "${id}", which agt snapshot forget does not delete`, {
    hints: [`agt session remove ${id}`],
  });
}

function noSnapshots(folder: string): AgtError {
  return new AgtError(`there are no snapshots of ${showPath(folder)}`, {
    hints: ['the folders that have some: agt du --folders'],
  });
}
