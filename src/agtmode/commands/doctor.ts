import { showValue } from '../../config/keys.ts';
import { globalConfigPath } from '../../config/settings.ts';
import { AgtError } from '../../errors.ts';
import { hasPcre } from '../../git/run/pcre.ts';
import { examine } from '../../maintenance/doctor/examine.ts';
import type { Finding } from '../../maintenance/doctor/finding.ts';
import { type Mended, mendAll } from '../../maintenance/doctor/mend.ts';
import { listRecords } from '../../session/record.ts';
import { finishRestore } from '../../timetravel/restore/finish.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { findOutdatedShim } from '../outdated-shim.ts';
import { json, paint, plural, table } from '../output/format.ts';

export const doctor = defineCommand({
  usage: 'doctor',
  group: 'maintenance',
  summary: 'check git, settings and sessions, and fix problems',
  description:
    'Check git, the settings and every session, and print how to fix each problem. With --fix, fix those that need no ' +
    'decision: sessions whose creation, removal or restore was interrupted, branches of agt that something else moved ' +
    'or deleted, locks and temporary files of dead processes. Files that are in no snapshot are never deleted. Exit ' +
    'with 1 if a problem remains; notes are no problems.',
  options: {
    fix: { type: 'boolean', default: false, describe: 'fix problems that need no decision' },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt doctor', 'list problems, and the commands that fix them'],
    ['agt doctor --fix --dry-run', 'show which problems agt would fix'],
  ],
  run: async (args, context) => {
    const git = await context.git();
    const version = await context.gitVersion();
    const repository = await context.repositoryIfAny();
    const pcre = repository === undefined ? undefined : await hasPcre(repository.git);
    const findings: Finding[] = [];
    const settings = await context.settingValues().catch((error: unknown) => {
      if (!(error instanceof AgtError)) throw error;
      findings.push({
        level: 'error',
        about: 'settings',
        problem: error.message,
        mend: error.hints[0] ?? '',
      });
      return [];
    });
    if (pcre === false) {
      findings.push({
        level: 'note',
        about: git.path,
        problem: 'built without PCRE: on a terminal, git log may colour a letter of an author',
        mend: 'use a git with PCRE, or ignore this',
      });
    }
    const mended =
      args.fix && !args['dry-run'] && repository !== undefined
        ? await mendAll(repository, finishRestore)
        : [];
    findings.push(...findOutdatedShim(context.env, globalConfigPath(context.env)));
    if (repository !== undefined) findings.push(...(await examine(repository, finishRestore)));
    if (args.json) {
      context.out(
        json({
          git: { path: git.path, version: version.text, pcre: pcre ?? null },
          repository: repository?.commonDir ?? null,
          settings,
          findings: findings.map(({ fix, ...finding }) => ({ ...finding, fixable: fix !== undefined })),
          mended: mended.map(({ finding: { about, problem }, failure }) => ({
            about,
            problem,
            failure: failure ?? null,
          })),
        }),
      );
    } else {
      context.out(
        `git         ${git.path}, version ${version.text}${pcre === undefined ? '' : pcre ? ', with PCRE' : ', without PCRE'}\n`,
      );
      context.out(`repository  ${repository?.commonDir ?? 'none here'}\n`);
      if (repository !== undefined) {
        const { records } = listRecords(repository);
        context.out(`sessions    ${records.length} in ${await repository.sessionsDir()}\n`);
      }
      const rows = settings.map(({ name, value, origin }) => [name, showValue(name, value), origin]);
      context.out(`settings\n${table(rows, '  ')}`);
      printMended(context, mended);
      context.out(findings.length === 0 ? 'nothing is wrong\n' : `${plural(findings.length, 'finding')}\n`);
      printFindings(context, findings, args.fix && args['dry-run']);
    }
    return findings.some(({ level }) => level !== 'note') ? 1 : 0;
  },
});

function printMended(context: Context, mended: readonly Mended[]): void {
  for (const { finding, failure } of mended) {
    const what = `${finding.about}: ${finding.problem}`;
    context.out(failure === undefined ? `fixed: ${what}\n` : `could not fix: ${what}: ${failure}\n`);
  }
}

export function printFindings(context: Context, findings: readonly Finding[], previewFix = false): void {
  const colours = paint(context.colour);
  const styles = { error: 'red', warning: 'yellow', note: 'dim' } as const;
  for (const { level, about, problem, mend, fix } of findings) {
    context.out(`  ${colours(styles[level], level)}: ${about}: ${problem}\n`);
    if (previewFix && fix !== undefined) context.out('    agt doctor --fix would fix this\n');
    else if (mend !== '') context.out(`    fix: ${mend}\n`);
  }
}
