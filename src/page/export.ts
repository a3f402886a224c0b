/** `agt ui --export`: timeline, review and diffs of one session in a single file, the client with all answers. */
import { createHash } from 'node:crypto';
import { AgtError } from '../errors.ts';
import { isAttached, type SessionRecord } from '../session/record.ts';
import { isEnded } from '../session/state.ts';
import { asset, HEAD } from './assets.ts';
import { answerRequest, type RequestPlace, type Run } from './requests.ts';

/** As the client asks for them (client/timeline.tsx). */
const AT_ONCE = '300';
/** Steps whose own diff is in the file; those of turns are always. */
const MOST_STEPS = 100;

interface Listed<T> {
  readonly json?: readonly T[];
  readonly err?: string;
}

export function hasReview(record: SessionRecord): boolean {
  return !isEnded(record) && !isAttached(record);
}

/** `cut` takes secrets out of a text. */
export async function exportPage(
  run: Run,
  place: RequestPlace,
  id: string,
  cut: (text: string) => string,
): Promise<string> {
  const answers: Record<string, object> = {};
  const ask = async <T>(words: readonly string[]) => {
    const answer = (await answerRequest({ words }, run, place)) as Listed<T>;
    if (answer.json === undefined) throw new AgtError(`cannot export "${id}": ${answer.err}`);
    answers[words.join(' ')] = answer;
    return answer.json;
  };
  const log = ['session', 'log', id, '--number', AT_ONCE];
  const diff = ['session', 'diff', id];
  const listed = await run(['session', 'list', '--all', '--json'], place.cwd);
  const rows: SessionRecord[] = JSON.parse(listed?.out ?? '[]');
  const row = rows.find(({ session_id }) => session_id === id);
  if (row === undefined) throw new AgtError(`no session "${id}"`, { hints: ['see: agt list --all'] });
  const turns = await ask<{ readonly number: number }>([...log, '--turns', '--json']);
  const steps = await ask<{ readonly commit: string }>([...log, '--stat', '--json']);
  if (hasReview(row)) await ask(['session', 'review', id, '--json']);
  await ask([...diff, '--base', '--patch', '--json']);
  for (const { number } of turns) await ask([...diff, '--turn', `${number}`, '--patch', '--json']);
  for (const [i, { commit }] of steps.slice(0, MOST_STEPS).entries()) {
    const before = steps[i + 1]?.commit ?? commit;
    await ask([...diff, before, commit, '--patch', '--json']);
  }
  return htmlOf(id, { rows: [row], answers }, cut);
}

function htmlOf(id: string, saved: unknown, cut: (text: string) => string): string {
  const style = asset('page.css');
  const script = asset('page.js').replaceAll('</script', '<\\/script');
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
  const data = JSON.stringify(saved, (_, value) => (typeof value === 'string' ? cut(value) : value));
  return `${HEAD.replace('<title>', `<title>${id} - `)}
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>${style}</style>
</head>
<body><div id="page"></div>
<script type="application/json" id="saved">${data.replaceAll('<', '\\u003c')}</script>
<script>${script}</script>
</body>
</html>
`;
}
