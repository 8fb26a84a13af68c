// The head of the commit log (position and hash chain), stored outside the database in two checksummed slots. SQLite silently cuts off a
// torn or bit-flipped WAL; the head lets a start detect that instead of losing acknowledged writes.
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { writeWholeFile } from './files/installation.ts';

export interface LogHead {
  /** Number of committed groups since the installation was created. */
  position: number;
  /** SHA-256 (hex) of the previous hash and the batches of the group that append to the event log. */
  hash: string;
}

export const emptyHead: LogHead = { position: 0, hash: '0'.repeat(64) };

/** A slot is one disk sector: its write is atomic in practice, and if it is not, the other slot is still valid. */
const slotBytes = 512;
export type Slot = 0 | 1;

export interface LogHeadFile {
  read(): LogHead;
  /** The head is durable on return. */
  write(head: LogHead): void;
  close(): void;
}

/** @throws Error if the file exists but both slots are damaged */
export function openLogHead(path: string): LogHeadFile {
  if (!existsSync(path)) writeWholeFile(path, Buffer.concat([encode(emptyHead), encode(emptyHead)]));
  const fd = openSync(path, 'r+');
  return {
    read: () => readLogHead(path),
    write(head) {
      writeSlot(fd, slotOf(head), head);
      fdatasyncSync(fd);
    },
    close: () => closeSync(fd),
  };
}

/** @throws Error if both slots are damaged */
export function readLogHead(path: string): LogHead {
  const bytes = readFileSync(path);
  const slots = [decode(bytes.subarray(0, slotBytes)), decode(bytes.subarray(slotBytes, 2 * slotBytes))];
  const whole = slots.filter((slot) => slot !== null).sort((a, b) => b.position - a.position);
  if (!whole[0])
    throw new Error(
      `${path} is damaged in both slots: Tatami cannot tell if the database still holds every acknowledged write. ` +
        'Restore a backup with `tatami restore`. Do not delete the file: `tatami doctor` inspects the database, and `tatami doctor fix accept` can accept it.',
    );
  return whole[0];
}

/** Slot in which a start writes the head. */
export const slotOf = (head: LogHead): Slot => (head.position % 2 === 0 ? 0 : 1);

/** The head is durable only after a sync. */
export function writeSlot(fd: number, slot: Slot, head: LogHead): void {
  writeSync(fd, encode(head), 0, slotBytes, slot * slotBytes);
}

/** Writes this head to both slots. An existing file is written in place, because the directory's identity records its inode. */
export function resetLogHead(path: string, head: LogHead): void {
  if (!existsSync(path)) writeWholeFile(path, Buffer.concat([encode(head), encode(head)]));
  const fd = openSync(path, 'r+');
  try {
    for (const slot of [0, 1] as const) writeSlot(fd, slot, head);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Compares the head in the database with the one outside it, and returns the head at which the log continues.
 * @throws Error if the database lacks an acknowledged commit
 */
export function checkHead(inside: LogHead | undefined, outside: LogHead): LogHead {
  if (!inside) throw new Error('The database has no log head: it was not made by Tatami. Restore a backup.');
  if (
    inside.position < outside.position ||
    (inside.position === outside.position && inside.hash !== outside.hash)
  )
    throw new Error(
      `The database lost acknowledged writes: it ends at commit ${inside.position}, but commit ${outside.position} was acknowledged. ` +
        'Its files were damaged or replaced, or its write-ahead log was cut. Restore a backup with `tatami restore`. ' +
        'If there is no backup, `tatami doctor` reports what is left, and `tatami doctor fix accept` accepts it after a check of the whole database. ' +
        'Do not delete any files: a start without log-head does not undo the loss, and may run on a damaged database.',
    );
  return { position: inside.position, hash: inside.hash };
}

function encode(head: LogHead): Buffer {
  const text = `${head.position} ${head.hash}`;
  return Buffer.from(`${text} ${checksum(text)}\n`.padEnd(slotBytes, ' '));
}

function decode(slot: Buffer): LogHead | null {
  const [position = '', hash = '', sum = ''] = slot.toString('latin1').trimEnd().split(' ');
  if (sum !== checksum(`${position} ${hash}`)) return null;
  return { position: Number(position), hash };
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
