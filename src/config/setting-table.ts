/** Every setting of agt: parser, lists and manual come from this table. agt acts on every value that is valid. */
import {
  BOOLEAN,
  checkPrefix,
  checkRefusals,
  checkTemplate,
  kind,
  oneOf,
  parseCount,
  parseSize,
  parseWords,
  period,
  type SettingKey,
  supported,
  text,
  UNTRACKED,
} from './values.ts';

export const SETTING_KEYS = [
  {
    name: 'agt.gitPath',
    defaultValue: '',
    emptyMeans: 'search PATH',
    env: 'AGT_GIT_PATH',
    globalOnly: true,
    inGitMode: true,
    summary:
      'path of the real git; if empty, the first git on PATH that is not agt; the variable chooses only among those on PATH',
    ...text(),
  },
  {
    name: 'agt.enabled',
    defaultValue: 'true',
    env: 'AGT_OFF',
    envIsOff: true,
    inGitMode: true,
    summary:
      'false: agt does nothing by itself, neither hooks nor guard, autocommits, watch and cron; git mode still hides; ' +
      'AGT_OFF=1 is the same',
    ...BOOLEAN,
  },
  {
    name: 'agt.agentEmail',
    defaultValue: 'agt@local',
    inGitMode: true,
    summary: 'author of snapshots; called as git, agt hides commits by this author',
    ...text((value) =>
      /^[^\s<>"\\]+@[^\s<>"\\]+$/.test(value) ? undefined : 'not an email address of the form name@host',
    ),
  },
  {
    name: 'agt.branchPrefix',
    defaultValue: 'agtsessions/',
    inGitMode: true,
    summary: 'prefix of shadow branches',
    ...text(checkPrefix),
  },
  {
    name: 'agt.workPrefix',
    defaultValue: 'agt/',
    inGitMode: true,
    summary: 'prefix of work branches',
    ...text(checkPrefix),
  },
  {
    name: 'agt.maxFileSize',
    defaultValue: '512m',
    inGitMode: true,
    summary: 'size limit of files; larger files are left out of snapshots, with a warning',
    ...kind(parseSize, 'not a size such as 512m or 2g'),
  },
  {
    name: 'agt.ignoredFiles',
    defaultValue: '500',
    summary:
      'a snapshot of a folder without a session takes at most so many files that git ignores, and no build output',
    ...kind(parseCount, 'not a number of files'),
  },
  {
    name: 'agt.ignoredSize',
    defaultValue: '20m',
    summary: 'and at most of this size together',
    ...kind(parseSize, 'not a size such as 20m or 1g'),
  },
  {
    name: 'agt.retention',
    defaultValue: '30 days',
    inGitMode: true,
    summary:
      'how long agt gc keeps the snapshots of a removed session, such as 30 days or 2 weeks; never: it keeps them for good',
    ...period('30 days', '2 weeks'),
  },
  {
    name: 'agt.snapshotRetention',
    defaultValue: '7 days',
    summary:
      'how long agt gc keeps the snapshots of folders that are in no session; it keeps the last one and those that a person ' +
      'labelled; never: it keeps all',
    ...period('7 days', '2 weeks'),
  },
  {
    name: 'agt.budget',
    defaultValue: '',
    emptyMeans: 'no limit',
    inGitMode: true,
    summary:
      'limit of the disk space that all snapshots of a repository use, such as 10g; past it, autocommits thin out ' +
      'snapshots, or fail; if empty, no limit',
    check: (value) =>
      value === '' || parseSize(value) !== undefined ? undefined : 'not a size such as 512m or 10g',
    parse: parseSize,
  },
  {
    name: 'agt.editor',
    defaultValue: '',
    emptyMeans: '$VISUAL, else $EDITOR',
    summary: 'command line of the editor that agt session open starts with the path of the sandbox',
    ...text(),
  },
  {
    name: 'agt.setup',
    defaultValue: '',
    emptyMeans: 'nothing',
    summary: 'command line that agt session new runs in each new sandbox, such as "npm ci"',
    ...text(),
  },
  {
    name: 'agt.guard',
    defaultValue: 'true',
    inGitMode: true,
    summary:
      'make a snapshot before a git command that can destroy work in a sandbox, or in a checkout with snapshots',
    ...BOOLEAN,
  },
  {
    name: 'agt.commitTemplate',
    defaultValue: '{summary}',
    summary:
      'message of the commit that agt session accept makes: {summary} is the text of --summary, else the messages of ' +
      "the agent's commits, else the prompts, else the labels; {session} is the id, {branch} the work branch",
    ...text(checkTemplate),
  },
  {
    name: 'agt.untracked',
    defaultValue: 'ask',
    summary:
      'whether agt session accept takes untracked files: ask (without a terminal it takes them, but refuses those that ' +
      'look like keys, large files or dependencies), all or none',
    ...oneOf(UNTRACKED),
  },
  {
    name: 'agt.fence',
    defaultValue: 'refuse',
    globalOnly: true,
    summary:
      'an agent in a session writes into your checkout or another session: refuse (file tools; agt records others), record, off',
    ...oneOf(['refuse', 'record', 'off']),
  },
  {
    name: 'agt.refuse',
    defaultValue: '',
    emptyMeans: 'nothing',
    globalOnly: true,
    inGitMode: true,
    isList: true,
    summary:
      'command lines that the git of agents (agt called as git) refuses: push:BRANCH (* stands for anything), force (a forced push), ' +
      'no-verify (to skip hooks); several, with spaces, or several lines',
    check: checkRefusals,
    parse: parseWords,
  },
  {
    name: 'agt.push',
    defaultValue: '',
    emptyMeans: 'nothing by itself',
    summary: 'the remote to which agt pushes each session in the background, encrypted, after its snapshots',
    ...text(),
  },
  {
    name: 'agt.pushEvery',
    defaultValue: '60 seconds',
    summary: 'at most so often, such as 60 seconds or 10 minutes; never: only agt session push does',
    ...period('60 seconds', '10 minutes'),
  },
  {
    name: 'agt.recipients',
    defaultValue: '',
    emptyMeans: 'only you',
    globalOnly: true,
    isList: true,
    summary:
      'public keys of age (agt key show) of people who may open the sessions that you push, beside you',
    check: () => undefined,
    parse: parseWords,
  },
  {
    name: 'agt.readOnlyTools',
    defaultValue: '',
    emptyMeans: 'none',
    isList: true,
    summary:
      'tools that change no files, such as "Read Grep mcp__*": agt session record and exec make no snapshot for them',
    check: () => undefined,
    parse: parseWords,
  },
  {
    name: 'agt.hooks',
    defaultValue: 'true',
    summary: 'record the work of agents whose hooks call agt; false: agt hook does nothing',
    ...BOOLEAN,
  },
  {
    name: 'agt.notify',
    defaultValue: '',
    emptyMeans: 'nobody is told',
    globalOnly: true,
    summary:
      'the command line that tells you when an agent waits for you, is done or has failed: it has AGT_SESSION, AGT_STATE, AGT_PROMPT; or desktop',
    ...text(),
  },
  {
    name: 'agt.watch',
    defaultValue: 'true',
    summary:
      'while an agent with hooks works in a session, keep a process that answers them faster; false: each hook starts agt',
    ...BOOLEAN,
  },
  {
    name: 'agt.autoSession',
    defaultValue: 'never',
    summary:
      'in-place: an agent with hooks that starts in your checkout begins a session in place there, if it is in none; or never',
    ...oneOf(['never', 'in-place']),
  },
  {
    name: 'agt.autoRevert',
    defaultValue: 'in-place',
    summary: 'abandoned sessions that agt session sweep reverts: in-place, always or never',
    ...oneOf(['in-place', 'always', 'never']),
  },
  {
    name: 'agt.sessionTimeout',
    defaultValue: '30 minutes',
    summary:
      'agt session sweep reverts a session after so long without activity, such as 30 minutes or 2 hours; never: it waits',
    ...period('30 minutes', '2 hours'),
  },
  {
    name: 'agt.keepFailed',
    defaultValue: 'false',
    summary: 'agt session sweep leaves sessions in which agt could not record a step',
    ...BOOLEAN,
  },
  {
    name: 'agt.sessionsDir',
    defaultValue: '',
    emptyMeans: 'beside the repository',
    summary:
      'directory in which agt makes a directory for the session folders of each repository; if empty, they are beside the ' +
      'repository, or in ~/.local/state/agt/sessions where agt cannot write there',
    ...text((value) =>
      value === '' || /^(\/|~(\/|$))/.test(value)
        ? undefined
        : 'not an absolute path, nor one that begins with ~/',
    ),
  },
  {
    name: 'fs.snapshots',
    defaultValue: 'auto',
    env: 'AGT_FS_SNAPSHOTS',
    summary:
      'by which file system new sessions are made: btrfs and zfs clone them, overlay mounts them, git copies files, auto takes the best that works ' +
      '(agt doctor); agentfs: by that program, only where you ask for it; disable: as auto, and only commands that you ' +
      'give make snapshots',
    ...supported('auto', 'git', 'btrfs', 'zfs', 'overlay', 'agentfs', 'disable'),
  },
  {
    name: 'fs.keep',
    defaultValue: '20',
    summary:
      'how many frozen moments of a session agt keeps, on a file system that can freeze folders; 0: none (they only save ' +
      'time)',
    ...kind(parseCount, 'not a number such as 20'),
  },
  {
    name: 'fs.workingCopy',
    defaultValue: 'auto',
    env: 'AGT_WORKING_COPY',
    summary:
      'where the agent of a new session works: in a worktree of its own (worktree or auto), in your checkout (in-place), or in a worktree that its commands see at the path of your checkout (cow-overlay)',
    ...supported('auto', 'worktree', 'in-place', 'cow-overlay'),
  },
] as const satisfies readonly SettingKey[];

export type SettingName = (typeof SETTING_KEYS)[number]['name'];

/** Names are case-insensitive, as in git-config. */
export function findKey(name: string): (SettingKey & { name: SettingName }) | undefined {
  return SETTING_KEYS.find((key) => key.name.toLowerCase() === name.toLowerCase());
}
