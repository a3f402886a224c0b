/**
 * Whether a commit by an agent is an ancestor of a visible ref. git is asked once about the whole history, and then
 * only about new commits. `<common>/agt/visible-history` remembers the agent's address, the answer and the tips that
 * git was asked about; the file may be deleted at any time.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { readJson } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import { readHeadFile } from '../../git/files/head-file.ts';
import { agentsInHistoryFile, agtDirectory, visibleHistoryFile } from '../../layout.ts';
import type { View } from './view.ts';

interface Remembered {
  readonly email: string;
  readonly found: boolean;
  readonly tips: readonly string[];
}

export function findVisibleAgentCommits(view: View): boolean {
  const agtDir = agtDirectory(view.commonDir);
  const file = visibleHistoryFile(agtDir);
  const remembered = readRemembered(file, view.agentEmail);
  if (remembered?.found) return true;
  const tips = visibleTips(view);
  const oldTips = new Set(remembered?.tips);
  const newTips = tips.filter((tip) => !oldTips.has(tip));
  if (newTips.length === 0) return false;
  const revisions = [...newTips, ...[...oldTips].map((tip) => `^${tip}`)].join('\n');
  const { exitCode, stdout } = view.ask(
    ['rev-list', '--max-count=1', '--ignore-missing', '-F', `--author=<${view.agentEmail}>`, '--stdin'],
    `${revisions}\n`,
  );
  if (exitCode !== 0) return false;
  const found = stdout !== '';
  writeCache(file, JSON.stringify({ email: view.agentEmail, found, tips } satisfies Remembered));
  if (found) writeCache(agentsInHistoryFile(agtDir), '');
  return found;
}

function visibleTips(view: View): string[] {
  const { stdout } = view.ask(['for-each-ref', '--format=%(objectname) %(refname)']);
  const lines = stdout.split('\n').filter(Boolean);
  const visible = lines.filter((line) => !view.isHidden(line.slice(line.indexOf(' ') + 1)));
  // A detached HEAD holds a commit itself; any other HEAD names a branch, which is among the refs.
  const head = readHeadFile(view.gitDir)?.commit ?? '';
  return [...new Set([head, ...visible.map((line) => line.slice(0, line.indexOf(' ')))])].filter(Boolean);
}

function readRemembered(file: string, email: string): Remembered | undefined {
  const remembered = readJson(file) as Remembered | undefined;
  return remembered?.email === email ? remembered : undefined;
}

/** Without a cache, git is asked again: there may be no `<common>/agt`, or it may be read-only. */
function writeCache(file: string, text: string): void {
  attempt(() => {
    writeFileSync(`${file}.${process.pid}`, text);
    renameSync(`${file}.${process.pid}`, file);
  });
}
