/** Paths that facts and commits name, in latin1. */
import { createHash } from 'node:crypto';
import type { Facts } from './facts.ts';
import { ok, REAL_GIT } from './programs.ts';
import { zeroed } from './worktree.ts';

/** The paths that `git status` names, and those whose flag hides a change from it. */
export function dirtyPaths(facts: Facts): string[] {
  const lines = zeroed(facts.get('status') ?? '');
  const shown = lines.map((line) => /^(?:1 (?:\S+ ){7}|u (?:\S+ ){9}|[?] )(.*)$/s.exec(line)?.[1] ?? line);
  const flagged = [...facts].filter(
    ([key, text]) => key.startsWith('index ') && /^[a-zS] /.test(text) && !isClean(facts, key, text),
  );
  return [...shown, ...flagged.map(([key]) => key.slice('index 0 '.length))];
}

export function changedPaths(root: string, from: string, to: string): string[] {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', from, to, '--'];
  return zeroed(ok(REAL_GIT, args, root));
}

/** Whether a path of one list is one of the other, above one or below one. */
export function overlap(one: readonly string[], other: readonly string[]): boolean {
  return one.some((a) => other.some((b) => `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`)));
}

/** Whether a fact is of the repository at that path inside. */
export function isInside(key: string, path: string): boolean {
  return key === `file ${path}` || key.startsWith(`file ${path}/`) || key.startsWith(`repo ${path} `);
}

function isClean(facts: Facts, key: string, entry: string): boolean {
  const found = facts.get(key.replace('index 0', 'file'));
  // git writes a file that is marked skip-worktree and deleted again when a commit changes it.
  if (found === undefined) return entry.startsWith('S ');
  const bytes = /^file \d+ (.*)$/s.exec(found)?.[1];
  if (bytes === undefined) return false;
  return [bytes, bytes.replaceAll('\r\n', '\n')].some((text) => entry.endsWith(` ${blobOf(text)}`));
}

function blobOf(bytes: string): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes, 'latin1').digest('hex');
}

/** The index entry of another commit. git keeps no mark that a person has set but skip-worktree. */
export function withFlags(before: string | undefined, other: string | undefined): string | undefined {
  if (before === undefined || other === undefined || !/^s/i.test(before)) return other;
  return ['S 40000000', ...other.split(' ').slice(2)].join(' ');
}

/** It has another commit checked out than the index names. */
export function isUnstagedSubmodule(facts: Facts, path: string): boolean {
  const line = /^1 \.\S+ S\S+ 160000 160000 160000 \S+ \S+ (.*)$/s;
  return zeroed(facts.get('status') ?? '').some((text) => line.exec(text)?.[1] === path);
}
