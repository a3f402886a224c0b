/** agt session cat, mount and umount: a file of a snapshot, and snapshots as folders. */
import { resolve } from 'node:path';
import { listMounts } from '../../../disk/mounts.ts';
import { realEntry } from '../../../disk/real-path.ts';
import { AgtError, EXIT, isAgtError, usageError } from '../../../errors.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { runGitOnTerminal } from '../../../git/run/git.ts';
import { endMount, unmount } from '../../../lifecycle/mounted/end-mount.ts';
import { listMountRecords, type MountPlace, mountState } from '../../../lifecycle/mounted/mount-record.ts';
import { shellQuote } from '../../../process/shell-quote.ts';
import { recordNamed } from '../../../session/record.ts';
import { MOUNT_TYPE } from '../../../snapshot/folders.ts';
import { findFile } from '../../../timetravel/cat.ts';
import { mountSnapshot } from '../../../timetravel/mount/mount.ts';
import { pathInSession, pathToWrite } from '../../../timetravel/session-paths.ts';
import {
  defineCommand,
  givenSession,
  option,
  SESSION_ARGUMENT,
  SNAPSHOT_FORMS,
} from '../../command-line/command.ts';
import { type Report, reportEach } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';
import { age, table, verb } from '../../output/format.ts';
import { repositoriesHere, sessionAndWords, sessionHere } from '../../session-here.ts';

export const sessionCat = defineCommand({
  usage: 'session cat [id] [file] [path]',
  summary: 'print a file of a snapshot',
  description:
    'Print the content of a file, or the target of a symbolic link, or the names in a directory whose path ends in /. ' +
    'Write <file> as <snapshot>:<path>, or as two words. The snapshot is ' +
    `${SNAPSHOT_FORMS}. The path is relative to the sandbox; xdg/log (or ../xdg/log) is in another folder of the ` +
    'session. Inside a session folder, leave out <id>.',
  positionals: {
    id: option.value('session id (not needed inside a session folder)'),
    file: option.value('<snapshot>:<path>'),
    path: option.value('the path, if it is a word of its own'),
  },
  options: option.shared('session'),
  examples: [
    ['agt session cat fix-login @{2}:src/login.c', 'print a file as it was two autocommits ago'],
    ['agt session cat "10 minutes ago:src/login.c" > login.c.old', 'save the version of ten minutes ago'],
  ],
  run: async (args, context) => {
    const given = [args.id, args.file, args.path].filter((word) => word !== undefined);
    const { session, words } = await sessionAndWords(context, given, args.session, 2);
    const spec = words.join(':');
    const cat = `agt session cat ${session.id}`;
    if (spec === '')
      throw usageError(`no file of session "${session.id}" given`, `for its newest version: ${cat} @:PATH`);
    if (!spec.includes(':')) {
      const isSnapshot = await session.find(spec, context.now()).catch(() => undefined);
      if (isSnapshot)
        throw usageError(`no path given after "${spec}"`, `add it: ${cat} ${shellQuote(spec)} PATH`);
      throw usageError(`no snapshot given in "${spec}"`, `for the newest: ${cat} ${shellQuote(`@:${spec}`)}`);
    }
    const found = await findFile(session, spec, context.now(), {
      inSession: (path, namesakes) => pathInSession(session.record, path, context.cwd, namesakes),
      toWrite: (path, namesakes) => pathToWrite(session.record, path, context.cwd, namesakes),
    }).catch(async (error: unknown) => {
      const [word = '', path = ''] = spec.split(':');
      const user = await context.repositoryIfAny();
      if (isAgtError(error) && user && recordNamed(user, word))
        error.hints.unshift(`a file of that session: agt session cat ${word} ${shellQuote(`@:${path}`)}`);
      throw error;
    });
    if ('oid' in found) return runGitOnTerminal(session.git, ['cat-file', 'blob', found.oid]);
    context.out(Buffer.from(found.names.map((name) => `${name}\n`).join(''), 'latin1'));
    return EXIT.done;
  },
});

export const sessionMount = defineCommand({
  usage: 'session mount [id] [dir]',
  summary: 'show a snapshot as a folder that cannot be changed',
  description:
    'Mount a snapshot: the folder has sandbox/, xdg/ and config/ as they were then, for every program to read. As root, ' +
    'agt serves the files from git, at once and without taking up disk space; a process of agt runs until agt session ' +
    'umount. Otherwise agt writes a copy that is read-only. Without <dir>, agt makes a directory beside the sessions, ' +
    'or beside the snapshots of a folder, and prints it. The session and the current files stay as they are, and the snapshot stays as long as it is ' +
    'mounted, even if the session is removed. Without --to, list what is mounted.',
  positionals: {
    id: SESSION_ARGUMENT,
    dir: option.value('an empty directory, or one to make; with a "/" in it, it needs no id'),
  },
  options: {
    ...option.shared('session'),
    to: option.value(`mount this snapshot: ${SNAPSHOT_FORMS}`),
    copy: option.flag('write a copy, also as root'),
    ...option.shared('json'),
  },
  examples: [
    ['cd "$(agt session mount fix-login --to "10 minutes ago")"', 'look around in a snapshot'],
    ['agt session mount fix-login --to @{3} /mnt/before', 'mount it at a directory'],
    ['agt session mount', 'list what is mounted'],
  ],
  run: async (args, context) => {
    if (args.to === undefined) return listAll(context, args);
    const { id, dir } = wordsOf(args);
    const given = givenSession({ id, session: args.session });
    const session = await sessionHere(context, given).catch((error: unknown) => {
      if (id !== undefined && isAgtError(error))
        error.hints.push('put the id first: agt session mount ID DIRECTORY --to SNAPSHOT');
      throw error;
    });
    const now = context.now();
    const snapshot = await session.find(args.to, now);
    const request = { snapshot, directory: dir, cwd: context.cwd, copy: args.copy, now };
    const { record: mounted, reason } = await mountSnapshot(session, request);
    return {
      json: { ...mountJson({ place: session.repository, record: mounted }), reason: reason ?? null },
      text: `${mounted.directory}\n`,
      notes: reason === undefined ? '' : `note: this is a copy: ${reason}\n`,
    };
  },
});

