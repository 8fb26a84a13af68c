// Sends what the spool holds, in order, and keeps it from growing without bound while the destination is away.
import { rmSync, statSync } from 'node:fs';
import { markSent, readHeader, waitingPaths } from '../../store/spool/spool.ts';
import type { Destination } from './destination.ts';
import type { FilesSender } from './files.ts';
import { chainRoot } from './names.ts';
import { sendSegment, SpoolError } from './send.ts';

/** Of the data directory's disk. What is more is given up, and a new base is taken once the destination is back. */
export const spoolBytesMax = 1024 * 1024 * 1024;

export interface Outbox {
  /** Sends all that waits, behind the files that it names. @returns bytes sent @throws SpoolError */
  send(): Promise<number>;
  waitingBytes(): number;
  /** Forgets what waits. */
  drop(): void;
}

export function createOutbox(options: {
  destination: Destination;
  spool: string;
  installation: string;
  files: Pick<FilesSender, 'send'>;
}): Outbox {
  const { destination, spool, installation, files } = options;
  return {
    async send() {
      // Listed before the files are: what a segment of these names lay there already when it was written.
      const waiting = waitingPaths(spool);
      await files.send();
      let bytes = 0;
      for (const path of waiting) {
        const header = readHeader(path);
        if (!header) throw new SpoolError('a segment in the spool is damaged');
        bytes += await sendSegment(destination, chainRoot(installation, header.chain), path, header);
        markSent(spool, path);
      }
      return bytes;
    },
    waitingBytes: () => waitingPaths(spool).reduce((sum, path) => sum + sizeOf(path), 0),
    drop: () => rmSync(spool, { recursive: true, force: true }),
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
