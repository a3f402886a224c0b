/**
 * The front in the way of each autocommit, with AGT_TEST_FRONT=1: before a step the front knows each session, and after
 * the step it must not say that a session is unchanged which is not as its last snapshot. Each folder is looked at in
 * parts, as a large one is, so that agt looks only at the paths that the front has found.
 */
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { differences } from './compare.ts';
import type { Life, LifeSession } from './life.ts';
import { AGT, makeDirectory, ok, run } from './programs.ts';

export const THROUGH_FRONT = Boolean(process.env['AGT_TEST_FRONT']);

const STARTED = 'agt is started';

interface Programs {
  readonly front: string;
  /** Says in place of starting agt that it would do so. */
  readonly saying: string;
  /** The same, and asks no watcher. */
  readonly alone: string;
}

let installed: Programs | undefined;

function programs(): Programs {
  if (installed !== undefined) return installed;
  const directory = makeDirectory('front');
  ok(AGT, ['shim', 'install', '--dir', directory], '/');
  const front = join(directory, 'agt');
  const saying = join(directory, 'saying');
  const alone = join(directory, 'alone');
  const says = `cat >/dev/null; echo '${STARTED}'; exit`;
  const text = readFileSync(front, 'utf8').replaceAll('exec "$agt_full"', `${says}; exec "$agt_full"`);
  const saysToo = text.replace('| "$agt_full"', `| { ${says}; }; exit; "$agt_full"`);
  writeFileSync(saying, saysToo, { mode: 0o755 });
  writeFileSync(alone, saysToo.replace('agt_watches() {', 'agt_watches() {\n  return 1'), { mode: 0o755 });
  installed = { front, saying, alone };
  return installed;
}

/** The same command line through the front. */
export function throughFront(command: readonly string[]): readonly string[] {
  const [program, ...args] = command;
  if (!THROUGH_FRONT || program !== AGT || args[0] !== 'autocommit') return command;
  return [programs().front, ...args];
}

function saysUnchanged({ sandbox }: LifeSession): boolean {
  const event = { cwd: sandbox, hook_event_name: 'PostToolUse', tool_name: 'Bash' };
  const args = ['hook', 'claude-code'];
  const { exitCode, stdout, stderr } = run(programs().alone, args, sandbox, JSON.stringify(event));
  if (exitCode !== 0 || stderr !== '') throw new Error(`the front fails: ${exitCode} ${stderr}`);
  return !stdout.includes(STARTED);
}

/** Captures each session until the front knows it. A watcher answers if there is one. */
export function settleFront(life: Life): void {
  for (const session of life.active()) {
    for (let attempt = 0; attempt < 5 && !saysUnchanged(session); attempt++) {
      const before = life.look(session);
      const args = ['autocommit', '--session-id', session.id];
      if (!run(programs().saying, args, life.repository).stdout.includes(STARTED)) life.counts.answered++;
      else run(programs().front, args, life.repository);
      life.look(session);
      life.takeIn(session, before);
    }
    lookInParts(life, session);
  }
}

function lookInParts({ repository }: Life, { id, folder }: LifeSession): void {
  const facts = join(repository, '.git/agt/front', id);
  const stat = statSync(facts, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const tops = ['config', 'xdg', 'sandbox/.'].filter((name) => existsSync(join(folder, name)));
  const lines = `part ${tops.join(' ')}\nsplit ${tops[0]}\nchecks\n`;
  writeFileSync(facts, readFileSync(facts, 'utf8').replace('checks\n', lines));
  utimesSync(facts, stat.atimeMs / 1000, stat.mtimeMs / 1000);
}

/** Returns how many sessions it knows to be unchanged. */
export function frontIsRight(life: Life): number {
  let count = 0;
  for (const session of life.active()) {
    if (!saysUnchanged(session)) continue;
    const last = life.snapshots.get(life.tip(session));
    const problems = last === undefined ? [] : differences(last, life.look(session));
    if (problems.length > 0)
      throw new Error(`unchanged, says the front:\n${problems.slice(0, 10).join('\n')}`);
    count++;
  }
  return count;
}
