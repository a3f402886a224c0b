/** Where accepted work is now, as the commands say it. The page has this in the browser: it imports nothing. */

/** As `agt list --json` and `agt activity --json` tell it. */
export interface Landing {
  readonly commit: string;
  readonly onto: string;
  readonly lost: boolean;
  readonly elsewhere: boolean;
  readonly now_as: string | null;
  readonly reverted_by: string | null;
  readonly reverted_in_part: boolean;
}

const short = (commit: string) => commit.slice(0, 10);

/** `9b6a52d7ab on main` */
export function landingPlace(landing: Landing): string {
  const { commit, onto, lost, elsewhere, now_as, reverted_by, reverted_in_part } = landing;
  const part = reverted_in_part ? 'in part ' : '';
  const reverted = reverted_by === null ? '' : `, ${part}reverted by ${short(reverted_by)}`;
  const now = now_as === null ? '' : `, now ${short(now_as)}`;
  const stands = lost ? '; that commit is no longer' : now;
  const [before, after] = elsewhere ? [', not', ' here'] : [stands, reverted];
  return `${short(commit)}${before} on ${onto}${after}`;
}
