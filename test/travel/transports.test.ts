/** Round trips by each way in which git reaches a remote; a bare agt clone as the remote. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { agtOk, git, makeTempDir, write } from '../harness/world.ts';
import { factsOf, makeTwo, type Two, workIn } from './two.ts';

const SERVER = join(import.meta.dirname, '../../scripts/bench/git-http.ts');

async function overHttp({ remote }: Two): Promise<string> {
  git(remote, 'config', 'http.receivepack', 'true');
  const server = spawn(process.execPath, [SERVER, dirname(remote)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill());
  const [port] = await once(server.stdout, 'data');
  return `http://127.0.0.1:${String(port).trim()}/remote.git`;
}

/** Debian's sshd wants a directory that its service makes. */
const SSHD = ['/usr/sbin/sshd', '/run/sshd'];
const noSshd = SSHD.find((path) => !existsSync(path));

async function overSshd({ here, there, remote }: Two): Promise<string> {
  const place = makeTempDir('sshd');
  const [host, user] = ['host', 'user'].map((name) => join(place, name)) as [string, string];
  for (const file of [host, user]) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  const port = await freePort();
  const settings = `ListenAddress 127.0.0.1\nPort ${port}\nHostKey ${host}\nAuthorizedKeysFile ${user}.pub\nPidFile none\nStrictModes no\nUsePAM no\n`;
  write(join(place, 'settings'), settings);
  const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(place, 'settings')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void server.kill());
  await once(server.stderr, 'data');
  const words = `ssh -F none -i ${user} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=${place}/known`;
  for (const repository of [here, there]) git(repository, 'config', 'core.sshCommand', words);
  return `ssh://${userInfo().username}@127.0.0.1:${port}${remote}`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** A program in the place of ssh runs the command here. */
async function overSsh({ here, there, remote }: Two): Promise<string> {
  const program = join(makeTempDir('ssh'), 'ssh');
  write(program, '#!/bin/sh\nwhile [ "$1" != host ]; do shift; done\nshift\nexec sh -c "$*"\n', 0o755);
  for (const repository of [here, there]) git(repository, 'config', 'core.sshCommand', program);
  return `ssh://host${remote}`;
}

test.skipIf(noSshd !== undefined)(
  `there and back over sshd${noSshd === undefined ? '' : ` (no ${noSshd})`}`,
  () => thereAndBack(overSshd),
);

test.each([
  ['file', async ({ remote }: Two) => `file://${remote}`],
  ['http', overHttp],
  ['ssh', overSsh],
] as const)('there and back over %s', (_, addressOf) => thereAndBack(addressOf));

async function thereAndBack(addressOf: (two: Two) => Promise<string>): Promise<void> {
  const two = makeTwo();
  const { here, there } = two;
  const address = await addressOf(two);
  for (const repository of [here, there]) git(repository, 'remote', 'set-url', 'origin', address);
  const session = workIn(here);
  write(join(session.sandbox, 'large'), randomBytes(300_000));
  const before = { ...factsOf(session) };
  agtOk(here, 'session', 'push', 's1', '--release');
  agtOk(there, 'session', 'pull', 's1');
  const moved = sessionOf(there, 's1');
  expect(factsOf(moved)).toEqual(before);
  write(join(moved.sandbox, 'a.txt'), 'there\n');
  agtOk(there, 'session', 'push', 's1', '--release');
  agtOk(here, 'session', 'pull', 's1');
  expect(factsOf(session)).toEqual(factsOf(moved));
}

test('an address in place of a remote, and an agt clone as the remote', () => {
  const { remote, here, there } = makeTwo();
  const parent = makeTempDir();
  agtOk(parent, 'clone', remote, '--path', '.');
  agtOk(join(parent, 'remote'), 'session', 'new', 'own');
  const bare = join(parent, 'remote.git');
  const session = workIn(here);
  agtOk(here, 'session', 'push', 's1', bare, '--release');
  expect(agtOk(there, 'session', 'list', '--remote', bare)).toMatch(/^s1 +free /m);
  agtOk(there, 'session', 'pull', 's1', bare);
  expect(factsOf(sessionOf(there, 's1'))).toEqual(factsOf(session));
  git(parent, 'clone', '-q', '--bare', bare, 'copy.git');
  expect(git(join(parent, 'copy.git'), 'for-each-ref', 'refs/agt')).toBe('');
});
