// Damages of a data directory from a seed: faults of disks, cables, copies and people.
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Random = () => number;

export interface DamageCase {
  /** Source directory: from a stopped server, or from a killed one with commits in the log. */
  readonly base: 'closed' | 'killed';
  readonly file: string;
  readonly how: string;
  /** @returns true if the file changed */
  apply(dir: string): boolean;
}

const pageBytes = 8192;
/** Repeated names are damaged more often. */
const files = [
  ...Array<string>(12).fill('tatami.db'),
  ...['tatami.db-wal', 'tatami.db-wal', 'tatami.db-wal', 'tatami.db-sums', 'tatami.db-sums'],
  ...['log-head', 'identity'],
];

const spanOf = (random: Random, length: number, unit: number): [from: number, to: number] => {
  const from = Math.floor(random() * Math.ceil(length / unit)) * unit;
  return [from, Math.min(length, from + unit)];
};

type Damaging = (bytes: Buffer, random: Random, older: Buffer | null) => Buffer;

const ways: Readonly<Record<string, Damaging>> = {
  'one bit flipped': (bytes, random) => {
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return bytes;
  },
  'one byte of text made 0xff': (bytes, random) => {
    const start = Math.floor(random() * bytes.length);
    // Offset that is likely to be within a text.
    const at = bytes.findIndex((byte, index) => index >= start && byte >= 0x61 && byte <= 0x7a);
    bytes[at < 0 ? start : at] = 0xff;
    return bytes;
  },
  'a sector zeroed': (bytes, random) => bytes.fill(0, ...spanOf(random, bytes.length, 512)),
  'a page zeroed': (bytes, random) => bytes.fill(0, ...spanOf(random, bytes.length, pageBytes)),
  'a page of garbage': (bytes, random) => {
    const [from, to] = spanOf(random, bytes.length, pageBytes);
    for (let at = from; at < to; at++) bytes[at] = Math.floor(random() * 256);
    return bytes;
  },
  'a page written in place of another': (bytes, random) => {
    const [from, to] = spanOf(random, bytes.length, pageBytes);
    const [target] = spanOf(random, bytes.length, pageBytes);
    bytes.copy(bytes, target, from, to);
    return bytes;
  },
  'an earlier version of a page': (bytes, random, older) => {
    const [from, to] = spanOf(random, Math.min(bytes.length, older?.length ?? 0), pageBytes);
    older?.copy(bytes, from, from, to);
    return bytes;
  },
  cut: (bytes, random) => bytes.subarray(0, Math.floor(random() * bytes.length)),
  'truncated at a page': (bytes, random) => bytes.subarray(0, spanOf(random, bytes.length, pageBytes)[0]),
  emptied: (bytes) => bytes.subarray(0, 0),
};

/** @param older earlier state of the database */
export function damageOfSeed(random: Random, older: Buffer): DamageCase {
  const base = random() < 0.5 ? 'closed' : 'killed';
  const wanted = files[Math.floor(random() * files.length)] ?? '';
  const file = wanted === 'tatami.db-wal' && base === 'closed' ? 'tatami.db' : wanted;
  const names = Object.keys(ways);
  const how = names[Math.floor(random() * names.length)] ?? '';
  return {
    base,
    file,
    how,
    apply(dir) {
      const path = join(dir, file);
      if (!existsSync(path)) throw new Error(`${file} is not there.`);
      const bytes = readFileSync(path);
      const damaged = ways[how]?.(Buffer.from(bytes), random, file === 'tatami.db' ? older : null) ?? bytes;
      // In place, because another inode would be another fault.
      if (damaged.length < statSync(path).size) truncateSync(path, damaged.length);
      writeFileSync(path, damaged, { flag: 'r+' });
      return !damaged.equals(bytes);
    },
  };
}
