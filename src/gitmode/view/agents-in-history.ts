/**
 * Whether a commit by an agent is an ancestor of something visible. Asked of git once; afterwards only what has come
 * since is looked at. What is known lies in `<common>/agt/visible-history`: the address, the answer, the tips that
 * were looked at. It may be deleted at any time.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../../git/files/read-small-file.ts';
import { agentsInHistoryFile, agtDirectory, visibleHistoryFile } from '../../repository/layout.ts';
import type { View } from './view.ts';

type Repository = Pick<View, 'ask' | 'isHidden' | 'gitDir' | 'commonDir' | 'agentEmail'>;

interface Known {
  readonly email: string;
  readonly found: boolean;
  readonly tips: readonly string[];
}

export function lookForAgents(view: Repository): boolean {
  const agtDir = agtDirectory(view.commonDir);
  const file = visibleHistoryFile(agtDir);
  const known = readKnown(file, view.agentEmail);
  if (known?.found) return true;
  const tips = visibleTips(view);
  const before = new Set(known?.tips);
  const fresh = tips.filter((tip) => !before.has(tip));
  if (fresh.length === 0) return false;
  const revisions = [...fresh, ...[...before].map((tip) => `^${tip}`)].join('\n');
  const { exitCode, stdout } = view.ask(
    ['rev-list', '--max-count=1', '--ignore-missing', '-F', `--author=<${view.agentEmail}>`, '--stdin'],
    `${revisions}\n`,
  );
  if (exitCode !== 0) return false;
  const found = stdout !== '';
  leave(file, JSON.stringify({ email: view.agentEmail, found, tips } satisfies Known));
  if (found) leave(agentsInHistoryFile(agtDir), '');
  return found;
}

function visibleTips(view: Repository): string[] {
  const refs = view
    .ask(['for-each-ref', '--format=%(objectname) %(refname)'])
    .stdout.split('\n')
    .filter(Boolean);
  // A HEAD that names a branch adds nothing; a detached one holds the commit itself.
  const head = /^[0-9a-f]{40,64}$/.exec(readSmallFile(join(view.gitDir, 'HEAD')) ?? '')?.[0] ?? '';
  const tips = refs.filter((line) => !view.isHidden(line.slice(line.indexOf(' ') + 1)));
  return [...new Set([head, ...tips.map((line) => line.slice(0, line.indexOf(' ')))])].filter(Boolean);
}

function readKnown(file: string, email: string): Known | undefined {
  try {
    const known = JSON.parse(readFileSync(file, 'utf8')) as Known;
    return known.email === email ? known : undefined;
  } catch {
    return undefined;
  }
}

/** Only where agt keeps its state already; without a cache the question is asked again. */
function leave(file: string, text: string): void {
  try {
    writeFileSync(`${file}.${process.pid}`, text);
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // no state directory, or one that may only be read
  }
}
