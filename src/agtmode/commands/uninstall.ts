import { existsSync } from 'node:fs';
import { AgtError, plural } from '../../errors.ts';
import { planUninstall, uninstall as removeAgt } from '../../maintenance/uninstall.ts';
import { keyFile } from '../../travel/keys.ts';
import { defineCommand, option } from '../command-line/command.ts';
import { lines, showPath, verb } from '../output/format.ts';

export const uninstall = defineCommand({
  usage: 'uninstall',
  summary: 'remove agt from this repository, with all sessions and snapshots',
  description:
    'Delete every session of this repository with its folder, branches and snapshots, and then the refs, files and ' +
    'settings of agt. Your own branches and files stay, and nothing brings the sessions back. agt refuses while a ' +
    'command of agt run works in a session, or a snapshot is mounted.',
  options: {
    force: option.flag('delete them; without it, agt only says what would be lost', 'f'),
    ...option.shared('dry-run', 'json'),
  },
  examples: [
    ['agt uninstall -n', 'show which sessions would go'],
    ['agt uninstall --force', 'delete them, and all that agt has here'],
  ],
  run: async ({ force, dryRun }, context) => {
    const repository = await context.repository();
    const plan = await planUninstall(repository);
    const { sessions, shared, orphans, maps } = plan;
    const key = keyFile(context.env);
    const stays = [...plan.onRemotes, ...(existsSync(key) ? [`your key stays: ${showPath(key)}`] : [])];
    const forgotten = `agt blame forgets who wrote the lines that ${plural(maps, 'session')} brought to your branches`;
    const about = maps === 0 ? stays : [...stays, forgotten];
    const lost = orphans > 0 && `${plural(orphans, 'ref')} of lost sessions`;
    const pushed = shared > 0 && `${plural(shared, 'session')} that others have pushed here`;
    const losses = sessions.flatMap(({ session: { id }, unsaved }) =>
      unsaved.length === 0 ? [] : [`${id} has ${unsaved.join(', ')}`],
    );
    const needsForce = !force && sessions.length + shared + orphans > 0;
    const way = 'to delete them: agt uninstall --force';
    if (needsForce && !dryRun) {
      const own = sessions.length > 0 && plural(sessions.length, 'session');
      const all = [own, lost, pushed].filter((part) => part !== false);
      throw new AgtError(`${all.join(' and ')} would go with all snapshots, and nothing brings them back`, {
        hints: [...losses, ...about, `to look at them: ${lost ? 'agt doctor' : 'agt list --all'}`, way],
      });
    }
    const kept = dryRun ? [] : await removeAgt(repository, plan, context.now());
    const branches = kept.map((branch) => `the branch ${branch} belongs to no session, and stays`);
    const objects = [
      'git gc deletes the objects of the snapshots in two weeks; at once: git gc --prune=now',
      'hooks, the shim and snapshots of folders stay; see: agt hooks status, agt du --folders',
    ];
    const would = [...losses, ...about, ...(needsForce ? [way] : [])];
    const notes = dryRun ? would : [...branches, ...about, ...objects];
    const deleted = verb(dryRun, 'deleted', 'delete');
    const ids = sessions.map(({ session }) => session.id);
    return {
      json: {
        repository: repository.commonDir,
        dry_run: dryRun,
        sessions: ids,
        shared,
        unsaved: losses,
        kept,
      },
      text: lines([
        ...ids.map((id) => `${deleted} session ${id}`),
        lost && `${deleted} ${lost}`,
        pushed && `${deleted} ${pushed}`,
        `${verb(dryRun, 'removed', 'remove')} agt from ${showPath(repository.commonDir)}`,
      ]),
      notes: lines(notes.map((note) => `note: ${note}`)),
    };
  },
});
