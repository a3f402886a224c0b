import { findKey, SETTING_KEYS } from '../../../config/keys.ts';
import { usageError } from '../../../errors.ts';
import { didYouMean } from '../../command-line/similar.ts';

/** The key that the user named. @throws AgtError if there is none of that name. */
export function requireKey(name: string): NonNullable<ReturnType<typeof findKey>> {
  const key = findKey(name);
  if (key !== undefined) return key;
  const known = SETTING_KEYS.map((setting) => setting.name);
  throw usageError(
    `unknown setting "${name}"`,
    ...didYouMean(name, known),
    `known settings: ${known.join(', ')}`,
  );
}
