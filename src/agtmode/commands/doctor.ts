import { type SettingValue, showValue } from '../../config/settings.ts';
import { attempt, isAgtError, plural } from '../../errors.ts';
import { type Git, runGit } from '../../git/run/git.ts';
import { checkLeases } from '../../maintenance/doctor/check-leases.ts';
import { checkForeignMounts } from '../../maintenance/doctor/check-mounts.ts';
import {
  checkRepository,
  type FixResult,
  fixAll,
  tryToFix,
} from '../../maintenance/doctor/check-repository.ts';
import type { Finding } from '../../maintenance/doctor/finding.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { choose, findAll } from '../../providers/choose.ts';
import { type Place, readPlace } from '../../providers/provider.ts';
import { describeNamespaces } from '../../running/namespace.ts';
import { listRecords } from '../../session/record.ts';
import { defineCommand, option } from '../command-line/command.ts';
import type { Answer } from '../command-line/report.ts';
import type { Context } from '../context.ts';
import { everywhere } from '../everywhere.ts';
import {
  advisedFindings,
  checkGitFile,
  checkKey,
  checkState,
  describeFindings,
  finishers,
} from '../findings.ts';
import { findOutdatedHooks } from '../hooks/status.ts';
import { lines, table } from '../output/format.ts';
import { attachedIfUsable } from '../session-here.ts';
import { findOutdatedShim } from '../shim.ts';

export const doctor = defineCommand({
  usage: 'doctor',
  summary: 'check git, settings and sessions, and fix problems',
  description:
    'Check git, the settings and every session, and print how to fix each problem. With --fix, fix those that need no ' +
    'decision: sessions whose creation, removal or restore was interrupted, branches of agt that something else moved ' +
    'or deleted, locks and temporary files of dead processes. Files that are in no snapshot are never deleted. Exit ' +
    'with 1 if a problem remains; notes are no problems.',
  options: {
    fix: option.flag('fix problems that need no decision'),
    verbose: option.flag('print settings, providers and what a new session gets as well', 'v'),
    ...option.shared('everywhere', 'dry-run', 'json'),
  },
  examples: [
    ['agt doctor', 'list problems, and the commands that fix them'],
    ['agt doctor -v', 'see the settings, and how new sessions are made'],
    ['agt doctor --fix --dry-run', 'show which problems agt would fix'],
  ],
  run: async function doctor(args, context): Promise<Answer> {
    const fixes = args.fix && !args.dryRun;
    const inOne = (there: Context) => doctor({ ...args, everywhere: false }, there);
    if (args.everywhere) return everywhere(context, inOne, { tolerant: true, forgets: fixes });
    const report = await examine(context, fixes);
    return {
      json: reportJson(report),
      text: async () => {
        const { findings, fixed } = report;
        const notes = findings.filter(({ level }) => level === 'note').length;
        const counts = [plural(findings.length - notes, 'problem'), plural(notes, 'note')];
        const found = counts.filter((count) => !count.startsWith('0')).join(' and ');
        const problems = `${found}${fixes ? ' that --fix leaves to you' : ''}\n`;
        return [
          ...fixed.map(describeFix),
          findings.length === 0 ? 'nothing is wrong\n' : problems,
          describeFindings(context, findings, args.fix && args.dryRun),
          args.verbose ? await describeSetup(report) : '',
        ].join('');
      },
      failed: report.findings.some(({ level }) => level !== 'note'),
    };
  },
});

type Report = Awaited<ReturnType<typeof examine>>;

async function examine(context: Context, fixes: boolean) {
  const git = await context.git();
  const version = await context.gitVersion();
  const problems: Finding[] = [];
  const unusable = (about: string, error: unknown) => {
    if (!isAgtError(error)) throw error;
    const { message, hints } = error;
    const mend = hints.length === 0 ? `see: ls -ld ${shellQuote(about)}` : hints.join(' ');
    problems.push({ level: 'error', about, problem: message, mend });
  };
  const repository = await context.repositoryIfAny().catch((error: unknown) => unusable(context.cwd, error));
  /** Undefined if agt could not find out. */
  const pcre = repository === undefined ? undefined : await hasPcre(repository.git);
  const settings = await context.settingValues();
  // The settings name branches: agt changes nothing as long as it can only guess them.
  const isSure = context.settingProblems().length === 0;
  /** The folder here, if it has snapshots without a session. */
  const { attached, problem } = problems.length > 0 ? {} : await attachedIfUsable(context);
  const gitFile = repository === undefined ? checkGitFile(context) : [];
  if (gitFile.length > 0) problems.splice(0, 1, ...gitFile); // git gives only the reason
  const state = checkState(context, problem);
  const fixed: FixResult[] = [];
  const found: Finding[] = [];
  for (const one of [repository, attached?.repository].filter((each) => each !== undefined)) {
    try {
      if (fixes && isSure) fixed.push(...(await fixAll(one, finishers)));
      found.push(...(await checkRepository(one, finishers, { histories: true })));
    } catch (error) {
      if (one === repository) throw error;
      unusable(one.commonDir, error);
    }
  }
  const checkOutside = async () => [
    ...(state.length > 0 ? [] : await checkLeases(context.env)),
    ...(await checkForeignMounts()),
    ...(await checkKey(context)),
  ];
  const outside = await checkOutside();
  if (fixes)
    for (const finding of outside.filter(({ fix }) => fix !== undefined)) fixed.push(await tryToFix(finding));
  const place = readPlace((await repository?.sessionsDir()) ?? context.cwd, context.env);
  const providers = findAll(place);
  const findings = advisedFindings(context, [
    ...(fixed.length === 0 ? outside : await checkOutside()),
    ...problems,
    ...state,
    ...context.settingProblems().map(({ message: problem, hints: [mend = ''] }) => {
      return { level: 'error' as const, about: 'settings', problem, mend };
    }),
    ...(pcre === false ? [{ ...WITHOUT_PCRE, about: git.path }] : []),
    ...findOutdatedShim(context.env),
    ...(await findOutdatedHooks(context)),
    ...found,
  ]);
  const chosen = chosenHere(place, settings);
  return { git, version, pcre, repository, attached, settings, providers, chosen, fixed, findings };
}

