import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** As many as make agt freeze the folder. */
export function writeMany(directory: string, text: string, count = 300): void {
  mkdirSync(directory, { recursive: true });
  for (let n = 0; n < count; n++) writeFileSync(join(directory, `f${n}`), `${text} ${n}\n`);
}
