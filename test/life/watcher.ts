/**
 * A watcher that answers the front, with AGT_TEST_WATCHER=1: the changes of each step are captured through it. Now and then
 * it is killed or stopped while it works; then the front has to start agt.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Life, LifeSession } from './life.ts';
import { AGT, lifeEnvironment } from './programs.ts';
import { Random } from './random.ts';

export const WITH_WATCHER = Boolean(process.env['AGT_TEST_WATCHER']);

const KILL_CHANCE = 0.04;
const STOP_CHANCE = 0.02;
/** Most captures are over by then. */
const LONGEST_BEFORE_KILL = 0.08;
const DEADLINE_MS = 20_000;

export class LifeWatcher {
  private readonly random: Random;
  private readonly front: string;
  private readonly repository: string;
  private child: ChildProcess | undefined;
  private isStopped = false;

  constructor({ seed, repository }: Life) {
    // The steps of the life stay those of its seed.
    this.random = new Random(seed + 1_000_000);
    this.repository = repository;
    this.front = join(repository, '.git/agt/front');
  }

  /** The sessions are captured, so it has nothing to capture by itself. */
  begin(session: LifeSession): void {
    const pid = this.child?.pid;
    if (pid !== undefined && existsSync(`/proc/${pid}/exe`)) return;
    this.end();
    const facts = this.inode(session);
    const args = ['watch', session.id, '--debounce', '3600', '--interval', '3600'];
    this.child = spawn(AGT, args, { cwd: this.repository, env: lifeEnvironment(), stdio: 'ignore' });
    // Its first capture must not come in between the steps.
    const isReady = () => existsSync(join(this.front, '.watcher')) && this.inode(session) !== facts;
    for (const end = Date.now() + DEADLINE_MS; Date.now() < end && !isReady(); ) spawnSync('sleep', ['0.02']);
  }

  trouble(): void {
    const pid = this.child?.pid;
    if (pid === undefined) return;
    if (this.random.chance(STOP_CHANCE)) {
      this.isStopped = this.child?.kill('SIGSTOP') === true;
    } else if (this.random.chance(KILL_CHANCE)) {
      const seconds = (this.random.next() * LONGEST_BEFORE_KILL).toFixed(3);
      spawn('sh', ['-c', `sleep ${seconds}; kill -9 ${pid}`], { stdio: 'ignore' });
    }
  }

  noTrouble(): void {
    if (this.isStopped) this.child?.kill('SIGCONT');
    this.isStopped = false;
  }

  end(): void {
    this.child?.kill('SIGKILL');
    this.child = undefined;
  }

  private inode({ id }: LifeSession): number | undefined {
    return statSync(join(this.front, id), { throwIfNoEntry: false })?.ino;
  }
}
