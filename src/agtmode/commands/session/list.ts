import { shortBranch } from '../../../git/files/refnames.ts';
import { viewSession } from '../../../session/inspect.ts';
import { listRecords } from '../../../session/record.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { json, table } from '../../output/format.ts';
import { lastAutocommitText, sessionJson } from '../../output/session.ts';

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
    const shown = records.filter((record) => args.all || record.state !== 'removed');
    const views = await Promise.all(shown.map((record) => viewSession(repository, record)));
    for (const { problem } of damaged) context.err(`warning: ${problem}\n`);
    if (args.json) {
      context.out(json(views.map(sessionJson)));
      return 0;
    }
    const now = context.now();
    const rows = views.map((view) => [
      view.record.session_id,
      view.sandboxPresent || view.record.state !== 'active' ? view.record.state : 'sandbox missing',
      view.head ?? (view.sandboxPresent ? '(detached)' : shortBranch(view.record.work_branch)),
      view.ahead === undefined ? '' : `+${view.ahead}`,
      lastAutocommitText(view, now),
    ]);
    if (rows.length > 0)
      context.out(table([['ID', 'STATE', 'BRANCH', 'COMMITS', 'LAST AUTOCOMMIT'], ...rows]));
    return 0;
  },
});
