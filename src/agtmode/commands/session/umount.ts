import { resolve } from 'node:path';
import { listMounts } from '../../../disk/mounts.ts';
import { realEntry } from '../../../disk/real-path.ts';
import { AgtError, usageError } from '../../../errors.ts';
import { endMount, unmount } from '../../../lifecycle/mounted/end-mount.ts';
import { MOUNT_TYPE } from '../../../snapshot/folders.ts';
import {
  DRY_RUN_QUIET_JSON,
  defineCommand,
  flag,
  type Report,
  reportEach,
  withValue,
} from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { verb } from '../../output/format.ts';
import { type KnownMount, mountJson, mountsOf } from '../../output/mounts.ts';
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
    ...DRY_RUN_QUIET_JSON,
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
    const mounts = mountsOf(places);
    const chosen = given === undefined ? mounts : choose(context, mounts, given);
    if (places.length === 0 || (chosen.length === 0 && given !== undefined))
      return unmountStranger(context, given, args);
    if (chosen.length === 0) return { json: [], text: 'nothing is mounted\n' };
    const done = verb(args['dry-run'], 'unmounted', 'unmount');
    return reportEach(
      chosen,
      ({ record }) => ({ directory: record.directory }),
      async (mount) => {
        const json = mountJson(mount);
        if (!args['dry-run']) await endMount(mount.place, mount.record, args);
        return { json, text: `${done} ${mount.record.directory}\n` };
      },
    );
  },
});

function choose({ cwd }: Context, mounts: readonly KnownMount[], given: string): readonly KnownMount[] {
  const ofSession = mounts.filter(({ record }) => record.session === given);
  const path = realEntry(resolve(cwd, given));
  return ofSession.length > 0 ? ofSession : mounts.filter(({ record }) => record.directory === path);
}

/** It belongs to another repository, or to one that somebody has deleted. */
async function unmountStranger(
  context: Context,
  given: string | undefined,
  args: { readonly lazy: boolean; readonly 'dry-run': boolean },
): Promise<Report> {
  const path = given === undefined ? undefined : realEntry(resolve(context.cwd, given));
  const found = listMounts().find(({ type, point }) => type === MOUNT_TYPE && point === path);
  if (found === undefined) {
    if (given === undefined) await context.repository(); // says that there is none
    throw new AgtError(`no snapshot is mounted at "${given}", nor one of a session of that name`, {
      hints: ['see: agt session mount'],
    });
  }
  if (!args['dry-run']) await unmount(found.point, args.lazy);
  const done = verb(args['dry-run'], 'unmounted', 'unmount');
  return { json: [{ directory: found.point }], text: `${done} ${found.point}\n` };
}
