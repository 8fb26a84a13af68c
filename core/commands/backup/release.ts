export interface ReleaseOptions {
  dataDir?: string;
  json?: boolean;
}
export async function release(_o: ReleaseOptions, _f: string): Promise<void> {}
