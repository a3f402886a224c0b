/**
 * One random history: people and agents write lines, and rewrite their commits; agt syncs, goes back, forks, and accepts.
 * Each line names who wrote it, so that a line that is gone tells whose it was.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSession, sessionOf } from '../../harness/session.ts';
import { agt, git, type Outcome, REAL_GIT, run, write } from '../../harness/world.ts';
import { Random } from '../random.ts';

const FILES = ['f0', 'f1', 'f2'];
const LINES = 9;
const PERSON = /^person-/;

interface Act {
  readonly weight: number;
  readonly act: () => void;
}

interface Listed {
  readonly session_id: string;
  readonly merge: 'clean' | 'conflict' | 'refused' | null;
  readonly merged: boolean;
  readonly diff: { readonly insertions: number; readonly deletions: number } | null;
}

export class History {
  private readonly random: Random;
  private readonly repository: string;
  private readonly sessions = ['s1'];
  private readonly labels = new Map<string, string[]>();
  private readonly story: string[] = [];
  private written = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    const text = Array.from({ length: LINES }, (_, i) => `line ${i}\n`).join('');
    this.repository = makeSession(Object.fromEntries(FILES.map((name) => [name, text]))).repository;
  }

  told(): string {
    return this.story.join('\n');
  }

  step(): void {
    const { random } = this;
    const [id, choice] = [random.pick(this.sessions), random.next()];
    const acts = choice < 0.3 ? this.ofPerson() : choice < 0.65 ? this.ofAgent(id) : this.ofAgt(id);
    random.weighted(acts).act();
  }

  /** `agt list` and `agt accept -n` say the same of each session. */
  agree(): void {
    const listed = JSON.parse(this.agt('list', '--json').stdout) as Listed[];
    for (const { session_id: id, merge, diff, merged } of listed) {
      const { exitCode, stdout, stderr } = this.agt('accept', id, '-n');
      const [, plus, minus] = /changed(?:, \+(\d+) -(\d+))?/.exec(stdout) ?? [];
      const said = `list: ${JSON.stringify({ id, merge, merged, diff })}; accept -n: ${exitCode} ${stdout}${stderr}`;
      const isSame = diff?.insertions === Number(plus ?? 0) && diff.deletions === Number(minus ?? 0);
      if (merge === 'clean' ? exitCode !== 0 || !isSame : exitCode === 0) throw new Error(said);
      if (merged !== /has all work/.test(stderr)) throw new Error(said);
    }
  }

  private ofPerson(): Act[] {
    const { random, repository } = this;
    const commit = () => this.back(random.below(4));
    return [
      { weight: 6, act: () => this.writes(repository, 'person') },
      { weight: 1, act: () => this.git(repository, 'revert', '--no-edit', commit()) },
      {
        weight: 1,
        act: () => this.git(repository, 'commit', '-q', '--amend', '-m', `reworded ${this.written}`),
      },
      { weight: 0.6, act: () => this.git(repository, 'reset', '-q', '--hard', this.back(1)) },
      { weight: 0.6, act: () => this.drops(commit()) },
      { weight: 0.6, act: () => this.squashes() },
      { weight: 0.6, act: () => this.git(repository, 'cherry-pick', `agt/${random.pick(this.sessions)}`) },
    ];
  }

  private ofAgent(id: string): Act[] {
    const { random } = this;
    const sandbox = this.sandbox(id);
    const isOwn = git(sandbox, 'log', '-1', '--format=%s').startsWith(id);
    const own = (...words: string[]) => (isOwn ? this.git(sandbox, ...words) : undefined);
    return [
      { weight: 5, act: () => this.writes(sandbox, id) },
      { weight: 2, act: () => this.writes(sandbox, id, false) },
      { weight: 1, act: () => this.takesAway(sandbox, id) },
      { weight: 1, act: () => this.git(sandbox, 'commit', '-qam', `${id} all`) },
      { weight: 1, act: () => this.git(sandbox, 'reset', '-q', '--hard', `HEAD~${1 + random.below(2)}`) },
      { weight: 0.7, act: () => this.git(sandbox, 'merge', '-q', '--no-edit', 'main') },
      { weight: 0.7, act: () => this.git(sandbox, 'cherry-pick', this.back(random.below(3))) },
      { weight: 0.7, act: () => own('revert', '--no-edit', 'HEAD') },
      { weight: 0.7, act: () => own('commit', '-q', '--amend', '-m', `${id} reworded ${this.written}`) },
    ];
  }

  private ofAgt(id: string): Act[] {
    const { random, labels } = this;
    const label = labels.get(id)?.at(random.below(labels.get(id)?.length ?? 1));
    const words = [[], [], [], ['--committed-only'], ['-m', `by hand ${this.written}`]];
    return [
      { weight: 3, act: () => this.snapshot(id) },
      { weight: 2, act: () => this.syncs(id) },
      { weight: 1.5, act: () => label && this.agt('restore', id, label) },
      { weight: 1, act: () => this.agt('undo', id) },
      { weight: 5, act: () => this.lands('accept', id, '--keep', ...random.pick(words)) },
      { weight: 1, act: () => this.lands('unaccept', id) },
      { weight: 1, act: () => this.forks(id) },
    ];
  }

  private sandbox(id: string): string {
    return sessionOf(this.repository, id).sandbox;
  }

  /** A commit of main, so many before its tip. */
  private back(count: number): string {
    const commits = git(this.repository, 'log', '--first-parent', '--format=%H', 'main').split('\n');
    return commits[Math.min(count, commits.length - 1)] as string;
  }

  private note(cwd: string, words: readonly string[], { exitCode, stdout, stderr }: Outcome): void {
    const place = cwd === this.repository ? 'main' : cwd.split('/').at(-2);
    this.story.push(`${place}$ ${words.join(' ')} -> ${exitCode} ${`${stdout}${stderr}`.split('\n')[0]}`);
  }

  private agt(...words: string[]): Outcome {
    const outcome = agt(this.repository, ...words);
    if (!words.includes('-n') && !words.includes('--json'))
      this.note(this.repository, ['agt', ...words], outcome);
    if (
      outcome.exitCode === null ||
      outcome.exitCode > 2 ||
      /internal error|\bat .*\.ts:/.test(outcome.stderr)
    )
      throw new Error(`agt ${words.join(' ')}: ${outcome.exitCode} ${outcome.stderr}`);
    return outcome;
  }

  /** A conflict ends as if nobody had begun. */
  private git(cwd: string, ...words: string[]): void {
    const outcome = run(REAL_GIT, words, { cwd });
    this.note(cwd, ['git', ...words], outcome);
    if (outcome.exitCode !== 0) this.gives(cwd);
  }

  private gives(cwd: string): void {
    for (const name of ['merge', 'rebase', 'cherry-pick', 'revert'])
      run(REAL_GIT, [name, '--abort'], { cwd });
  }

  private writes(cwd: string, by: string, isCommitted = true): void {
    const { random } = this;
    this.written++;
    const name = random.chance(0.15) ? `new-${this.written}` : random.pick(FILES);
    const lines = linesOf(cwd, name);
    lines.splice(random.below(lines.length + 1), 0, `${by}-${this.written}`);
    write(join(cwd, name), lines.map((line) => `${line}\n`).join(''));
    this.story.push(`${by} writes ${by}-${this.written} into ${name}`);
    if (!isCommitted) return;
    git(cwd, 'add', name);
    this.git(cwd, 'commit', '-qm', `${by} ${this.written}`, '--', name);
  }

  private takesAway(cwd: string, by: string): void {
    const name = this.random.pick(FILES);
    const lines = linesOf(cwd, name);
    const own = lines.filter((line) => line.startsWith(`${by}-`));
    if (own.length === 0) return;
    const gone = this.random.pick(own);
    write(join(cwd, name), lines.flatMap((line) => (line === gone ? [] : `${line}\n`)).join(''));
    this.story.push(`${by} takes ${gone} out of ${name}`);
  }

  private drops(commit: string): void {
    if (run(REAL_GIT, ['rev-parse', '-q', '--verify', `${commit}^`], { cwd: this.repository }).exitCode !== 0)
      return;
    this.git(this.repository, 'rebase', '-q', '--onto', `${commit}^`, commit);
  }

  private squashes(): void {
    const { repository } = this;
    if (git(repository, 'rev-list', '--count', '--first-parent', 'main') < '4') return;
    this.git(repository, 'reset', '-q', '--soft', 'HEAD~2');
    this.git(repository, 'commit', '-qm', `squashed ${this.written}`);
  }

  private snapshot(id: string): void {
    const label = `label-${++this.written}`;
    if (this.agt('autocommit', id, '--label', label).stdout.includes('captured'))
      this.labels.set(id, [...(this.labels.get(id) ?? []), label]);
  }

  private syncs(id: string): void {
    const way = this.random.chance(0.35) ? ['--rebase'] : [];
    if (this.agt('sync', id, ...way).exitCode === 0) return;
    if (this.random.chance(0.5)) this.agt('undo', id);
    this.gives(this.sandbox(id));
  }

  private forks(id: string): void {
    if (this.sessions.length === 3) return;
    const fork = `s${this.sessions.length + 1}`;
    if (this.agt('fork', id, '--id', fork).exitCode === 0) this.sessions.push(fork);
  }

  /** No line of a person leaves the branch. */
  private lands(...words: string[]): void {
    const before = this.ofPeople();
    this.agt(...words);
    const after = this.ofPeople();
    const gone = before.filter((line) => !after.includes(line));
    if (gone.length > 0) throw new Error(`agt ${words.join(' ')} takes away ${gone.join(', ')}`);
  }

  private ofPeople(): string[] {
    const { repository } = this;
    const names = readdirSync(repository).filter((name) => name !== '.git');
    return names.flatMap((name) => linesOf(repository, name).filter((line) => PERSON.test(line)));
  }
}

function linesOf(folder: string, name: string): string[] {
  try {
    return readFileSync(join(folder, name), 'latin1').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
