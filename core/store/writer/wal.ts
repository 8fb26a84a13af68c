// Tells when the write-ahead log is long. https://sqlite.org/fileformat2.html#walformat: every frame repeats the salt in the header,
// which a log that begins anew changes, so that one frame tells whether the log of now reaches as far.
import { closeSync, openSync, readSync } from 'node:fs';
import { frameHeaderBytes, walHeaderBytes as headerBytes } from '../wal-format.ts';

/** So many frames are worth the syncs of a checkpoint. */
const longFrames = 4_000;
const saltBytes = 8;

export interface WalGauge {
  isLong(): boolean;
  /** @param frames of the log; it is long once more when as many again as make it long have come, or when it has begun anew */
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
