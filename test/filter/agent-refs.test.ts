/** Which refs are agt's, and that one file alone spells their names. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  allNamespaces,
  namespaceOf,
  sessionNamespaces,
  shadowRef,
  tipRef,
  workRef,
} from '../../src/filter/agent-refs.ts';

const PREFIXES = [{ branchPrefix: 'agtsessions/', workPrefix: 'agt/' }];

test.each<[string, string | undefined]>([
  ['refs/heads/agt/s1', 'refs/heads/agt/'],
  ['refs/heads/agtsessions/s1', 'refs/heads/agtsessions/'],
  ['refs/heads/agtx', undefined],
  ['refs/heads/x/agt/y', undefined],
  ['refs/tags/agtsessions/x', 'refs/tags/agtsessions/'],
  ['refs/tags/agt/x', undefined],
  ['refs/agt/tip/s1', 'refs/agt/'],
  ['refs/agtx', undefined],
  ['refs/remotes/origin/agt/x', 'refs/remotes/origin/agt/'],
  ['refs/remotes/origin/z/agt/x', undefined],
  ['refs/remotes/up/stream/agt/x', 'refs/remotes/up/stream/agt/'],
  ['refs/remotes/unknown/agtsessions/x', 'refs/remotes/unknown/agtsessions/'],
  ['refs/stash', undefined],
])('the namespace of %s is %s', (ref, namespace) => {
  expect(namespaceOf(ref, PREFIXES, new Set(['origin', 'up/stream']))).toBe(namespace);
});

test('the refs of a session follow the configured prefixes, and all are in hidden namespaces', () => {
  const prefixes = { branchPrefix: 'bots/shadow/', workPrefix: 'bots/work/' };
  const refs = [tipRef('s1'), shadowRef(prefixes, 's1'), workRef(prefixes, 's1')];
  expect(refs).toEqual(['refs/agt/tip/s1', 'refs/heads/bots/shadow/s1', 'refs/heads/bots/work/s1']);
  for (const ref of refs) {
    expect(namespaceOf(ref, [prefixes])).toBeDefined();
    expect(sessionNamespaces([prefixes]).filter((namespace) => ref.startsWith(namespace))).toHaveLength(1);
  }
});

test('the namespaces of a repository are those that namespaceOf finds', () => {
  const remotes = ['origin', 'up/stream'];
  const namespaces = allNamespaces(PREFIXES, remotes);
  expect(namespaces).toHaveLength(8);
  for (const namespace of namespaces) {
    expect(namespaceOf(`${namespace}x`, PREFIXES, new Set(remotes))).toBe(namespace);
  }
});

test('no other source file spells a namespace', () => {
  const root = join(import.meta.dirname, '../../src');
  const spelling = globSync('**/*.ts', { cwd: root }).filter((path) => {
    const code = readFileSync(join(root, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    return /refs\/agt|refs\/\w+\/\$\{[^}]*[pP]refix/.test(code);
  });
  expect(spelling).toEqual(['filter/agent-refs.ts']);
});
