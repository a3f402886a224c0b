/**
 * Patterns for `--author` that leave out the agent's commits. git matches them against `Name <email>` and colours the
 * matched text on a terminal, so ours match no text: they have zero width. Several --author options are alternatives,
 * so each of the user's own gets the condition.
 *
 * The patterns need PCRE (`-P`), which then applies to all patterns of the command line: toPcre() translates those of
 * the user, and gives up when the result might match other text.
 */

export type PatternType = 'basic' | 'extended' | 'fixed' | 'perl';

/** The pattern for a command line without --author. */
export function notByAgent(email: string): string {
  return `(?-i:(?<!<${escapePcre(email)}>)$)`;
}

/** The user's own PCRE for others than the agent. A line of invalid UTF-8 matches: PCRE sees no end. */
export function notByAgentAndMatching(pattern: string, email: string): string {
  return `(?:${pattern})(?-i:(?:(?=.*(?<!<${escapePcre(email)}>)$)|(?!.*$)))`;
}

/**
 * The same without PCRE, as alternatives: each matches lines that differ from the agent's address in one character.
 * They mean the same in basic and extended expressions. On a terminal git colours the letters that they match.
 */
export function notByAgentWithoutPcre(email: string): string[] {
  const ending = `<${email}>`;
  return [...ending].map((char, i) => {
    const rest = ending.slice(i + 1).replace(/[.*[\]^$\\+?(){}|]/g, '[$&]');
    return `[^${char}]${rest.replaceAll('[^]', '\\^')}$`;
  });
}

export function escapePcre(text: string): string {
  return text.replace(/[^A-Za-z0-9_\s\u0080-\uffff]/g, '\\$&');
}

/** The pattern in PCRE, or undefined when the result might match other text. */
export function toPcre(pattern: string, type: PatternType): string | undefined {
  if (pattern.includes('\n')) return undefined; // git reads each line as a pattern
  if (type === 'perl') return pattern;
  if (type === 'fixed') return escapePcre(pattern);
  return posixToPcre(pattern, type);
}

function posixToPcre(pattern: string, type: 'basic' | 'extended'): string | undefined {
  let out = '';
  let mayRepeat = false; // whether there is an atom for an operator such as `*` to repeat
  const add = (text: string, isAtom: boolean) => {
    out += text;
    mayRepeat = isAtom;
  };
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] as string;
    const escaped = char === '\\';
    const token = escaped ? pattern[++i] : char;
    if (token === undefined) return undefined;
    const isOperator = '+?|()'.includes(token) && escaped === (type === 'basic');
    if (!escaped && token === '[') {
      const set = /^\[\^?\]?[^[\]\\]*\]/.exec(pattern.slice(i))?.[0];
      if (set === undefined) return undefined;
      add(set.replace(/^\[(\^?)\]/, '[$1\\]'), true);
      i += set.length - 1;
    } else if (!escaped && token === '*') {
      if (!mayRepeat && type === 'extended') return undefined;
      add(mayRepeat ? '*' : '\\*', !mayRepeat);
    } else if (!escaped && (token === '^' || token === '$')) {
      if (i !== (token === '^' ? 0 : pattern.length - 1)) return undefined;
      out += token;
    } else if (!escaped && token === '.') {
      add('.', true);
    } else if (isOperator) {
      if ((token === '+' || token === '?') && !mayRepeat) return undefined;
      add(token, token === ')');
    } else if (token === '{' || token === '}') {
      if (escaped || type === 'extended') return undefined;
      add(`\\${token}`, true);
    } else {
      // A back reference, or a class that only glibc knows.
      if (escaped && /[A-Za-z0-9<>`']/.test(token)) return undefined;
      add(escapePcre(token), true);
    }
  }
  return out;
}
