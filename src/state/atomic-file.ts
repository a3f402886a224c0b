import { renameSync, writeFileSync } from 'node:fs';
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  writeFileSync(`${path}.tmp`, content);
  renameSync(`${path}.tmp`, path);
}
