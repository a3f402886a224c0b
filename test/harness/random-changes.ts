/** Random changes of a session folder, the same for the same seed. */
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { write } from './world.ts';

/** Numbers below `n`, the same for the same seed. */
export function randomFrom(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // such as a file in the place of a directory: it fails in both sessions
  }
}

/** One round of changes, which the seed decides. */
export function change(folder: string, seed: number): void {
  const random = randomFrom(seed);
  const directory = () =>
    join(
      folder,
      ['sandbox', 'sandbox/d', 'sandbox/d/e', 'sandbox/many', 'xdg', 'config'][random(6)] as string,
    );
  const path = () => join(directory(), `${['f', 'g\u00e9', 'h i'][random(3)]}${random(30)}`);
  for (let n = 0; n < 30; n++) {
    const [kind, one, other] = [random(8), path(), path()];
    const text = `${seed} ${random(1000)}\n`;
    attempt(() => {
      if (kind < 2) write(one, text);
      else if (kind === 2) rmSync(one, { recursive: true, force: true });
      else if (kind === 3) renameSync(one, other);
      else if (kind === 4) chmodSync(one, [0o600, 0o755, 0o644][random(3)] as number);
      else if (kind === 5) symlinkSync('target', one);
      else if (kind === 6) mkdirSync(other);
      else write(join(one, 'below'), text);
    });
  }
  if (seed % 3 !== 0)
    for (let n = 0; n < 280; n++) attempt(() => write(join(folder, `sandbox/many/f${n}`), `${seed} ${n}\n`));
  if (seed % 5 === 4) rmSync(join(folder, 'sandbox/many'), { recursive: true, force: true });
}
