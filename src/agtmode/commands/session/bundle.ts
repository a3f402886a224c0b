/** agt session bundle, and agt session open for the file that it makes. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { showSize } from '../../../config/values.ts';
import { plural, usageError } from '../../../errors.ts';
import { idProblem } from '../../../session/id.ts';
import { recordNamed } from '../../../session/record.ts';
import { isEnded } from '../../../session/state.ts';
import { bundleSession, openBundle } from '../../../travel/bundle.ts';
import { defineSessionCommand, option } from '../../command-line/command.ts';
import type { Report } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';
import { lines, showPath, verb } from '../../output/format.ts';
import { interruptible } from '../../output/interrupted.ts';
import { recordJson } from '../../output/session.ts';
import { writeHtml } from '../ui.ts';
import { PLAIN } from './travel.ts';

export const sessionBundle = defineSessionCommand({
  name: 'session bundle',
  summary: 'write a session into one file, for a colleague or a pull request',
  description:
    'Autocommit the session, and write it whole into a file, encrypted for your key (agt key) and for agt.recipients. ' +
    'agt session open makes it a session in another clone. The file leaves out what a clone of the remote has already; ' +
    '--whole takes that as well. --html writes the page of agt ui --export, for people who only read.',
  more: { file: option.value('the new file') },
  options: {
    ...PLAIN,
    whole: option.flag('also what every clone of the remote has'),
    html: option.flag('a page with the timeline and the diffs, in place of the session'),
    force: option.flag('replace a file that is there', 'f'),
    ...option.shared('quiet', 'json'),
  },
  examples: [
    ['agt session bundle fix-login fix-login.agt', 'everything, encrypted, for agt.recipients'],
    ['agt session bundle fix-login fix-login.html --html', 'for a pull request'],
  ],
  run: async (args, context, session) => {
    if (args.file === undefined)
      throw usageError('no file is given', `for example: agt session bundle ${session.id} ${session.id}.agt`);
    const file = resolve(context.cwd, args.file);
    const { record } = session;
    if (args.html) {
      const content = await writeHtml(context, session, { ...args, file });
      return { text: `${showPath(args.file)} has ${content}\n` };
    }
    const request = { ...args, file, env: context.env, now: context.now() };
    const bundled = await interruptible(context, session, bundleSession, request);
    const { snapshots, size, requires, madeKey } = bundled;
    const amount = `${plural(snapshots, 'snapshot')}, ${showSize(size)}${args.plain ? ', not encrypted' : ''}`;
    return {
      json: { ...recordJson(record), file, snapshots, bytes: size, requires, encrypted: !args.plain },
      text: `${showPath(args.file)} has ${session.id} (${amount})\n`,
      notes: lines([
        madeKey !== undefined && `note: agt made your key, ${madeKey}; without it nobody can open the file`,
        requires.length > 0 && 'note: it is for clones of the same remote; for others: --whole',
      ]),
    };
  },
});

/** A file, unless a session has that name. */
export async function bundleNamed(context: Context, word: string): Promise<string | undefined> {
  const path = resolve(context.cwd, word);
  const canBeId = idProblem(word) === undefined;
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    if (canBeId) return undefined;
    throw usageError(`there is no file "${word}"`, 'agt session bundle ID FILE makes one');
  }
  const repository = canBeId ? await context.repositoryIfAny() : undefined;
  return repository !== undefined && recordNamed(repository, word) !== undefined ? undefined : path;
}

export async function openFile(
  context: Context,
  file: string,
  { as, dryRun }: { readonly as: string | undefined; readonly dryRun: boolean },
): Promise<Report> {
  const repository = await context.repository();
  const request = { file, as, dryRun, env: context.env, now: context.now() };
  const { record, snapshots } = await openBundle(repository, request);
  const { session_id: id, sandbox } = record;
  return {
    json: { ...recordJson(record), file, snapshots, dry_run: dryRun },
    text: lines([
      `${verb(dryRun, 'opened', 'open')} ${id} (${plural(snapshots, 'snapshot')})`,
      !dryRun && (isEnded(record) ? `it has ended (${record.state}): agt list --all` : `sandbox  ${sandbox}`),
    ]),
  };
}
