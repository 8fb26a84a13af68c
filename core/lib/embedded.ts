// What lies beside the program when it runs from source, and inside it when it is one executable. From source there is nothing
// embedded: whoever needs a part finds or makes it. The build puts `core/executable/embedded.ts` in the place of this file.

export interface Embedded {
  /** Paths of what must be a file on a disk to run; unpacked where it is not there yet. @throws Error saying what to do */
  nodePath(): string;
  isolatedVmPath(): string;
  /** What runs in a sidecar, bundled. */
  sidecarPrograms(): { sidecar: string; guest: string };
  /** Packages of the plugins that come with Tatami, by name. */
  plugins(): Readonly<Record<string, unknown>>;
  /** What a plugin imports as the SDK, types included: path below the SDK's folder → source. */
  sdkFiles(): Readonly<Record<string, string>>;
  /** Unpacks what is not there yet, so that a directory that will not do is told at the start. @throws Error saying what to do */
  prepare(): void;
  /** The same, with every file read whole and compared with what it was built from. @returns their paths */
  verify(): string[];
}

export const embedded: Embedded | null = null;
