/**
 * git ls-remote: agt prints git's output without the refs in agt's namespaces of the other repository. An argument
 * could do the same, but only after asking the server, and perhaps for the password, twice.
 */
import { hasOption, optionTable, parseOptions } from '../command-line/options.ts';
import type { Rule } from './rule.ts';

const LS_REMOTE_OPTIONS = optionTable(`
  q|quiet upload-pack= exec= t|tags branches h|heads !b refs get-url sort= exit-code symref o|server-option=`);

/** The exit code with `--exit-code`, when no ref matches. */
const NO_REF_MATCHED = 2;

export const lsRemote: Rule = (args, view) => {
  const parsed = parseOptions(args, LS_REMOTE_OPTIONS);
  if (parsed === undefined || hasOption(parsed, 'get-url') || view.namespaces.length === 0) return undefined;
  return {
    filtered: () => {
      const { exitCode, stdout } = view.capture(['ls-remote', ...args]);
      const lines = stdout.split('\n');
      const kept = lines.filter((line) => !view.isAgentRef(line.slice(line.indexOf('\t') + 1)));
      const onlyHidden = kept.length < lines.length && kept.every((line) => line === '');
      const fails = onlyHidden && exitCode === 0 && hasOption(parsed, 'exit-code');
      return { exitCode: fails ? NO_REF_MATCHED : exitCode, stdout: kept.join('\n') };
    },
  };
};