type Words = Readonly<Record<'id' | 'dir', string | undefined>>;

/** A single word is the directory if it cannot be the id: with --session, and if it is a path. */
function wordsOf({ id, dir, session }: Words & { readonly session: string | undefined }): Words {
  const isId = id === undefined || dir !== undefined || id === session;
  return isId || (session === undefined && !id.includes('/')) ? { id, dir } : { id: undefined, dir: id };
}

async function listAll(context: Context, { id, dir }: Words): Promise<Report> {
  if (id !== undefined || dir !== undefined)
    throw usageError('no snapshot given', `add --to <snapshot>; see: agt session log${id ? ` ${id}` : ''}`);
  const places = await repositoriesHere(context);
  if (places.length === 0) await context.repository(); // says that there is none
  const mounts = mountsOf(places).filter(({ place, record }) => mountState(place.agtDir, record) !== 'gone');
  const rows = mounts.map((mount) => [
    `${mount.record.session}@${shortOid(mount.record.commit)}`,
    mount.record.directory,
    describeState(mount),
    age(new Date(mount.record.mounted_at), context.now()),
  ]);
  return { json: mounts.map(mountJson), text: table(rows) };
}

type KnownMount = ReturnType<typeof mountsOf>[number];

function mountsOf(places: readonly MountPlace[]) {
  return places.flatMap((place) => listMountRecords(place.agtDir).map((record) => ({ place, record })));
}

function mountJson({ place, record }: KnownMount) {
  const { session, commit, directory, way, mounted_at } = record;
  return { session_id: session, commit, directory, way, state: mountState(place.agtDir, record), mounted_at };
}

const WAYS = { files: 'served from git', copy: 'a copy' } as const;

function describeState({ place, record }: KnownMount): string {
  const state = mountState(place.agtDir, record);
  if (state === 'dead') return 'dead; see: agt doctor';
  if (state !== 'making') return WAYS[record.way];
  // If it was served, its repository has moved, or it is mounted in another container.
  return record.served === true ? 'not mounted here; see: agt doctor' : 'another agt is making it';
}

export const sessionUmount = defineCommand({
  usage: 'session umount [id-or-dir]',
  summary: 'unmount snapshots',
  description:
    'End what agt session mount has begun: unmount the folder, or delete the copy, and the directory if agt made it. An ' +
    'id ends all mounts of that session, a directory the one that is there. Files that were put into a copy are named, ' +
    'and stay.',
  positionals: { 'id-or-dir': option.value('session id or mounted directory') },
  options: {
    all: option.flag('unmount all snapshots of this repository'),
    lazy: option.flag('detach the folder now, although programs use it', 'l'),
    force: option.flag('delete also files of a copy that have changed'),
    ...option.shared('dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt session umount fix-login', 'unmount all snapshots of a session'],
    ['agt session umount /mnt/before', 'unmount one'],
    ['agt session umount --all', 'unmount all of this repository'],
  ],
  run: async (args, context) => {
    const { idOrDir: given, dryRun } = args;
    if ((given === undefined) === !args.all)
      throw usageError('give a session id or a directory, or --all', 'see: agt session mount');
    const places = await repositoriesHere(context);
    if (given === undefined && places.length === 0) await context.repository(); // says that there is none
    const mounts = mountsOf(places);
    const path = given === undefined ? undefined : realEntry(resolve(context.cwd, given));
    const named = mounts.filter(({ record }) => given === undefined || record.session === given);
    const chosen = named.length > 0 ? named : mounts.filter(({ record }) => record.directory === path);
    const done = verb(dryRun, 'unmounted', 'unmount');
    if (chosen.length > 0) {
      return reportEach(
        chosen,
        ({ record }) => ({ directory: record.directory }),
        async (mount) => {
          const json = mountJson(mount);
          if (!dryRun) await endMount(mount.place, mount.record, args);
          return { json, text: `${done} ${mount.record.directory}\n` };
        },
      );
    }
    if (given === undefined) return { json: [], text: 'nothing is mounted\n' };
    // It may belong to another repository, or to one that somebody has deleted.
    const found = listMounts().find(({ type, point }) => type === MOUNT_TYPE && point === path);
    if (found === undefined) {
      throw new AgtError(`no snapshot is mounted at "${given}", nor one of a session of that name`, {
        hints: ['see: agt session mount'],
      });
    }
    if (!dryRun) await unmount(found.point, args.lazy);
    return { json: [{ directory: found.point }], text: `${done} ${found.point}\n` };
  },
});
