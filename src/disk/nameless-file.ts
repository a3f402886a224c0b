/** A file that nobody has to delete. */
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For another process, which may outlive this one. The file goes with the last of them. */
export function namelessFile(content = ''): { readonly reading: number; readonly writing: number } {
  const directory = mkdtempSync(join(tmpdir(), 'agt-'));
  const path = join(directory, 'file');
  writeFileSync(path, content, { mode: 0o600 });
  const file = { reading: openSync(path, 'r'), writing: openSync(path, 'a') };
  rmSync(directory, { recursive: true });
  return file;
}
