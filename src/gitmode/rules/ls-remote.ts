/**
 * git ls-remote: what another repository has in agt's namespaces is left out. Its lines have no columns, so they are read
 * once and printed; asking a server twice, and its password, would be worse.
 */
import { hasOption, optionTable, scanOptions } from '../command-line/options.ts';
import type { Rule } from './rule.ts';

export const LS_REMOTE_OPTIONS = optionTable(`
  q|quiet upload-pack= exec= t|tags branches h|heads !b refs get-url sort= exit-code symref o|server-option=`);

/** What `--exit-code` says where no ref matches. */
const NONE_MATCHED = 2;

export const lsRemote: Rule = (args, view) => {
  const scan = scanOptions(args, LS_REMOTE_OPTIONS);
  if (scan === undefined || hasOption(scan, 'get-url') || view.namespaces.length === 0) return undefined;
  return {
    render: () => {
      const { exitCode, stdout } = view.capture(['ls-remote', ...args]);
      const lines = stdout.split('\n');
      const kept = lines.filter((line) => !view.isHiddenName(line.slice(line.indexOf('\t') + 1)));
      view.print(kept.join('\n'));
      const emptied = kept.length < lines.length && kept.every((line) => line === '');
      return emptied && exitCode === 0 && hasOption(scan, 'exit-code') ? NONE_MATCHED : exitCode;
    },
  };
};
