/** Makes a session, autocommits it, and reads snapshots and folders. */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { TOP_FOLDERS } from '../../src/snapshot/folders.ts';
import type { SnapshotManifest } from '../../src/snapshot/manifest.ts';
import { decodePath } from '../../src/snapshot/tree-names.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, type Outcome, REAL_GIT, run } from './world.ts';

export interface TestSession {
  readonly repository: string;
  readonly folder: string;
  readonly sandbox: string;
  readonly id: string;
}

/**
 * A session in a repository of its own: a copy of one that `agt session new` has made in this run, which takes a
 * tenth of the time. Inodes differ from those that agt knows, so the first autocommit reads every file.
 */
export function makeSession(files?: Record<string, string | Buffer>, id = 's1'): TestSession {
  return copyOf(`session-${keyOf(files ?? {}, id)}`, () => newSession(files, id));
}

/** All on which a new session depends. */
function keyOf(files: Record<string, string | Buffer>, id: string): string {
  const home = process.env['HOME'] ?? '';
  const settings = process.env['GIT_CONFIG_GLOBAL'] ?? '';
  const environment = Object.entries(process.env).filter(([name]) => /^(GIT|AGT|XDG)_/.test(name));
  const parts = [
    id,
    ...Object.entries(files).flat(),
    existsSync(settings) ? readFileSync(settings) : '',
    JSON.stringify(environment.sort()).replaceAll(home, 'HOME'),
  ];
  const hash = createHash('sha1');
  for (const part of parts) hash.update(createHash('sha1').update(part).digest());
  return hash.digest('hex');
}

/** A session that `agt session new` makes now. */
export function newSession(files?: Record<string, string | Buffer>, id = 's1'): TestSession {
  return sessionIn(makeRepository(files), id);
}

/** A session in an existing repository. */
export function sessionIn(repository: string, id = 's1'): TestSession {
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', id, '--json'));
  return { repository, sandbox, folder: join(sandbox, '..'), id };
}

/** A session that is there, in an ordinary repository. */
export function sessionOf(repository: string, id: string): TestSession {
  const folder = join(`${repository}.agt`, 'sessions', id);
  return { repository, folder, sandbox: join(folder, 'sandbox'), id };
}

/** A copy of the session that `make` makes at the first call of any test with this name. */
export function copyOf(name: string, make: () => TestSession): TestSession {
  const template = join(makeTempDir('templates'), '..', name);
  if (!existsSync(template)) publish(make(), template);
  const first = JSON.parse(readFileSync(join(template, 'session.json'), 'utf8')) as TestSession;
  const from = dirname(first.repository);
  const parent = makeTempDir();
  cpSync(join(template, 'parent'), parent, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
  });
  const here = (path: string) => path.replace(from, parent);
  const { id, repository, folder, sandbox } = first;
  const copy = { id, repository: here(repository), folder: here(folder), sandbox: here(sandbox) };
  const naming = [
    join(copy.sandbox, '.git'),
    join(copy.repository, '.git/worktrees/sandbox/gitdir'),
    join(copy.repository, `.git/agt/sessions/${id}.json`),
  ];
  for (const file of naming) writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, parent));
  run(REAL_GIT, ['update-index', '-q', '--refresh'], { cwd: copy.sandbox });
  return copy;
}

