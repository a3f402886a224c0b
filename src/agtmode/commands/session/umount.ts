import { resolve } from 'node:path';
import { listMounts } from '../../../disk/mounts.ts';
import { realEntry } from '../../../disk/real-path.ts';
import { AgtError, EXIT, formatError, isAgtError, usageError, worstExitCode } from '../../../errors.ts';
import { endMount, unmount } from '../../../lifecycle/mounted/end-mount.ts';
import {
  listMountRecords,
  type MountPlace,
  type MountRecord,
} from '../../../lifecycle/mounted/mount-record.ts';
import { MOUNT_TYPE } from '../../../snapshot/folders.ts';
import {
  DRY_RUN_OPTION,
  defineCommand,
  flag,
  JSON_OPTION,
  QUIET_OPTION,
  withValue,
} from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { json } from '../../output/format.ts';
import { mountJson } from '../../output/mounts.ts';
import { repositoriesHere } from '../../session-here.ts';

export const sessionUmount = defineCommand({
  usage: 'session umount [id-or-dir]',
  group: 'snapshots',
  summary: 'unmount snapshots',
  description:
    'End what agt session mount has begun: unmount the folder, or delete the copy, and the directory if agt made it. An ' +
    'id ends all mounts of that session, a directory the one that is there. Files that were put into a copy are named, ' +
    'and stay.',
  positionals: { 'id-or-dir': withValue('session id or mounted directory') },
  options: {
    all: flag('unmount all snapshots of this repository'),
    lazy: { ...flag('detach the folder now, although programs use it'), alias: 'l' },
    force: flag('delete also files of a copy that have changed'),
    'dry-run': DRY_RUN_OPTION,
    quiet: QUIET_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt session umount fix-login', 'unmount all snapshots of a session'],
    ['agt session umount /mnt/before', 'unmount one'],
    ['agt session umount --all', 'unmount all of this repository'],
  ],
  run: async (args, context) => {
    const given = args['id-or-dir'];
    if ((given === undefined) === !args.all)
      throw usageError('give a session id or a directory, or --all', 'see: agt session mount');
    const places = await repositoriesHere(context);
    const mounts = places.flatMap((place) =>
      listMountRecords(place.agtDir).map((record) => ({ place, record })),
    );
    const chosen = given === undefined ? mounts : choose(context, mounts, given);
    if (places.length === 0 || (chosen.length === 0 && given !== undefined))
      return unmountStranger(context, given, args);
    const ended: ReturnType<typeof mountJson>[] = [];
    const failures: unknown[] = [];
    for (const { place, record } of chosen) {
      try {
        const found = mountJson(place.agtDir, record);
        if (!args['dry-run']) await endMount(place, record, args);
        ended.push(found);
        context.out(
          args.json ? '' : `${args['dry-run'] ? 'would unmount' : 'unmounted'} ${record.directory}\n`,
        );
      } catch (error) {
        if (!isAgtError(error)) throw error;
        failures.push(error);
        context.err(formatError(error, false));
      }
    }
    if (args.json) context.out(json(ended));
    else if (chosen.length === 0) context.out('nothing is mounted\n');
    return failures.length === 0 ? EXIT.done : worstExitCode(failures.map(() => EXIT.failed));
  },
});

interface KnownMount {
  readonly place: MountPlace;
  readonly record: MountRecord;
}

function choose({ cwd }: Context, mounts: readonly KnownMount[], given: string): readonly KnownMount[] {
  const ofSession = mounts.filter(({ record }) => record.session === given);
  const path = realEntry(resolve(cwd, given));
  return ofSession.length > 0 ? ofSession : mounts.filter(({ record }) => record.directory === path);
}

/** It belongs to another repository, or to one that somebody has deleted. */
async function unmountStranger(
  context: Context,
  given: string | undefined,
  args: { readonly lazy: boolean; readonly 'dry-run': boolean; readonly json: boolean },
): Promise<number> {
  const path = given === undefined ? undefined : realEntry(resolve(context.cwd, given));
  const found = listMounts().find(({ type, point }) => type === MOUNT_TYPE && point === path);
  if (found === undefined) {
    if (given === undefined) await context.repository(); // says that there is none
    throw new AgtError(`no snapshot is mounted at "${given}", nor one of a session of that name`, {
      hints: ['see: agt session mount'],
    });
  }
  if (!args['dry-run']) await unmount(found.point, args.lazy);
  if (args.json) context.out(json([{ directory: found.point }]));
  else context.out(`${args['dry-run'] ? 'would unmount' : 'unmounted'} ${found.point}\n`);
  return EXIT.done;
}
