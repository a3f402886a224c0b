/** `npm run test:quick` needs no build: it runs the test files in which no word stands for the built executable. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export const isQuick = (process.env['AGT_TEST_QUICK'] ?? '') !== '';

const EXECUTABLE =
  /\b(AGT|GIT_MODE|agtOk|makeSession|newSession|sessionIn|copyOf|tryAutocommit|notingShim|KILLABLE|Front)\b|\bagt\(|\bdist\/(agt|git|main|frequent|failure)/;

/** They offer the executable, and other things too. */
const OFFERS = ['test/harness/world.ts', 'test/harness/session.ts', 'test/harness/front.ts'];

function needsBuild(path: string, seen = new Set<string>()): boolean {
  if (seen.has(path) || OFFERS.includes(path)) return false;
  seen.add(path);
  const text = readFileSync(join(root, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const imported = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, to = '']) => join(dirname(path), to));
  const tests = imported.filter((to) => to.startsWith('test/') && existsSync(join(root, to)));
  return EXECUTABLE.test(text) || tests.some((to) => needsBuild(to, seen));
}

export function quickTests(): string[] {
  return globSync('test/**/*.test.ts', { cwd: root }).filter((path) => !needsBuild(path));
}