/** Gives the session to all test files of this run; if another one was faster, its template stays. */
function publish(session: TestSession, template: string): void {
  const own = makeTempDir('template');
  renameSync(dirname(session.repository), join(own, 'parent'));
  writeFileSync(join(own, 'session.json'), JSON.stringify(session));
  try {
    renameSync(own, template);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

export interface AutocommitReport {
  readonly outcome: string;
  readonly commit: string | null;
  readonly changes: { path: string; status: string }[];
  readonly skipped: { path: string; reason: string }[];
  readonly ignored: string[];
  readonly failed: { path: string; reason: string }[];
  readonly warnings: string[];
  readonly read: number;
}

export function autocommit({ repository, id }: TestSession, ...options: string[]): AutocommitReport {
  return JSON.parse(
    Buffer.from(
      agtOk(repository, 'autocommit', '--session-id', id, '--json', ...options),
      'latin1',
    ).toString(),
  ) as AutocommitReport;
}

export function tryAutocommit({ repository, id }: TestSession, ...options: string[]): Outcome {
  return run(AGT, ['autocommit', '--session-id', id, ...options], { cwd: repository });
}

export function changedPaths(report: AutocommitReport): string[] {
  return report.changes.map(({ status, path }) => `${status} ${path}`);
}

export function manifestOf({ repository, id }: TestSession, commit = `agtsessions/${id}`): SnapshotManifest {
  const text = git(repository, 'cat-file', 'blob', `${commit}:_/manifest.json`);
  return JSON.parse(Buffer.from(text, 'latin1').toString()) as SnapshotManifest;
}

/** Every file and link under a folder, by path (latin1), with its content, type and permission bits. */
export function snapshotFolder(folder: string, tops = ['config', 'sandbox', 'xdg']): Map<string, string> {
  const found = new Map<string, string>();
  const enter = (path: string) => {
    const names = readdirSync(Buffer.from(join(folder, path), 'latin1'), 'latin1');
    for (const name of names) {
      if (name === '.git') continue;
      const child = `${path}/${name}`;
      const absolute = Buffer.from(`${folder}/${child}`, 'latin1');
      const stat = lstatSync(absolute);
      const bits = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) found.set(child, `link ${readlinkSync(absolute, 'latin1')}`);
      else if (stat.isFile()) found.set(child, `file ${bits} ${readFileSync(absolute).toString('latin1')}`);
      else if (stat.isDirectory()) {
        found.set(child, `directory ${bits}`);
        enter(child);
      }
    }
  };
  for (const top of tops) enter(top);
  return found;
}

/** The files of a session folder in the form of `snapshotTree`. */
export function onDisk({ folder }: TestSession): Map<string, string> {
  const found = new Map<string, string>();
  const tops = TOP_FOLDERS.filter((top) => existsSync(join(folder, top)));
  const isDirectory = (top: string) => lstatSync(join(folder, top)).isDirectory();
  for (const top of tops.filter((name) => !isDirectory(name)))
    found.set(top, `100644 ${readFileSync(join(folder, top), 'latin1')}`);
  for (const [path, what] of snapshotFolder(folder, tops.filter(isDirectory))) {
    const [kind, bits = '', ...content] = what.split(' ');
    if (kind === 'link') found.set(path, `120000 ${what.slice(5)}`);
    if (kind !== 'file') continue;
    found.set(path, `${Number.parseInt(bits, 8) & 0o100 ? '100755' : '100644'} ${content.join(' ')}`);
  }
  return found;
}

/** Every file and link that a shadow commit holds, by path on disk (latin1): content and git's mode. */
export function snapshotTree({ repository }: TestSession, commit: string): Map<string, string> {
  const listed = run(REAL_GIT, ['ls-tree', '-r', '-z', commit], { cwd: repository }).stdout;
  const found = new Map<string, string>();
  const entries = listed.split('\0').filter((line) => line !== '' && !line.includes('\t_/'));
  const oids = entries.map((line) => line.slice(12).split('\t')[0] ?? '');
  const contents = run(REAL_GIT, ['cat-file', '--batch'], {
    cwd: repository,
    input: `${oids.join('\n')}\n`,
  }).stdout;
  let offset = 0;
  for (const line of entries) {
    const headerEnd = contents.indexOf('\n', offset);
    const size = Number(contents.slice(offset, headerEnd).split(' ')[2]);
    const content = contents.slice(headerEnd + 1, headerEnd + 1 + size);
    offset = headerEnd + size + 2;
    found.set(decodePath(line.slice(line.indexOf('\t') + 1)), `${line.slice(0, 6)} ${content}`);
  }
  return found;
}
