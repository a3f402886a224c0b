/**
 * git rebase. With rebase.updateRefs it moves every branch that points to a rebased commit, an agent's too, and takes
 * no exceptions. The rule switches the setting off while there are agents' branches. `--update-refs` on the command
 * line does as the user says.
 */

import { HEADS } from '../../git/files/ref-files.ts';
import { configValue, isConfigTrue, namespacesUnder } from '../view/view.ts';
import type { Rule } from './rule.ts';

export const rebase: Rule = (args, view) => {
  if (namespacesUnder(view, HEADS).length === 0) return undefined;
  return isConfigTrue(configValue(view, 'rebase.updaterefs'))
    ? { config: ['rebase.updateRefs=false'], args }
    : undefined;
};
