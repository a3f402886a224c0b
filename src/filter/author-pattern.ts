/**
 * Patterns for `--author` that leave an agent's commits out. Git matches `Name <email>`; a pattern that consumed
 * anything would be coloured on a terminal, so ours has no width. Several --author are alternatives, so each of the
 * user's own is guarded by itself.
 *
 * They need PCRE, and then all of the user's patterns on the line must be PCRE too: toPerl() translates what it is
 * sure of and gives up on the rest.
 */

export type PatternType = 'basic' | 'extended' | 'fixed' | 'perl';

/** For a line on which the user gave no --author. */
export function visibleAuthor(email: string): string {
  return `(?-i:(?<!<${escapePerl(email)}>)$)`;
}

/** The user's own pattern, in PCRE, for visible authors only. A line with bytes that are no characters is visible. */
export function visibleAuthorLike(pattern: string, email: string): string {
  return `(?:${pattern})(?-i:(?:(?=.*(?<!<${escapePerl(email)}>)$)|(?!.*$)))`;
}

/**
 * The same without PCRE: the ways in which a line can fail to end in the address, as alternatives that mean the same
 * in basic and extended expressions. A terminal colours a letter of them.
 */
export function visibleAuthorAlternatives(email: string): string[] {
  const ending = `<${email}>`;
  return [...ending].map((char, i) => {
    const rest = ending.slice(i + 1).replace(/[.*[\]^$\\+?(){}|]/g, '[$&]');
    return `[^${char}]${rest.replaceAll('[^]', '\\^')}$`;
  });
}

export function escapePerl(text: string): string {
  return text.replace(/[^A-Za-z0-9_\s\u0080-\uffff]/g, '\\$&');
}

/** A pattern of another type as PCRE, or undefined where it is not sure to mean the same. */
export function toPerl(pattern: string, type: PatternType): string | undefined {
  if (pattern.includes('\n')) return undefined; // several patterns
  if (type === 'perl') return pattern;
  if (type === 'fixed') return escapePerl(pattern);
  let out = '';
  let mayRepeat = false; // an atom stands before
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] as string;
    const escaped = char === '\\';
    const token = escaped ? pattern[++i] : char;
    if (token === undefined) return undefined;
    const isOperator = '+?|()'.includes(token) && escaped === (type === 'basic');
    if (!escaped && token === '[') {
      const set = /^\[\^?\]?[^[\]\\]*\]/.exec(pattern.slice(i))?.[0];
      if (set === undefined) return undefined;
      out += set.replace(/^\[(\^?)\]/, '[$1\\]');
      i += set.length - 1;
      mayRepeat = true;
    } else if (!escaped && token === '*') {
      if (!mayRepeat && type === 'extended') return undefined;
      out += mayRepeat ? '*' : '\\*';
      mayRepeat = !mayRepeat;
    } else if (!escaped && (token === '^' || token === '$')) {
      const atEdge = token === '^' ? i === 0 : i === pattern.length - 1;
      if (!atEdge) return undefined;
      out += token;
    } else if (!escaped && token === '.') {
      out += '.';
      mayRepeat = true;
    } else if (isOperator) {
      if ((token === '+' || token === '?') && !mayRepeat) return undefined;
      out += token;
      mayRepeat = token === ')';
    } else if (token === '{' || token === '}') {
      if (escaped || type === 'extended') return undefined;
      out += `\\${token}`;
      mayRepeat = true;
    } else if (escaped && /[A-Za-z0-9<>`']/.test(token)) {
      return undefined; // a back reference, a class of glibc's
    } else {
      out += escapePerl(token);
      mayRepeat = true;
    }
  }
  return out;
}
