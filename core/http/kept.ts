// A body that is the same for everybody, such as the OpenAPI document: coded once for each coding that somebody took, and known by its
// entity tag, so that asking again costs next to nothing.
import { encodeAside, type Coding } from './coding.ts';
import { etagOf } from './etag.ts';

type Body = string | Uint8Array<ArrayBuffer>;

export interface Kept {
  readonly etag: string;
  /** @param coding null: as it is */
  in(coding: Coding | null): Promise<Body>;
}

/** Coded once and sent often, it is worth more effort than other answers. */
const levels = { zstd: 12, gzip: 9 };

/** @param read called again for whoever takes no coding */
export async function keep(read: () => Body | Promise<Body>): Promise<Kept> {
  const coded = new Map<Coding, Promise<Body>>();
  return {
    etag: etagOf(undefined, await read()),
    async in(coding) {
      if (coding === null) return read();
      const made =
        coded.get(coding) ?? Promise.resolve(read()).then((body) => encodeAside(body, coding, levels));
      coded.set(coding, made);
      // The next one tries again.
      made.catch(() => coded.delete(coding));
      return made;
    },
  };
}
