/** The benchmarks share this: a place that goes at the end, the programs, and trees of files. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { findGit } from '../../src/git/run/find-git.ts';

/** A directory of this run alone. */
export const place = realpathSync(mkdtempSync(join(tmpdir(), 'agt-bench-')));
export const agt = join(import.meta.dirname, '..', '..', 'dist', 'agt');
export const git = findGit({ env: process.env, self: [agt] });
export const env: Readonly<Record<string, string>> = {
  PATH: `${dirname(git)}:${process.env['PATH'] ?? ''}`,
  HOME: place,
  AGT_GIT_PATH: git,
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
  GIT_CONFIG_NOSYSTEM: '1',
};

process.on('exit', () => rmSync(place, { recursive: true, force: true }));

export function must(program: string, args: readonly string[], cwd: string, input = ''): string {
  const result = spawnSync(program, args, { cwd, env, input, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

export interface Call {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly input?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** In milliseconds. */
export function measure({ program, args, cwd, input = '', more }: Call): number {
  const start = process.hrtime.bigint();
  const result = spawnSync(program, args, { cwd, env: { ...env, ...more }, input, encoding: 'utf8' });
  const time = Number(process.hrtime.bigint() - start) / 1e6;
  if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${result.stderr}`);
  return time;
}

export function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

/** A repository with `size` committed files of some 30 bytes, a hundred to a directory. */
export function makeTree(size: number, name = `files-${size}`): string {
  const repository = join(place, name);
  must(git, ['init', '-q', '-b', 'main', repository], place);
  for (let n = 0; n < size; n++) {
    if (n % 100 === 0) mkdirSync(dirname(join(repository, pathOf(n))), { recursive: true });
    writeFileSync(join(repository, pathOf(n)), `the content of file ${n}\n`);
  }
  must(git, ['add', '-A'], repository);
  must(git, ['commit', '-q', '-m', 'files'], repository);
  return repository;
}

export function pathOf(file: number): string {
  return `d${Math.floor(file / 10_000)}/e${Math.floor(file / 100) % 100}/file-${file}.txt`;
}

const port = 20_000 + (process.pid % 20_000);

/** By `git daemon`: the address of what is in `place`. */
export function serveGit(): string {
  const words = [
    'daemon',
    '--export-all',
    '--enable=receive-pack',
    `--base-path=${place}`,
    '--max-connections=0',
  ];
  serve(git, [...words, '--listen=127.0.0.1', `--port=${port}`, place]);
  const address = `git://127.0.0.1:${port}`;
  waitFor(address);
  return address;
}

/** By smart HTTP. Pushes need `http.receivepack`. */
export async function serveHttp(): Promise<string> {
  const server = serve(process.execPath, [join(import.meta.dirname, 'git-http.ts'), place], 'pipe');
  const [port] = await once(server.stdout as Readable, 'data');
  server.stdout?.destroy(); // it would keep this process alive
  return `http://127.0.0.1:${String(port).trim()}`;
}

/** By Debian's sshd: the same, and the command for `core.sshCommand`; undefined if it is not there. */
export function serveSsh(): { address: string; command: string } | undefined {
  if (!existsSync('/usr/sbin/sshd') || !existsSync('/run/sshd')) return undefined;
  const [host, user] = [join(place, 'host'), join(place, 'user')];
  for (const file of [host, user]) must('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file], place);
  const settings = {
    ListenAddress: '127.0.0.1',
    Port: port + 1,
    HostKey: host,
    AuthorizedKeysFile: `${user}.pub`,
  };
  const others = ['PidFile none', 'StrictModes no', 'UsePAM no'];
  const lines = [...Object.entries(settings).map((pair) => pair.join(' ')), ...others];
  writeFileSync(join(place, 'sshd'), `${lines.join('\n')}\n`);
  serve('/usr/sbin/sshd', ['-D', '-f', join(place, 'sshd')]);
  const known = `-o StrictHostKeyChecking=no -o UserKnownHostsFile=${place}/known -o LogLevel=ERROR`;
  const command = `ssh -F none -i ${user} -o IdentitiesOnly=yes ${known}`;
  const address = `ssh://${userInfo().username}@127.0.0.1:${port + 1}${place}`;
  waitFor(address, { GIT_SSH_COMMAND: command });
  return { address, command };
}

/** Until the end of this process. */
function serve(program: string, words: readonly string[], stdout: 'ignore' | 'pipe' = 'ignore') {
  const server = spawn(program, words, { env, detached: true, stdio: ['ignore', stdout, 'ignore'] });
  server.unref();
  process.on('exit', () => {
    if (server.pid !== undefined) process.kill(-server.pid, 'SIGKILL');
  });
  return server;
}

function waitFor(address: string, more = {}): void {
  for (let n = 0; n < 200; n++) {
    const words = ['ls-remote', `${address}/none.git`];
    const { stderr } = spawnSync(git, words, { env: { ...env, ...more }, encoding: 'utf8' });
    if (!/unable to connect|Connection refused/.test(stderr)) return;
    spawnSync('sleep', ['0.05']);
  }
  throw new Error(`nobody answers at ${address}`);
}
