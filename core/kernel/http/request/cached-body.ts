// Caches a body that is the same for all callers, such as the OpenAPI document: compressed once per requested coding and identified by
// its entity tag, so that repeated requests cost almost nothing.
import { encodeAside, type Coding } from './coding.ts';
import { etagOf } from '../response/etag.ts';

type Body = string | Uint8Array<ArrayBuffer>;

export interface CachedBody {
  readonly etag: string;
  /** @param coding null for the uncompressed body */
  in(coding: Coding | null): Promise<Body>;
}

/** Higher levels than for other responses, because the body is compressed once and sent often. */
const levels = { zstd: 12, gzip: 9 };

/** @param read called again for each uncompressed response */
export async function cacheBody(read: () => Body | Promise<Body>): Promise<CachedBody> {
  const coded = new Map<Coding, Promise<Body>>();
  return {
    etag: etagOf(undefined, await read()),
    async in(coding) {
      if (coding === null) return read();
      const encoded =
        coded.get(coding) ?? Promise.resolve(read()).then((body) => encodeAside(body, coding, levels));
      coded.set(coding, encoded);
      // After a failure the next request tries again.
      encoded.catch(() => coded.delete(coding));
      return encoded;
    },
  };
}
