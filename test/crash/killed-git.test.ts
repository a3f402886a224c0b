/**
 * Each git that a command starts, killed together with agt before one of its writes: the same command again does its
 * work. AGT_TEST_STEPS chooses how many writes of a command, or `all`.
 */
import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { NO_STRACE, straceWorks } from '../harness/strace.ts';
import { ofToday } from '../harness/today.ts';
import { makeTempDir, REAL_GIT, write } from '../harness/world.ts';
import { attack, doctorMends, Stage, storeIsWhole } from './aftermath.ts';
import { sameCommandWorks } from './every-step.ts';
import { LANDING_SCENES } from './landing-scenes.ts';
import { SCENES, type Scene } from './scenes.ts';

const PROGRAM = [process.execPath, join(import.meta.dirname, '../../dist/main.cjs')];
const WRITES = ['mkdir', 'rmdir', 'rename', 'link', 'unlink', 'write', 'pwrite64'];
const STEPS = process.env['AGT_TEST_STEPS'] ?? '3';

/** Before the call `nth` of `name` by a git. */
interface Position {
  /** Such as `update-ref.2`: the second one that agt starts. */
  readonly git: string;
  readonly name: string;
  readonly nth: number;
}

/** A program named git, which starts the real one under strace. */
class KillingGit {
  private readonly dir = makeTempDir('killing-git');

  constructor() {
    const script = `#!/bin/sh
command=
skip=
for word; do
  if [ "$skip" ]; then skip=; continue; fi
  case $word in -c | -C) skip=1 ;; -*) ;; *) command=$word; break ;; esac
done
count=$AGT_TEST_DIR/count.$command
n=$(( $(cat "$count" 2>/dev/null || echo 0) + 1 ))
echo $n >"$count"
if [ "$AGT_TEST_GIT" = all ]; then exec strace -qq -o "$AGT_TEST_DIR/calls.$command.$n" -e trace=${WRITES.join()} ${REAL_GIT} "$@"; fi
if [ "$command.$n" != "$AGT_TEST_GIT" ]; then exec ${REAL_GIT} "$@"; fi
strace -qq -o /dev/null -e trace=$AGT_TEST_CALL -e inject=$AGT_TEST_CALL:signal=KILL:when=$AGT_TEST_NTH ${REAL_GIT} "$@"
code=$?
if [ $code -eq 137 ]; then kill -9 $PPID; fi
exit $code
`;
    write(join(this.dir, 'git'), script, 0o755);
  }

  env(git: string, { name, nth }: Partial<Position> = {}): Record<string, string> {
    rmSync(this.records, { recursive: true, force: true });
    mkdirSync(this.records);
    return {
      PATH: `${this.dir}:${process.env['PATH']}`,
      AGT_GIT_PATH: join(this.dir, 'git'),
      AGT_TEST_DIR: this.records,
      AGT_TEST_GIT: git,
      AGT_TEST_CALL: `${name}`,
      AGT_TEST_NTH: `${nth}`,
    };
  }

  /** All that the last run passed. */
  positions(): Position[] {
    const found: Position[] = [];
    for (const file of globSync('calls.*', { cwd: this.records })) {
      const git = file.slice('calls.'.length);
      const seen = new Map<string, number>();
      for (const [, name = ''] of readFileSync(join(this.records, file), 'latin1').matchAll(/^(\w+)\(/gm)) {
        const nth = (seen.get(name) ?? 0) + 1;
        seen.set(name, nth);
        found.push({ git, name, nth });
      }
    }
    return found;
  }

  private get records(): string {
    return join(this.dir, 'records');
  }
}

/** How many of them to kill at, and an order in which the first ones are evenly spread. */
function spread(positions: readonly Position[]): { readonly wanted: number; readonly order: Position[] } {
  const wanted = STEPS === 'all' ? positions.length : Math.min(Number(STEPS), positions.length);
  const first = Array.from({ length: wanted }, (_, n) => {
    const middle = Math.floor(((n + 0.5) * positions.length) / wanted);
    return positions[middle] as Position;
  });
  return { wanted, order: [...new Set([...first, ...positions])] };
}

beforeEach(({ skip }) => skip(!straceWorks, NO_STRACE));

test.each<Scene>(ofToday([...SCENES, ...LANDING_SCENES]))('$name', { timeout: 3_600_000 }, async (scene) => {
  const stage = new Stage(scene);
  const { place } = stage;
  const git = new KillingGit();
  stage.reset();
  expect(await attack(place, scene.command, { program: PROGRAM, env: git.env('all') })).toBe(null);
  const { wanted, order } = spread(git.positions());
  let [killed, tried] = [0, 0];
  for (const position of order) {
    // No two runs start quite the same gits.
    if (tried >= wanted && killed > 0) break;
    tried++;
    stage.reset();
    const env = git.env(position.git, position);
    if ((await attack(place, scene.command, { program: PROGRAM, env })) === 'SIGKILL') killed++;
    try {
      sameCommandWorks(place, scene.command);
      storeIsWhole(place);
      doctorMends(place);
      scene.check(place);
      storeIsWhole(place);
    } catch (error) {
      const { git: number, name, nth } = position;
      throw new Error(`killed before ${name} ${nth} of ${number}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  console.log(`${killed} of ${tried} kills of gits of agt ${scene.command.join(' ')}`);
  expect(killed).toBeGreaterThan(0);
});
