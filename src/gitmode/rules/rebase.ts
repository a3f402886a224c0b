/**
 * git rebase. With rebase.updateRefs it moves every branch in its way, an agent's too, and knows no exceptions; the
 * setting is switched off where there are agents' branches. `--update-refs` on the command line is left as asked.
 */

import { HEADS } from '../../git/files/refnames.ts';
import { configIsTrue, lastConfig, namespacesUnder } from '../view/view.ts';
import type { Rule } from './rule.ts';

export const rebase: Rule = (args, view) => {
  if (namespacesUnder(view, HEADS).length === 0) return undefined;
  return configIsTrue(lastConfig(view, 'rebase.updaterefs'))
    ? { config: ['rebase.updateRefs=false'], args }
    : undefined;
};
