/** The providers that there are, in the order in which `auto` prefers them if they are equally good. */
export const PROVIDER_KINDS = ['zfs', 'btrfs', 'overlay', 'git', 'agentfs'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];
