/** agt diff --turn: what a turn changed, beside what others did meanwhile. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, makeRepository, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { makeFolder } from './turns-in-folder.ts';

test('the diff of a turn has what the list of turns has, also after an undo within a call', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('kept', '1\n'), () => {
    edit('undone', '2\n')();
    agtOk(folder, 'undo');
    edit('after', '3\n')();
  });
  const [listed] = JSON.parse(agtOk(folder, 'snapshot', 'list', '--turns', '--json'));
  expect(listed.files.map(({ path }: { path: string }) => path).join('\n')).toBe('kept\nundone\nafter');
  expect(agtOk(folder, 'snapshot', 'diff', '--turn', '1', '--name-only')).toBe('kept\nundone\nafter');
});

test('a change of a person between two calls makes a second comparison only if it is in a file of the turn', () => {
  const folder = makeRepository({ a: 'a\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  const call = (id: string, text: string) => {
    agent.begins(id);
    write(join(folder, 'own'), text);
    agent.ends(id);
  };
  const list = (turn: string) =>
    JSON.parse(agtOk(folder, 'diff', '--turn', turn, '--json')).map(
      ({ path, status }: Record<string, string>) => [path, status].join(' '),
    );
  agent.says('one');
  call('1', '1\n');
  write(join(folder, 'mine'), 'mine\n');
  call('2', '1\n2\n');
  expect(list('1')).toEqual(['own added']);
  expect(agtOk(folder, 'diff', '--turn', '1', '--shortstat').trim()).toBe('1 file changed, 2 insertions(+)');
  agent.says('two');
  call('3', '1\n2\n3\n');
  write(join(folder, 'own'), 'mine\n1\n2\n3\n');
  call('4', 'mine\n1\n2\n3\n4\n');
  expect(list('2')).toEqual(['own modified', 'own modified']);
  expect(agtOk(folder, 'diff', '--turn', '2')).not.toContain('+mine');
});

test('of two agents at work at once, neither has changes that are known to be its own alone', () => {
  const folder = makeRepository({ a: 'a\n' });
  const [one, two] = [agentIn(folder, 'claude-code', 'c-1'), agentIn(folder, 'codex', 'c-2')];
  one.says('one');
  two.says('two');
  one.begins('1');
  two.begins('2');
  write(join(folder, 'of-either'), 'text\n');
  two.ends('2');
  expect(agtOk(folder, 'diff', '--turn', '1')).toBe('');
  for (const words of [
    ['--turn', '1'],
    ['--agent', 'codex'],
  ])
    expect(agt(folder, 'undo', ...words).stderr).toContain('error: no change is known to be of ');
});
