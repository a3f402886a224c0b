/** Colours of code. The highlighter writes HTML; here its parts become texts with a class, so that no content is markup. */
import hljs from 'highlight.js/lib/common';

/** By the end of a name, where the highlighter does not know it. */
const ENDS: Readonly<Record<string, string>> = { cfg: 'ini', vue: 'xml' };

export interface Part {
  readonly text: string;
  readonly cls: string;
}

/** Characters; a longer text would keep the page busy. */
const LONGEST_TEXT = 200_000;
const LONGEST_LINE = 2_000;

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" },
};

/** One list for each line. */
export function highlight(path: string, lines: readonly string[]): Part[][] {
  const text = lines.join('\n');
  const end = path.replace(/^.*[./]/, '').toLowerCase();
  const language = ENDS[end] ?? end;
  const isPlain =
    hljs.getLanguage(language) === undefined ||
    text.length > LONGEST_TEXT ||
    lines.some((line) => line.length > LONGEST_LINE);
  if (isPlain) return lines.map((line) => [{ text: shorten(line), cls: '' }]);
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true });
  const result: Part[][] = [[]];
  const open: string[] = [];
  for (const [part, cls] of value.matchAll(/<span class="([^"]*)">|<\/span>|[^<]+/g)) {
    if (cls !== undefined) open.push(cls);
    else if (part === '</span>') open.pop();
    else {
      const plain = part.replace(/&(amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
      for (const [i, piece] of plain.split('\n').entries()) {
        if (i > 0) result.push([]);
        if (piece !== '') result.at(-1)?.push({ text: piece, cls: open.at(-1) ?? '' });
      }
    }
  }
  return result;
}

function shorten(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  return `${line.slice(0, LONGEST_LINE)} … ${line.length - LONGEST_LINE} more characters`;
}
