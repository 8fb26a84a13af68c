// Detects a long write-ahead log. https://sqlite.org/fileformat2.html#walformat: every frame repeats the salt of the header, and the salt
// changes when the log restarts, so one frame shows if the current log extends that far.
import { closeSync, openSync, readSync } from 'node:fs';
import { frameHeaderBytes, walHeaderBytes as headerBytes } from '../wal-format.ts';

/** Number of frames that justifies the syncs of a checkpoint. */
const longFrames = 4_000;
const saltBytes = 8;

export interface WalGauge {
  isLong(): boolean;
  /**
   * @param frames frames in the log; the log counts as long again after another `longFrames` frames, or after it has restarted and reached
   *   that length
   */
  checkpointed(frames: number): void;
  close(): void;
}

export function openWalGauge(path: string, pageBytes: number): WalGauge {
  const fd = openSync(path, 'r');
  const salt = Buffer.alloc(saltBytes);
  const read = Buffer.alloc(saltBytes);
  const saltAt = (at: number): Buffer | null =>
    readSync(fd, read, 0, saltBytes, at) === saltBytes ? read : null;
  let longAt = longFrames;
  return {
    isLong() {
      const now = saltAt(16);
      if (now && !now.equals(salt)) {
        now.copy(salt);
        longAt = longFrames;
      }
      const lastFrameAt = headerBytes + (longAt - 1) * (frameHeaderBytes + pageBytes);
      return saltAt(lastFrameAt + 8)?.equals(salt) ?? false;
    },
    checkpointed: (frames) => void (longAt = frames + longFrames),
    close: () => closeSync(fd),
  };
}
