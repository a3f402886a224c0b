/**
 * The files that an agent writes in its sandbox start nothing when agt works there as the user: hooks, monitors, filters, diff and
 * merge drivers, aliases, in the settings of the worktree, of a nested repository and of a submodule.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandName } from '../../src/agtmode/command-line/command.ts';
import { COMMANDS } from '../../src/agtmode/commands/index.ts';
import { sessionIn, sessionOf, type TestSession } from '../harness/session.ts';
import {
  agt,
  git,
  makeRepository,
  makeRepositoryAt,
  makeTempDir,
  REAL_GIT,
  run,
  write,
} from '../harness/world.ts';

const HOOKS = [
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-rewrite',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'prepare-commit-msg',
  'commit-msg',
  'reference-transaction',
];

/** A directory in which each planted program leaves a file with its name. */
const marks = makeTempDir('marks');

function mark(name: string): string {
  return `touch '${marks}/${name}'`;
}

/** Settings that name programs; `where` says which file they are in. */
function settings(where: string): [key: string, value: string][] {
  const ran = (name: string) => `${mark(`${where}-${name}`)}; true #`;
  return [
    ['core.fsmonitor', ran('fsmonitor')],
    ['core.sshCommand', ran('ssh')],
    ['core.editor', ran('editor')],
    ['core.pager', `${mark(`${where}-pager`)}; cat`],
    ['pager.diff', `${mark(`${where}-pager`)}; cat`],
    ['filter.evil.clean', `${mark(`${where}-clean`)}; cat`],
    ['filter.evil.smudge', `${mark(`${where}-smudge`)}; cat`],
    ['filter.long.process', ran('process')],
    ['diff.evil.textconv', ran('textconv')],
    ['diff.evil.command', ran('diff')],
    ['merge.evil.driver', ran('merge')],
    ['gpg.program', ran('gpg')],
    ['log.showSignature', 'true'],
    ['trailer.x.command', ran('trailer')],
    ['alias.status', `!${mark(`${where}-alias`)}`],
    ['submodule.recurse', 'true'],
    ['status.submoduleSummary', 'true'],
    ['hook.planted.event', 'post-index-change'],
    ['hook.planted.command', ran('hook')],
  ];
}

const ATTRIBUTES = '*.txt filter=evil diff=evil merge=evil\n*.long filter=long\n';

function plantSettings(dir: string, where: string, ...options: string[]): void {
  const hooks = join(makeTempDir(), 'hooks');
  plantHooks(hooks, where);
  for (const [key, value] of [...settings(where), ['core.hooksPath', hooks] as const])
    git(dir, 'config', ...options, key, value);
}

function plantHooks(directory: string, where: string): void {
  for (const hook of HOOKS) write(join(directory, hook), `#!/bin/sh\n${mark(`${where}-${hook}`)}\n`, 0o755);
}

function plantRepository(dir: string, where: string): void {
  mkdirSync(dir, { recursive: true });
  write(join(dir, 'a.txt'), 'one\n');
  git(dir, 'init', '-q');
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '-m', 'nested');
  dirty(dir, where);
}

/** A file that git has to read again to know whether it changed. */
function dirty(dir: string, where: string): void {
  write(join(dir, '.gitattributes'), ATTRIBUTES);
  write(join(dir, 'a.txt'), 'two\n');
  plantSettings(dir, where);
}

/** As an agent would, with all that it can write. */
function plant({ sandbox, folder }: TestSession): void {
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  write(join(sandbox, 'a.txt'), 'by the agent\n');
  write(join(sandbox, 'new.txt'), 'new\n');
  write(join(sandbox, 'b.long'), 'long\n');
  write(join(sandbox, '.gitattributes'), ATTRIBUTES);
  plantHooks(join(sandbox, '.husky'), 'husky');
  git(sandbox, '-c', 'protocol.file.allow=always', 'submodule', 'update', '-q', '--init', 'sub');
  dirty(join(sandbox, 'sub'), 'submodule');
  plantRepository(join(sandbox, 'ignored/nested'), 'nested');
  plantRepository(join(sandbox, 'tracked'), 'gitlink');
  plantRepository(join(folder, 'xdg/repository'), 'xdg');
  const included = join(folder, 'config/included');
  write(included, `[filter "also"]\n\tclean = ${mark('included-clean')}\n`);
  plantSettings(sandbox, 'worktree', '--worktree');
  git(sandbox, 'config', '--worktree', 'include.path', included);
}

