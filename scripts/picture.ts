/**
 * Draws docs/terminal.svg, README's picture: a real run in a terminal. Events as Claude Code sends them
 * stand for the agent.
 * Needs `npm run build`, and script(1) of util-linux.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const root = join(import.meta.dirname, '..');
const home = mkdtempSync(join(tmpdir(), 'agt-picture-'));
const project = join(home, 'project');
const env = {
  PATH: `${home}/bin:${process.env['PATH']}`,
  HOME: home,
  TERM: 'xterm-256color',
  PAGER: 'cat',
  LC_ALL: 'C.UTF-8',
};
const sh = (command: string, input = '') =>
  execFileSync('sh', ['-ec', command], { cwd: project, env, input, encoding: 'utf8' });

/** The acts of the agent, each with the event that it sends then. */
const STEPS: readonly (readonly [command: string, event: object])[] = [
  ['', { hook_event_name: 'UserPromptSubmit', prompt: 'make it fast' }],
  ['echo fast = true >src/config.py', usedTool('Edit', { file_path: 'src/config.py' })],
  ['echo KEY=1 >.env', usedTool('Write', { file_path: '.env' })],
  ['rm -r src .env', usedTool('Bash', { command: 'rm -r src .env' })],
];

const LINES: readonly (string | (() => void))[] = [
  'agt hooks install claude-code',
  () => {
    for (const [command, event] of STEPS) {
      sh(command);
      sh('agt hook claude-code', JSON.stringify({ ...event, session_id: 'c', cwd: project }));
    }
  },
  'ls -A',
  'agt snapshot list',
  'agt undo',
  'ls -A . src',
];

/** A line, and who wrote it. */
type Shown = readonly [text: string, kind?: 'typed' | 'note'];

const TITLE = 'agt records the steps of an agent, and goes back';
const COMMENT = 'The agent works: “make it fast”. Its last step is: rm -r src .env';

try {
  for (const directory of ['bin', 'project/src', '.claude'])
    mkdirSync(join(home, directory), { recursive: true });
  symlinkSync(join(root, 'dist/agt'), join(home, 'bin/agt'));
  writeFileSync(join(project, 'src/config.py'), 'fast = false\n');
  sh('git init -qb main && git add . && git -c user.name=A -c user.email=a@example.com commit -qm Start');
  const shown = LINES.flatMap((line): Shown[] => {
    if (typeof line === 'string') return [[`$ ${line}`, 'typed'], ...output(line), ['']];
    line();
    return [[`# ${COMMENT}`, 'note'], ['']];
  });
  writeFileSync(join(root, 'docs/terminal.svg'), draw(shown.slice(0, -1)));
} finally {
  rmSync(home, { recursive: true });
}

function usedTool(tool_name: string, tool_input: object): object {
  return { hook_event_name: 'PostToolUse', tool_name, tool_use_id: tool_name, tool_input };
}

/** As a terminal of 100 columns gets it. */
function output(command: string): Shown[] {
  const text = sh(`script -qec 'stty cols 100; ${command}' /dev/null`);
  const plain = stripVTControlCharacters(text).replaceAll(home, '~').replace(/\r/g, '').trimEnd();
  return plain.split('\n').map((line) => [line]);
}

function draw(lines: readonly Shown[]): string {
  const [column, row, margin] = [8.5, 19, 16];
  const width = Math.max(...lines.map(([text]) => text.length)) * column + 2 * margin;
  const height = lines.length * row + 2 * margin;
  const rows = lines.map(([text, kind = 'printed'], n) => {
    const escaped = text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
    return `<text class="${kind}" x="${margin}" y="${margin + 14 + n * row}">${escaped}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
<title>${TITLE}</title>
<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre}
.printed{fill:#d6d9e0}.typed{fill:#fff;font-weight:bold}.note{fill:#8b93a3}</style>
<rect width="100%" height="100%" rx="8" fill="#1b1f27"/>
${rows.join('\n')}
</svg>
`;
}
