/** Which provider a new session gets: the one that was asked for, or the best that works at the place. */
import { existsSync } from 'node:fs';
import { AgtError } from '../errors.ts';
import { agentfsProvider } from './agentfs/provider.ts';
import { btrfsProvider } from './btrfs.ts';
import { gitProvider } from './git.ts';
import { overlayProvider } from './overlay/provider.ts';
import type { Finding, Place, Provider } from './provider.ts';
import { carriesNonce, PROVIDER_KINDS, type ProviderKind, type Token } from './token.ts';
import { zfsProvider } from './zfs.ts';

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

/** Whether a frozen folder is there, and still has the content of the instant at which agt froze it. */
export function isWhole(token: Token): boolean {
  const { kind, path } = token;
  return existsSync(path) && carriesNonce(path, token) && PROVIDERS[kind].isFrozen?.(path) !== false;
}

/** The findings of all providers, the best first. */
export function findAll(place: Place, kinds: readonly ProviderKind[] = PROVIDER_KINDS): Finding[] {
  const found = kinds.map((kind) => PROVIDERS[kind].find(place));
  return found.sort((a, b) => b.score - a.score);
}

/** `wanted`: a value of fs.snapshots. @throws AgtError with the reason if that provider cannot work there */
export function choose(place: Place, wanted: string): Provider {
  const isAny = wanted === 'auto' || wanted === 'disable';
  const kinds = PROVIDER_KINDS.filter((kind) => (isAny ? !PROVIDERS[kind].onRequest : kind === wanted));
  const [finding] = findAll(place, kinds);
  if (isAny && finding?.score === 0) return gitProvider; // creating the folder says why not
  if (finding === undefined || finding.score === 0) {
    const reason = finding?.notes[0] ?? 'agt has no such provider';
    throw new AgtError(`fs.snapshots "${wanted}" cannot work in ${place.directory}: ${reason}`, {
      hints: [
        ...(finding?.hint === undefined ? [] : [finding.hint]),
        'to let agt choose: --fs-snapshots auto; agt doctor shows what works here',
      ],
    });
  }
  return PROVIDERS[finding.kind];
}