function makePlanted(): string {
  const upstream = makeRepository({ 'a.txt': 'sub\n' });
  const repository = makeRepository({
    'a.txt': 'one\n',
    'b.long': 'one\n',
    '.gitignore': '.husky\nignored\n',
  });
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', upstream, 'sub');
  const nested = makeRepositoryAt(join(repository, 'tracked'), { 'a.txt': 'one\n' });
  git(repository, '-c', 'advice.addEmbeddedRepo=false', 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'with a submodule');
  rmSync(nested, { recursive: true });
  git(repository, 'checkout', '-q', '--', '.');
  const remote = makeTempDir('remote');
  git(remote, 'init', '-q', '--bare');
  git(repository, 'remote', 'add', 'origin', remote);
  git(repository, 'config', 'extensions.worktreeConfig', 'true');
  // The user's own, as husky sets it. In the user's checkout there are none.
  git(repository, 'config', 'core.hooksPath', '.husky');
  return repository;
}

/** Each command as a person or cron calls it, in this order. `s1` to `s5` are planted sessions; SANDBOX is that of `s1`. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  'session list': ['session list --all'],
  'session show': ['session show s1'],
  'session path': ['session path s1'],
  'session env': ['session env s1'],
  status: ['status'],
  autocommit: ['autocommit s1', 'autocommit --all'],
  'session log': ['session log s1 --stat'],
  'session activity': ['session activity --stat', 'session activity --everywhere'],
  search: ['search two', 'search -G t.o', 'search -i TWO --session s1'],
  blame: ['blame a.txt', '-C SANDBOX blame a.txt', '-C SANDBOX blame HEAD a.txt'],
  why: ['-C SANDBOX why a.txt:1', '-C SANDBOX why a.txt:1 --open'],
  'session diff': ['session diff s1', 'session diff s1 --base', 'session diff s1 --base --json --patch'],
  'bisect run': ['bisect run s1 --json -- grep -q one a.txt'],
  'session cat': ['session cat s1 @{0}:new.txt'],
  'session record': ['session record s1 --tool edit'],
  'session exec': ['session exec s1 --tool touch -- touch touched'],
  'session run': ['session run s1 -- touch again'],
  'session fork': ['session fork s1 --id forked'],
  'session restore': ['session restore s1 --to @{1}'],
  'session undo': ['session undo s1'],
  'session redo': ['session redo s1'],
  'session sync': ['session sync s1 --dry-run', 'session sync s1'],
  'session export': ['session export s1 --allow-dirty --dry-run', 'session export s1 --allow-dirty'],
  'session push': ['session push s1', 'session push s1 --plain'],
  'session bundle': ['session bundle s1 ../s1.agt --whole --plain'],
  'session open': ['session open ../s1.agt --as opened'],
  'session review': [
    'session record s3 --tool Bash --failed',
    'session review s3 --turn 1 --json',
    'session review s3 --seen a.txt',
    'session review s3',
    'session review s3 --reject new.txt -m no --now',
    'session accept s3 --seen -m seen',
  ],
  'session accept': [
    'session accept s3 --keep --dry-run --exclude tracked',
    'session accept s3 --keep -m taken --exclude tracked',
  ],
  'session unaccept': ['session unaccept s3'],
  'session reject': ['session reject s4 --force'],
  'session remove': ['session remove s5 --force'],
  'session fail': ['session fail s2 --reason ended'],
  'session sweep': ['session sweep'],
  'session new': ['session new later --from agt/s1', 'session new more --with-changes'],
  du: ['du s1'],
  gc: ['gc --thin'],
  doctor: ['doctor --fix'],
  snapshot: ['snapshot ../folder'],
  'snapshot list': ['-C ../folder snapshot list'],
  'snapshot diff': ['-C ../folder snapshot diff'],
  'snapshot status': ['-C ../folder snapshot status'],
  'snapshot restore': ['-C ../folder snapshot restore @{0}'],
  'snapshot forget': ['-C ../folder snapshot forget --force'],
  uninstall: ['uninstall --dry-run', 'uninstall --force'],
};

/** Commands that look at no file of a session, or do what one above does, and why. */
const OTHERS: Readonly<Record<string, string>> = {
  clone: 'makes the repository',
  'session adopt': 'takes over sessions of another program',
  'session mount': 'reads objects only',
  'session umount': 'reads objects only',
  watch: 'autocommits, until it is stopped',
  hook: 'autocommits',
  mcp: 'calls the commands above',
  plugin: 'writes settings of agents',
  'session resume': 'starts the agent of the user',
  'hooks install': 'writes settings of agents',
  'hooks uninstall': 'writes settings of agents',
  'hooks status': 'reads settings of agents',
  upgrade: 'prints a text',
  'session pull': 'forks, removes and restores',
  'key new': 'writes a key',
  'key show': 'prints a text',
  'key export': 'prints a text',
  'key import': 'writes a key',
  'shell-init': 'prints a text',
  completion: 'prints a text',
  'shim install': 'writes a script',
  'shim uninstall': 'removes a script',
  'shim print': 'prints a script',
  'config list': 'reads settings',
  'config get': 'reads settings',
  'config set': 'writes settings',
  'config add': 'writes settings',
  'config unset': 'writes settings',
  'cron install': 'writes a crontab',
  'cron remove': 'writes a crontab',
  'cron show': 'reads a crontab',
  ui: 'answers with the commands above',
};

