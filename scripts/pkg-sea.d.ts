/** The part of @yao-pkg/pkg that scripts/build.ts uses; the package declares no types for it. */
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
