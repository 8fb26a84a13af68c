// The head of the commit log (position and hash chain), kept outside the database in two checksummed slots, so that a
// torn or flipped WAL, which SQLite silently cuts off, is detected at start instead of losing acknowledged writes.
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { writeWholeFile } from './whole-file.ts';

export interface LogHead {
  /** Number of committed groups since the installation began. */
  position: number;
  /** SHA-256 (hex) over the previous hash and what the group appended to the event log. */
  hash: string;
}

export const emptyHead: LogHead = { position: 0, hash: '0'.repeat(64) };

/** One slot is one disk sector: a write of it is atomic in practice, and the other slot still holds if it is not. */
const slotBytes = 512;
export type Slot = 0 | 1;

export interface LogHeadFile {
  read(): LogHead;
  /** Durable on return. */
  write(head: LogHead): void;
  close(): void;
}

/** @throws Error when the file exists but neither slot is whole. */
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

/** @throws Error where neither slot is whole */
export function readLogHead(path: string): LogHead {
  const bytes = readFileSync(path);
  const slots = [decode(bytes.subarray(0, slotBytes)), decode(bytes.subarray(slotBytes, 2 * slotBytes))];
  const whole = slots.filter((slot) => slot !== null).sort((a, b) => b.position - a.position);
  if (!whole[0])
    throw new Error(
      `${path} is damaged in both slots, so that nothing tells whether the database still holds every acknowledged write. ` +
        'Restore a backup with `tatami restore`. Do not delete the file: `tatami doctor` looks at what the database holds, and can accept it.',
    );
  return whole[0];
}

/** Where a start writes its head. */
export const slotOf = (head: LogHead): Slot => (head.position % 2 === 0 ? 0 : 1);

/** Not durable before a sync. */
export function writeSlot(fd: number, slot: Slot, head: LogHead): void {
  writeSync(fd, encode(head), 0, slotBytes, slot * slotBytes);
}

/** Holds this head alone from now on. An existing file is written in place: its inode names it. */
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
 * Compares the head that the database holds with the one kept outside, and returns where the log goes on.
 * @throws Error when the database lacks a commit that was acknowledged.
 */
export function checkHead(inside: LogHead | undefined, outside: LogHead): LogHead {
  if (!inside) throw new Error('The database has no log head: it was not made by Tatami.');
  if (
    inside.position < outside.position ||
    (inside.position === outside.position && inside.hash !== outside.hash)
  )
    throw new Error(
      `The database lost acknowledged writes: it ends at commit ${inside.position}, but commit ${outside.position} was acknowledged. ` +
        'Its files were damaged or replaced, or its write-ahead log was cut. Restore a backup with `tatami restore`. ' +
        'Where there is none, `tatami doctor` says what is left, and `tatami doctor fix accept` accepts it once the whole database was checked. ' +
        'Do not delete anything: a start without log-head does not make the loss undone, and may run on a damaged database.',
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