/** How agt makes a new session here. No provider: the one that the setting names cannot work. */
function chosenHere(place: Place, settings: readonly SettingValue[]) {
  const value = (wanted: string) => settings.find(({ name }) => name === wanted)?.value ?? 'auto';
  return {
    provider: attempt(() => choose(place, value('fs.snapshots')).kind),
    workingCopy: value('fs.workingCopy') === 'auto' ? 'worktree' : value('fs.workingCopy'),
    cowOverlay: describeNamespaces(place.existing),
  };
}

const WITHOUT_PCRE = {
  level: 'note',
  problem: 'built without PCRE: on a terminal, git log may colour a letter of an author',
  mend: 'use a git with PCRE, or ignore this',
} as const;

function reportJson(report: Report) {
  const { git, version, pcre, repository, attached, settings, providers, chosen, fixed, findings } = report;
  return {
    git: { path: git.path, version: version.text, pcre: pcre ?? null },
    repository: repository?.commonDir ?? null,
    store: attached?.repository.commonDir ?? null,
    settings,
    providers: providers.map(({ hint, ...found }) => ({ ...found, hint: hint ?? null })),
    new_session: { provider: chosen.provider ?? null, working_copy: chosen.workingCopy },
    cow_overlay: chosen.cowOverlay,
    findings: findings.map(({ fix, ...finding }) => ({ ...finding, fixable: fix !== undefined })),
    mended: fixed.map(({ finding: { about, problem }, failure = null, note = null }) => {
      return { about, problem, failure, note };
    }),
  };
}

async function describeSetup(report: Report): Promise<string> {
  const { git, version, pcre, repository, attached, settings } = report;
  const withPcre = pcre === undefined ? '' : pcre ? ', with PCRE' : ', without PCRE';
  const rows = settings.map(({ name, value, origin }) => [name, showValue(name, value), origin]);
  const rated = report.providers.map(({ kind, score, notes, hint }) => [
    kind,
    String(score),
    [...notes, ...(hint === undefined ? [] : [hint])].join('; '),
  ]);
  const { provider, workingCopy, cowOverlay } = report.chosen;
  const made = provider ?? 'refused: fs.snapshots names a provider that cannot work';
  const sessions =
    repository && `${listRecords(repository).records.length} in ${await repository.sessionsDir()}`;
  return lines([
    `\ngit         ${git.path}, version ${version.text}${withPcre}`,
    `repository  ${repository?.commonDir ?? 'none here'}`,
    sessions !== undefined && `sessions    ${sessions}`,
    attached !== undefined && `snapshots   in ${attached.repository.commonDir}`,
    `settings\n${table(rows, '  ')}providers\n${table(rated, '  ')}new session  provider ${made}, working copy ${workingCopy}`,
    `cow-overlay  ${cowOverlay.text}`,
  ]);
}

function describeFix({ finding, failure, note }: FixResult): string {
  const what = `${finding.about}: ${finding.problem}`;
  if (failure !== undefined) return `could not fix: ${what}: ${failure}\n`;
  return `fixed: ${what}${note === undefined ? '' : `; ${note}`}\n`;
}

/**
 * Only trying tells, and that in a repository: git before 2.40 aborts on `grep --no-index` outside of one. Undefined if git
 * fails for another reason.
 */
async function hasPcre(git: Git): Promise<boolean | undefined> {
  const run = await runGit(git, ['rev-list', '--branches', '--max-count=0', '-P', '--grep=(?<!a)a']);
  if (run.exitCode === 0) return true;
  return run.stderr.includes('Perl-compatible') ? false : undefined;
}
