/** The files over which a command line writes its output, whatever they hold. */
import type { CommandLine } from '../command-line/parse.ts';

/** Relative to the directory in which git runs. */
export function writtenFiles({ command, args }: CommandLine): string[] {
  const end = args.indexOf('--');
  const words = args.slice(0, end < 0 ? undefined : end);
  const found = words.flatMap((word, i) => {
    if (word.startsWith('--output=')) return [word.slice('--output='.length)];
    const next = args[i + 1];
    if (word === '--output' || (word === '-o' && command === 'archive'))
      return next === undefined ? [] : [next];
    return /^-o./.test(word) && command === 'archive' ? [word.slice(2)] : [];
  });
  const [verb, ...rest] = words;
  const bundle =
    command === 'bundle' && verb === 'create' ? rest.find((word) => !word.startsWith('-')) : undefined;
  return bundle === undefined || bundle === '-' ? found : [...found, bundle];
}
