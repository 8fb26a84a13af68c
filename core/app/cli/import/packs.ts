// Packs issues into bulk requests, by number and by bytes.
import type { Outgoing } from './send.ts';

const packIssuesMax = 90;
const packBytesMax = 900_000;

export interface Packs {
  add(row: Outgoing): Promise<void>;
  /** Sends what is left. */
  end(): Promise<void>;
}

export function createPacks(send: (rows: readonly Outgoing[]) => Promise<void>): Packs {
  let pack: Outgoing[] = [];
  let bytes = 0;
  const end = async (): Promise<void> => {
    if (pack.length === 0) return;
    const rows = pack;
    pack = [];
    bytes = 0;
    await send(rows);
  };
  return {
    end,
    async add(row) {
      const size = Buffer.byteLength(JSON.stringify(row.issue));
      if (pack.length >= packIssuesMax || bytes + size > packBytesMax) await end();
      pack.push(row);
      bytes += size;
    },
  };
}
