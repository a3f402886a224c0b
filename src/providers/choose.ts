/** Which provider a new session gets: the one that was asked for, or the best that works at the place. */
import { AgtError } from '../errors.ts';
import { agentfsProvider } from './agentfs/provider.ts';
import { btrfsProvider } from './btrfs/provider.ts';
import { gitProvider } from './git/provider.ts';
import { PROVIDER_KINDS, type ProviderKind } from './kind.ts';
import { overlayProvider } from './overlay/provider.ts';
import type { Place } from './place.ts';
import type { Finding, Provider } from './provider.ts';
import { zfsProvider } from './zfs/provider.ts';

const PROVIDERS: Readonly<Record<ProviderKind, Provider>> = {
  zfs: zfsProvider,
  btrfs: btrfsProvider,
  overlay: overlayProvider,
  git: gitProvider,
  agentfs: agentfsProvider,
};

export function providerOf(kind: ProviderKind): Provider {
  return PROVIDERS[kind];
}

/** The findings of all providers, the best first. */
export function findAll(place: Place, kinds: readonly ProviderKind[] = PROVIDER_KINDS): Finding[] {
  const found = kinds.map((kind) => PROVIDERS[kind].find(place));
  return found.sort((a, b) => b.score - a.score);
}

/**
 * `wanted`: a value of fs.snapshots.
 * @throws AgtError with the reason if that provider cannot work there
 */
export function choose(
  place: Place,
  wanted: string,
): { readonly provider: Provider; readonly finding: Finding } {
  const isAny = wanted === 'auto' || wanted === 'disable';
  const kinds = PROVIDER_KINDS.filter((kind) => (isAny ? !PROVIDERS[kind].onRequest : kind === wanted));
  const [finding] = findAll(place, kinds);
  if (isAny && finding?.score === 0) return { provider: gitProvider, finding }; // creating the folder says why not
  if (finding === undefined || finding.score === 0) {
    const reason = finding?.notes[0] ?? 'agt has no such provider';
    throw new AgtError(`fs.snapshots "${wanted}" cannot work in ${place.directory}: ${reason}`, {
      hints: [
        ...(finding?.hint === undefined ? [] : [finding.hint]),
        'to let agt choose: --fs-snapshots auto; agt doctor shows what works here',
      ],
    });
  }
  return { provider: PROVIDERS[finding.kind], finding };
}
