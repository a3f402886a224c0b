import { EXIT } from '../../../errors.ts';
import { isActive } from '../../../filter/session-file.ts';
import { listRecords } from '../../../session/record.ts';
import { isEnded } from '../../../session/state.ts';
import { readSessionStatus, type SessionStatus } from '../../../session/status.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { json, table } from '../../output/format.ts';
import { currentBranch, lastAutocommitAge, sessionJson } from '../../output/session.ts';

export const sessionList = defineCommand({
  usage: 'session list',
  group: 'sessions',
  summary: 'list the sessions of this repository',
  options: {
    all: { type: 'boolean', alias: 'a', default: false, describe: 'include removed sessions' },
    json: JSON_OPTION,
  },
  examples: [
    ['agt session list', 'show id, state, branch and last autocommit'],
    ['agt session list --json | jq -r .[].sandbox', 'print the path of every sandbox'],
  ],
  run: async (args, context) => {
    const repository = await context.repository();
    const { records, damaged } = listRecords(repository);
    const shown = records.filter((record) => args.all || !isEnded(record));
    const views = await Promise.all(shown.map((record) => readSessionStatus(repository, record)));
    for (const { problem } of damaged) context.err(`warning: ${problem}\n`);
    if (args.json) context.out(json(views.map(sessionJson)));
    else if (views.length > 0) context.out(sessionTable(views, context.now()));
    return EXIT.done;
  },
});

function sessionTable(views: readonly SessionStatus[], now: Date): string {
  const rows = views.map((view) => [
    view.record.session_id,
    view.sandboxPresent || !isActive(view.record) ? view.record.state : 'sandbox missing',
    currentBranch(view),
    view.ahead === undefined ? '' : `+${view.ahead}`,
    lastAutocommitAge(view, now),
  ]);
  return table([['ID', 'STATE', 'BRANCH', 'COMMITS', 'LAST AUTOCOMMIT'], ...rows]);
}