describe('programs that an agent plants', () => {
  test('every command is tried here, or says why not', () => {
    expect([...Object.keys(CALLS), ...Object.keys(OTHERS)].sort()).toEqual(COMMANDS.map(commandName).sort());
  });

  test('agt starts none of them', () => {
    const repository = makePlanted();
    const ids = ['s1', 's2', 's3', 's4', 's5'];
    for (const id of ids) plant(sessionIn(repository, id));
    plantRepository(join(repository, '../folder'), 'folder');
    write(join(repository, 'user.txt'), 'by the user\n');
    git(repository, 'add', 'user.txt');
    git(repository, 'commit', '-q', '-m', 'the user goes on');
    const started = () => {
      const names = readdirSync(marks).sort();
      for (const name of names) rmSync(join(marks, name));
      return names;
    };
    // git itself starts them.
    const sandboxOf = (id: string) => sessionOf(repository, id).sandbox;
    const sandbox = sandboxOf('s5');
    for (const words of [
      ['add', 'a.txt', 'new.txt', 'sub', 'tracked'],
      ['diff', 'HEAD', '--', 'a.txt'],
    ])
      run(REAL_GIT, words, { cwd: sandbox });
    const kinds = ['worktree-clean', 'worktree-diff', 'worktree-fsmonitor', 'worktree-post-index-change'];
    expect(started()).toEqual(expect.arrayContaining([...kinds, 'submodule-clean', 'submodule-fsmonitor']));
    const calls = Object.values(CALLS).flat();
    const found = calls.map((call) => {
      const words = call.split(' ').map((word) => (word === 'SANDBOX' ? sandboxOf('s1') : word));
      const { exitCode, stderr } = agt(repository, ...words);
      return [call, exitCode === 0 ? 0 : stderr, ...started()];
    });
    expect(found).toEqual(calls.map((call) => [call, 0]));
  });
});
