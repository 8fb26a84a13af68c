// Parts that are on disk when Tatami runs from source, and embedded in the executable. From source,
// `embedded` is null, and callers find or build the parts. The build replaces this file by
// `core/app/executable/embedded.ts`.

export interface Embedded {
  /** Returns the path of a file on disk, which is unpacked on demand. @throws Error saying what to do */
  nodePath(): string;
  isolatedVmPath(): string;
  sidecarPrograms(): { sidecar: string; guest: string };
  /** Packages of the first-party plugins, by name. */
  plugins(): Readonly<Record<string, unknown>>;
  /** Built web app, in the format of `core/app/dashboard/pack.ts`. */
  dashboard(): Uint8Array<ArrayBuffer>;
  /** SDK that plugins import, including types: path below the SDK's folder → source. */
  sdkFiles(): Readonly<Record<string, string>>;
  /** Unpacks missing files, so that an unusable directory is reported at startup. @throws Error saying what to do */
  prepare(): void;
  /** Unpacks missing files and checks the hash of all. @returns their paths */
  verify(): string[];
}

export const embedded: Embedded | null = null;
