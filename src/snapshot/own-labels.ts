/** Labels that agt gives. agt assumes that a person gave every other label, and keeps it. */
export function isOwnLabel(label: string): boolean {
  return /^(after the switch|before (remove|accept|sync|doctor|removed|accepted|rejected|reverted|the (session|return)|fork to [A-Za-z0-9._-]+|git .*))$/.test(
    label,
  );
}
