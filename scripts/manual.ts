/**
 * Writes docs/agt.1 from the declarations of the commands. With --check it writes nothing, and fails if the page is out
 * of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND_GROUPS } from '../src/agtmode/commands/index.ts';
import { manualPage } from '../src/agtmode/output/help.ts';

const root = join(import.meta.dirname, '..');
const path = join(root, 'docs', 'agt.1');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const page = manualPage(COMMAND_GROUPS, version);

if (process.argv.includes('--check')) {
  if (readFileSync(path, 'utf8') !== page) {
    console.error('error: docs/agt.1 is out of date\nhint: npm run manual');
    process.exitCode = 1;
  }
} else {
  writeFileSync(path, page);
}
