/**
 * Sessions on a remote: push beside `git push` of as much, to a path, over `git daemon`, over smart HTTP and over ssh,
 * pull beside `git clone` of as much, the list of a thousand, and what two hundred small pushes add. Prints medians of
 * `--runs N` (default 9) in milliseconds.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { SessionId } from '../../src/session/id.ts';
import type { SessionRecord } from '../../src/session/record.ts';
import { importKeys, makeKeys } from '../../src/travel/keys.ts';
import { sealHead } from '../../src/travel/share.ts';
import {
  agt,
  env,
  git,
  makeTree,
  measure,
  median,
  must,
  pathOf,
  place,
  serveGit,
  serveHttp,
  serveSsh,
} from './harness.ts';

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '9' }, pushes: { type: 'string', default: '200' } },
});
const runs = Number(options.runs);

const remote = join(place, 'remote.git');
must(git, ['init', '-q', '--bare', '-b', 'main', remote], place);
const keys = await makeKeys(env);
await importKeys(env, keys.identities.join('\n'));

const repository = makeTree(300, 'pushed');
must(git, ['remote', 'add', 'origin', remote], repository);
must(git, ['push', '-q', 'origin', 'main'], repository);
must(agt, ['session', 'new', 's1'], repository);
const sandbox = join(`${repository}.agt`, 'sessions', 's1', 'sandbox');
must(agt, ['session', 'push', 's1'], repository);
must(git, ['branch', 'side'], repository);
benchPush('to a path', remote);
benchPush('by git daemon', `${serveGit()}/remote.git`);
must(git, ['config', 'http.receivepack', 'true'], remote);
benchPush('by smart HTTP', `${await serveHttp()}/remote.git`);
const ssh = serveSsh();
if (ssh !== undefined) {
  must(git, ['config', 'core.sshCommand', ssh.command], repository);
  benchPush('by ssh', `${ssh.address}/remote.git`);
}
must(git, ['remote', 'set-url', 'origin', remote], repository);
benchGrowth(Number(options.pushes));
benchPull(50_000_000);
await benchList(1000);

function print(name: string, times: readonly number[], beside?: readonly number[]): void {
  const ratio = beside === undefined ? '' : `  ${(median(times) / median(beside)).toFixed(2)}`;
  console.log(`${name.padEnd(44)}${median(times).toFixed(0).padStart(7)}${ratio}`);
}

/** Both have a commit, or a snapshot, that is to go. The start: agt reads a session, and does nothing. */
function benchPush(where: string, address: string): void {
  const start: number[] = [];
  const [pushed, byGit]: [number[], number[]] = [[], []];
  must(git, ['remote', 'set-url', 'origin', address], repository);
  must(git, ['switch', '-q', 'side'], repository);
  for (let n = 0; n < runs; n++) {
    start.push(measure({ program: agt, args: ['session', 'path', 's1'], cwd: repository }));
    writeFileSync(join(sandbox, pathOf(1)), `${where} ${n}\n`);
    must(agt, ['autocommit', 's1'], repository);
    pushed.push(measure({ program: agt, args: ['session', 'push', 's1', 'origin'], cwd: repository }));
    writeFileSync(join(repository, pathOf(1)), `${where} ${n}\n`);
    must(git, ['commit', '-qam', `push ${n}`], repository);
    byGit.push(measure({ program: git, args: ['push', '-q', 'origin', 'side'], cwd: repository }));
  }
  must(git, ['switch', '-q', 'main'], repository);
  print('start', start);
  print(`git push of one file, ${where}`, byGit);
  const without = pushed.map((time, n) => time - (start[n] ?? 0));
  print('agt session push of it, without the start', without, byGit);
}

function sizeOfRemote(): number {
  must(git, ['gc', '-q', '--prune=now'], remote);
  return Number(/size-pack: (\d+)/.exec(must(git, ['count-objects', '-v'], remote))?.[1]) * 1024;
}

function benchGrowth(pushes: number): void {
  const before = sizeOfRemote();
  for (let n = 0; n < pushes; n++) {
    writeFileSync(join(sandbox, pathOf(2)), `small step ${n}\n`);
    must(agt, ['session', 'push', 's1'], repository);
  }
  const each = (sizeOfRemote() - before) / pushes;
  console.log(`${'bytes that a small push adds'.padEnd(44)}${each.toFixed(0).padStart(7)}`);
}

function benchPull(size: number): void {
  const large = makeTree(10, 'large');
  const [bare, other] = [join(place, 'large.git'), join(place, 'other')];
  must(git, ['clone', '-q', '--bare', large, bare], place);
  must(git, ['remote', 'add', 'origin', bare], large);
  must(git, ['fetch', '-q', 'origin'], large);
  must(agt, ['session', 'new', 'big'], large);
  for (let n = 0; n < 10; n++)
    writeFileSync(join(`${large}.agt`, 'sessions', 'big', 'sandbox', `large-${n}`), randomBytes(size / 10));
  must(agt, ['session', 'push', 'big', '--release'], large);
  for (let n = 0; n < 10; n++) writeFileSync(join(large, `large-${n}`), randomBytes(size / 10));
  must(git, ['add', '-A'], large);
  must(git, ['commit', '-q', '-m', 'as large'], large);
  const cloned = join(place, 'cloned.git');
  must(git, ['clone', '-q', '--bare', large, cloned], place);
  const [pulled, byGit]: [number[], number[]] = [[], []];
  for (let n = 0; n < Math.min(runs, 5); n++) {
    for (const path of [other, `${other}.agt`, join(place, 'clone')])
      rmSync(path, { recursive: true, force: true });
    must(git, ['clone', '-q', bare, other], place);
    byGit.push(measure({ program: git, args: ['clone', '-q', `file://${cloned}`, 'clone'], cwd: place }));
    pulled.push(measure({ program: agt, args: ['session', 'pull', 'big', '--take'], cwd: other }));
  }
  print('git clone of 50 MB', byGit);
  print('agt session pull of as much', pulled, byGit);
}

async function benchList(sessions: number): Promise<void> {
  const record = JSON.parse(must(agt, ['session', 'show', 's1', '--json'], repository)) as SessionRecord;
  const commands: string[] = [];
  for (let n = 0; n < sessions; n++) {
    const head = {
      version: 1,
      record: { ...record, session_id: `s${n}` as SessionId },
      refs: {},
      parts: '',
    } as const;
    const more = { number: 1, pushed_at: new Date().toISOString(), snapshots: n, size: 1000 };
    writeFileSync(join(place, 'head'), await sealHead([keys.recipient], { ...head, ...more }));
    const oid = must(git, ['hash-object', '-w', join(place, 'head')], remote).trim();
    commands.push(`create refs/agt/shared/${randomBytes(10).toString('hex')}/head ${oid}\n`);
  }
  must(git, ['update-ref', '--stdin'], remote, commands.join(''));
  const [first, later]: [number[], number[]] = [[], []];
  const list = { program: agt, args: ['session', 'list', '--remote', 'origin'] };
  for (let n = 0; n < Math.min(runs, 5); n++) {
    const clone = join(place, `list-${n}`);
    must(git, ['clone', '-q', remote, clone], place);
    must(agt, ['session', 'new', 'own'], clone);
    first.push(measure({ ...list, cwd: clone }));
    later.push(measure({ ...list, cwd: clone }));
  }
  print('agt session list --remote, 1,000 sessions', first);
  print('the same again', later);
}
