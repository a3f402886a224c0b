/** The part of @yao-pkg/pkg that scripts/packaging uses; the package declares no types for it. */
declare module '@yao-pkg/pkg/lib-es5/sea.js' {
  interface SeaOptions {
    targets: { platform: string; arch: string; nodeRange: string; output: string }[];
    nodePath: string;
    signature: boolean;
    seaConfig: Record<string, unknown>;
  }
  const sea: { default: (entry: string, options: SeaOptions) => Promise<void> };
  export default sea;
}

/** As above: pkg's own way to put a resource into an executable. */
declare module 'postject' {
  export function inject(
    file: string,
    resource: string,
    content: Buffer,
    options: { sentinelFuse: string; machoSegmentName: string },
  ): Promise<void>;
}
