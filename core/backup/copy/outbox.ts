// Sends what the spool holds, in order, and keeps it from growing without bound while the destination is away.
import { rmSync, statSync } from 'node:fs';
import { markSent, spooledSegments, type SpooledSegment } from '../../store/spool/spool.ts';
import type { Destination } from './destination.ts';
import { chainRoot } from './names.ts';
import { sendSegment } from './send.ts';

/** Of the data directory's disk. What is more is given up, and a new base is taken once the destination is back. */
export const spoolBytesMax = 1024 * 1024 * 1024;

export interface Outbox {
  /** Sends all that waits. @returns bytes sent */
  send(): Promise<number>;
  waiting(): readonly SpooledSegment[];
  waitingBytes(): number;
  /** Forgets what waits. */
  drop(): void;
}

export function createOutbox(options: {
  destination: Destination;
  spool: string;
  installation: string;
}): Outbox {
  const { destination, spool, installation } = options;
  const waiting = (): SpooledSegment[] => spooledSegments(spool).filter(({ isSent }) => !isSent);
  return {
    waiting,
    async send() {
      let bytes = 0;
      for (const segment of waiting()) {
        bytes += await sendSegment(destination, chainRoot(installation, segment.header.chain), segment);
        markSent(spool, segment);
      }
      return bytes;
    },
    waitingBytes: () => waiting().reduce((sum, { path }) => sum + sizeOf(path), 0),
    drop: () => rmSync(spool, { recursive: true, force: true }),
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
