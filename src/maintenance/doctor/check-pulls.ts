/** Sessions of a remote that a killed `agt session pull` has taken, and not brought here completely. */

import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { attempt } from '../../errors.ts';
import { sharedDirectory } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Finding } from './finding.ts';

export function checkPulls({ agtDir }: Repository): Finding[] {
  const directory = sharedDirectory(agtDir);
  const isUnfinished = (name: string) =>
    attempt(() => JSON.parse(readFileSync(join(directory, name), 'utf8')))?.pulling === true;
  return globSync('*.json', { cwd: directory })
    .filter(isUnfinished)
    .map((name) => {
      const about = basename(name, '.json');
      const problem = 'an earlier agt took it from a remote, and did not bring all of it here';
      return { level: 'warning', about, problem, mend: `agt session pull ${about}` };
    });
}
