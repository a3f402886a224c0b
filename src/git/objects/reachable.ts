/** Which objects are reachable from where, and what they take on disk. */
import { spawn } from 'node:child_process';
import { type Git, gitBytes, gitFailed } from '../run/git.ts';
import { traceCommand } from '../run/trace.ts';

/** In a partial clone, what is only promised is neither listed nor fetched; elsewhere this changes nothing. */
const LIST_OBJECTS = ['rev-list', '--objects', '--no-object-names', '--exclude-promisor-objects'];

/**
 * Objects reachable from `roots` (object or ref names; trees may be among them) and not from `others`. git looks for
 * the trees and files of `others` only where both meet: a file that an old commit of theirs also holds may be listed.
 */
export async function reachableObjects(
  git: Git,
  roots: readonly string[],
  others: readonly string[] = [],
): Promise<string[]> {
  if (roots.length === 0) return [];
  const input = [...roots, ...others.map((name) => `^${name}`)].map((name) => `${name}\n`).join('');
  const listed = await gitBytes(git, [...LIST_OBJECTS, '--stdin'], { input });
  return lines(listed);
}

/** Bytes on disk of each object: compressed, as a delta where it is one. */
export async function sizesOnDisk(git: Git, oids: readonly string[]): Promise<number[]> {
  if (oids.length === 0) return [];
  const input = oids.map((oid) => `${oid}\n`).join('');
  const answers = await gitBytes(git, ['cat-file', '--batch-check=%(objectsize:disk)', '--buffer'], {
    input,
  });
  return lines(answers).map((answer) => Number(answer) || 0);
}

function lines(output: Buffer): string[] {
  const text = output.toString('latin1');
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** What git itself keeps from pruning: refs, reflogs, indexes and HEADs of every worktree. */
const EVERYTHING = ['--all', '--reflog', '--indexed-objects'];

/** Visits the binary name of every object that git would keep, without holding the list in memory. */
export async function visitReachable(git: Git, visit: (name: Buffer) => void): Promise<void> {
  const args = [...LIST_OBJECTS, ...EVERYTHING];
  traceCommand(git.env, git.path, args);
  const child = spawn(git.path, args, { cwd: git.cwd, env: git.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? -1));
    child.on('error', () => resolve(-1));
  });
  let rest = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    const names = (rest + chunk.toString('latin1')).split('\n');
    rest = names.pop() ?? '';
    for (const name of names) visit(Buffer.from(name, 'hex'));
  }
  const exitCode = await ended;
  if (exitCode !== 0) throw gitFailed(args, { exitCode, stdout: Buffer.alloc(0), stderr });
}
