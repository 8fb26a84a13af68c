// Cached zstd compression: Node takes half a minute at the best level, and changes only with its version.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, writeCached } from './paths.ts';

export interface Compressed {
  readonly content: Uint8Array;
  /** Size and hash before compression. */
  readonly bytes: number;
  readonly sha256: string;
}

/** @param level of zstd, from 1 to 19 */
export async function compress(whole: Uint8Array, level: number): Promise<Compressed> {
  const sha256 = createHash('sha256').update(whole).digest('hex');
  const cached = join(cacheDir, `${sha256}.${level}.zst`);
  if (!existsSync(cached)) writeCached(cached, await Bun.zstdCompress(whole, { level }));
  return { content: readFileSync(cached), bytes: whole.length, sha256 };
}
