import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT, formatError, usageError } from '../../errors.ts';
import type { Run } from '../../page/requests.ts';
import type { Text } from '../../process/streams.ts';
import type { Session } from '../../session/session.ts';
import { writeFile } from '../../travel/bundle.ts';
import { secretsCutter } from '../../travel/content.ts';
import { defineCommand, option } from '../command-line/command.ts';
import { parseWithoutYargs } from '../command-line/parse-without-yargs.ts';
import { runCommand } from '../command-line/run-command.ts';
import { type Context, openContext } from '../context.ts';
import { showPath } from '../output/format.ts';
import { sessionHere } from '../session-here.ts';
import { blame } from './session/blame.ts';
import { sessionDiff } from './session/diff.ts';
import { sessionList, sessionShow } from './session/list.ts';
import { sessionLog } from './session/log.ts';
import { sessionReview } from './session/review.ts';
import { sessionSearch } from './session/search.ts';
import { snapshotStatus } from './snapshot/of-folder.ts';

export const ui = defineCommand({
  usage: 'ui',
  summary: 'show on a page what the agents did, which one needs you, and bring it back',
  description:
    'Serve a page for the repository here on 127.0.0.1 and print its address, which only works with the token in it. The ' +
    'page lists the sessions live, and shows the timeline of each, diffs, files at any moment and a search. It can restore, ' +
    'undo, fork, accept and the like: each behind a preview, by the commands of agt. A second agt ui prints the address of ' +
    'the first one; with and without --all they are two. Ctrl-C ends it; without an open page it ends after an hour. --export writes the timeline, the review and the ' +
    'diffs of one session into a single file, without the contents of keys and logins.',
  options: {
    port: option.value('listen on this port (default: a free one)'),
    open: option.flag('open the page in the browser'),
    all: option.flag('every repository that agt knows'),
    export: option.value('write this file in place of a page, for the session here or that of --session'),
    force: option.flag('replace a file that is there', 'f'),
    session: option.value('session id'),
  },
  runsLong: true,
  examples: [
    ['agt ui --open', 'look at what the agents do here'],
    ['agt ui --export fix-login.html --session fix-login', 'make a file to attach to a pull request'],
  ],
  run: async (args, context) => {
    const repository = args.all ? undefined : await context.repository();
    const port = Number(args.port ?? 0);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw usageError(`"${args.port}" is no port`, 'for example: agt ui --port 4000');
    if (args.export !== undefined) return exportTo(args.export, args.force, context, args.session);
    const cwd = repository?.worktree ?? repository?.commonDir ?? context.cwd;
    const { findPage, servePage } = await import('../../page/session-of-page.ts');
    const options = { cwd, port, all: args.all, run: runHere(context) };
    const show = (address: string) => {
      context.out(`${address}\n`);
      if (args.open) openInBrowser(address);
    };
    const known = await findPage(options, context.env);
    if (known !== undefined) {
      context.err('note: agt ui runs here already\n');
      show(known);
      return EXIT.done;
    }
    await servePage(options, context.env, (address) => {
      show(address);
      context.err('note: only who has this address can use it; Ctrl-C ends the page\n');
    });
    return EXIT.done;
  },
});

async function exportTo(file: string, force: boolean, context: Context, given: string | undefined) {
  const words = 'an export is of one session: agt ui --session ID --export FILE';
  const session = await sessionHere(context, given, words);
  const content = await writeHtml(context, session, { file: resolve(context.cwd, file), force });
  return `${showPath(file)} has ${content}\n`;
}

/** Returns what the file has, in words. */
export async function writeHtml(context: Context, session: Session, to: Parameters<typeof writeFile>[0]) {
  const { repository, record, id } = session;
  const { exportPage, hasReview } = await import('../../page/export.ts');
  const place = { cwd: repository.git.cwd, sandbox: record.sandbox };
  const html = await exportPage(runHere(context), place, id, await secretsCutter(session));
  await writeFile(to, async (path) => writeFileSync(path, html, { flag: 'wx' }));
  return `the timeline${hasReview(record) ? ', the review' : ''} and the diffs of ${id}`;
}

function openInBrowser(address: string): void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  spawn(program, [address], { detached: true, stdio: 'ignore' })
    .on('error', () => undefined)
    .unref();
}

const READING = [
  sessionList,
  sessionLog,
  sessionDiff,
  sessionShow,
  sessionSearch,
  sessionReview,
  snapshotStatus,
  blame,
];

/** In this process, which is warm, if the command line is plain. */
function runHere({ env }: Context): Run {
  return async (words, cwd) => {
    const parsed = parseWithoutYargs(READING, words);
    if (parsed === undefined || !words.includes('--json')) return undefined;
    const texts = { out: '', err: '' };
    const into = (name: keyof typeof texts) => (text: Text) => {
      texts[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    };
    const plain = { colour: () => false, columns: undefined, interactive: false, showsProgress: false };
    const context = { ...openContext(cwd, env), ...plain, out: into('out'), err: into('err') };
    try {
      return { exitCode: await runCommand(parsed.command, parsed.args, context), ...texts };
    } catch (error) {
      return { exitCode: EXIT.failed, out: texts.out, err: formatError(error, false) };
    }
  };
}
