/** A repository with a session in which every command has something to do, and the conditions that outlast a kill. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { differences } from './compare.ts';
import { type Facts, readFacts, readRefs } from './facts.ts';
import { throughFront } from './front.ts';
import { gitDirectory } from './life.ts';
import { AGT, makeDirectory, ok, parseJson, REAL_GIT } from './programs.ts';
import { storeIsWhole } from './promises.ts';

const WORK_BRANCH = 'refs/heads/agt/s1';
const NEWEST = 'in no snapshot\n';

/** Everything is below one directory, which is copied once and put back before each kill. */
export class KillPlace {
  readonly top = makeDirectory('kill');
  readonly repository = join(this.top, 'project');
  readonly sandbox: string;
  /** The content that each snapshot has to bring back, by commit. */
  readonly snapshots = new Map<string, Facts>();
  /** The content of the disk before the command. */
  readonly present: Facts;
  private readonly newest: string;
  private readonly copy = `${this.top}-copy`;

  constructor(prepare: (place: KillPlace) => void) {
    this.makeRepository();
    this.sandbox = parseJson<{ sandbox: string }>(this.agt('session', 'new', '--id', 's1', '--json')).sandbox;
    this.makeSnapshots();
    this.newest = this.git('hash-object', join(this.sandbox, 'newest'));
    this.present = this.facts();
    prepare(this);
    cpSync(this.top, this.copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }

  agt(...args: string[]): string {
    const [program = '', ...words] = throughFront([AGT, ...args]);
    return ok(program, words, this.repository);
  }

  git(...args: string[]): string {
    return ok(REAL_GIT, args, this.repository).trim();
  }

  put(path: string, text: string): void {
    mkdirSync(dirname(join(this.top, path)), { recursive: true });
    writeFileSync(join(this.top, path), text);
  }

  /** As before the command. */
  reset(): void {
    for (const name of readdirSync(this.top)) rmSync(join(this.top, name), { recursive: true, force: true });
    cpSync(this.copy, this.top, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }

  facts(sandbox = this.sandbox, workBranch = WORK_BRANCH): Facts {
    const place = { folder: dirname(sandbox), gitDir: gitDirectory(sandbox), workBranch };
    return readFacts(place, readRefs(this.repository));
  }

  tip(id = 's1'): string | undefined {
    return readRefs(this.repository).get(`refs/agt/tip/${id}`);
  }

  snapshot(): string {
    this.agt('autocommit', '--session-id', 's1');
    const commit = this.tip() as string;
    this.snapshots.set(commit, this.facts());
    return commit;
  }

  first(): string {
    return [...this.snapshots.keys()][0] as string;
  }

  /** @throws Error unless the session is as it was at `wanted`. */
  isAs(wanted: Facts, actual = this.facts()): void {
    const problems = differences(wanted, actual);
    if (problems.length > 0) throw new Error(`not as expected:\n${problems.slice(0, 10).join('\n')}`);
  }

  /** Nothing is lost: all snapshots, and what was on disk. */
  nothingIsLost(): void {
    storeIsWhole(this.repository);
    const args = ['rev-list', '--objects', '--all'];
    const kept = ok(REAL_GIT, args, this.repository);
    for (const commit of this.snapshots.keys())
      if (!kept.includes(commit)) throw new Error(`nothing keeps the snapshot ${commit}`);
    const path = join(this.sandbox, 'newest');
    const isOnDisk = existsSync(path) && readFileSync(path, 'utf8') === NEWEST;
    if (!isOnDisk && !kept.includes(this.newest)) throw new Error('a file that was on disk is nowhere');
    this.nothingIsLeft();
  }

  /** Every snapshot can be brought back. */
  firstComesBack(): void {
    const [commit, facts] = [...this.snapshots][0] as [string, Facts];
    ok(AGT, ['session', 'restore', 's1', '--to', commit], this.repository);
    this.isAs(facts);
  }

  /**
   * No locks of git, no parts of packs. Locks of processes that are gone, temporary files of agt and `.keep` files of packs
   * hold up nothing, and agt doctor names them.
   */
  private nothingIsLeft(): void {
    const left = listFiles(join(this.repository, '.git')).filter((path) =>
      /\.lock$|\/tmp_[^/]*$|fast_import_crash/.test(path),
    );
    if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
  }

  private makeRepository(): void {
    mkdirSync(this.repository);
    this.git('init', '-q', '-b', 'main');
    this.put('project/a', 'from the user\n');
    this.put('project/.gitignore', '.env\n');
    this.git('add', '-A');
    this.git('commit', '-q', '-m', 'one');
    this.git('init', '-q', '--bare', '-b', 'main', join(this.top, 'remote.git'));
    this.git('remote', 'add', 'origin', join(this.top, 'remote.git'));
    this.git('push', '-q', 'origin', 'main');
  }

  private makeSnapshots(): void {
    const session = this.sandbox.slice(this.top.length + 1);
    const inSandbox = (...args: string[]) => ok(REAL_GIT, args, this.sandbox);
    for (const number of [1, 2, 3]) {
      this.put(`${session}/a`, `${number}\n`);
      for (let file = 0; file < 40; file++)
        this.put(`${session}/many/${number}/${file}`, `${number} ${file}\n`);
      this.put(`${session}/../xdg/log`, `${number}\n`);
      if (number === 2) inSandbox('commit', '-qam', 'of the agent');
      if (number === 3) inSandbox('add', '-A');
      this.snapshot();
    }
    this.put(`${session}/newest`, NEWEST);
    this.put(`${session}/many/1/1`, 'changed\n');
    rmSync(join(this.sandbox, 'many/2'), { recursive: true });
  }
}

function listFiles(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    return stat.isDirectory() ? listFiles(path) : [path];
  });
}
