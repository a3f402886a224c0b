import { AgtError, isAgtError, usageError } from '../../../errors.ts';
import { mountState } from '../../../lifecycle/mounted/mount-record.ts';
import { snapshotRefs } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { resolveSnapshot } from '../../../snapshot/resolve-snapshot.ts';
import { mountSnapshot } from '../../../timetravel/mount/mount.ts';
import {
  defineCommand,
  flag,
  JSON_OPTION,
  type Report,
  SNAPSHOT_FORMS,
  withValue,
} from '../../command-line/command.ts';
import { givenSession, SESSION_OPTION } from '../../command-line/session-command.ts';
import type { Context } from '../../context.ts';
import { describeMounts, mountJson, mountsOf } from '../../output/mounts.ts';
import { repositoriesHere, sessionHere } from '../../session-here.ts';

export const sessionMount = defineCommand({
  usage: 'session mount [id] [dir]',
  group: 'snapshots',
  summary: 'show a snapshot as a folder that cannot be changed',
  description:
    'Mount a snapshot: the folder has sandbox/, xdg/ and config/ as they were then, for every program to read. As root, ' +
    'agt serves the files from git, at once and without taking up disk space; a process of agt runs until agt session ' +
    'umount. Otherwise agt writes a copy that is read-only. Without <dir>, agt makes a directory beside the sessions, ' +
    'or beside the snapshots of a folder, and prints it. The session and the current files stay as they are, and the snapshot stays as long as it is ' +
    'mounted, even if the session is removed. Without --to, list what is mounted.',
  positionals: {
    id: withValue('session id (default: the session of the current directory)'),
    dir: withValue('an empty directory, or one to make; with a "/" in it, it needs no id'),
  },
  options: {
    session: SESSION_OPTION,
    to: withValue(`mount this snapshot: ${SNAPSHOT_FORMS}`),
    copy: flag('write a copy, also as root'),
    json: JSON_OPTION,
  },
  examples: [
    ['cd "$(agt session mount fix-login --to "10 minutes ago")"', 'look around in a snapshot'],
    ['agt session mount fix-login --to @{3} /mnt/before', 'mount it at a directory'],
    ['agt session mount', 'list what is mounted'],
  ],
  run: async (args, context) => {
    if (args.to === undefined) return listAll(context, args);
    const { id, dir } = wordsOf(args);
    const session = await sessionOf(context, { id, session: args.session });
    const now = context.now();
    const snapshot = await resolveSnapshot(session.git, snapshotRefs(session.record), args.to, now);
    const request = { snapshot, directory: dir, cwd: context.cwd, copy: args.copy, now };
    const { record: mounted, reason } = await mountSnapshot(session, request);
    return {
      json: { ...mountJson({ place: session.repository, record: mounted }), reason: reason ?? null },
      text: `${mounted.directory}\n`,
      notes: reason === undefined ? '' : `note: this is a copy: ${reason}\n`,
    };
  },
});

interface Words {
  readonly id?: string | undefined;
  readonly dir?: string | undefined;
}

/** A single word is the directory if it cannot be the id: with --session, and if it is a path. */
function wordsOf({ id, dir, session }: Words & { readonly session: string | undefined }): Words {
  if (id === undefined || dir !== undefined || id === session) return { id, dir };
  return session !== undefined || id.includes('/') ? { id: undefined, dir: id } : { id, dir };
}

async function sessionOf(
  context: Context,
  given: { readonly id: string | undefined; readonly session: string | undefined },
): Promise<Session> {
  try {
    return await sessionHere(context, givenSession(given));
  } catch (error) {
    if (given.id === undefined || !isAgtError(error)) throw error;
    const { message, exitCode, hints } = error;
    const form = 'put the id first: agt session mount ID DIRECTORY --to SNAPSHOT';
    throw new AgtError(message, { exitCode, hints: [...hints, form], cause: error });
  }
}

async function listAll(context: Context, { id, dir }: Words): Promise<Report> {
  if (id !== undefined || dir !== undefined)
    throw usageError('no snapshot given', 'add --to <snapshot>; see: agt session log');
  const places = await repositoriesHere(context);
  if (places.length === 0) await context.repository(); // says that there is none
  const mounts = mountsOf(places).filter(({ place, record }) => mountState(place.agtDir, record) !== 'gone');
  return { json: mounts.map(mountJson), text: describeMounts(mounts, context.now()) };
}
