// Encodes the headers of the plain tar file that a backup is (POSIX ustar). All metadata except name, size and time is fixed, so a header
// is valid only if it is reproduced byte for byte: links, folders, devices and extensions of other programs are rejected.
// docs/decisions/0024.

export const blockBytes = 512;
/** Two blocks of zeros end the file. */
export const endBytes = 2 * blockBytes;

export interface TarHeader {
  readonly name: string;
  /** Size of the content. */
  readonly bytes: number;
  /** Modification time, seconds since the epoch. */
  readonly timeS: number;
}

/** Returns the number of zeros that fill the last block of a content. */
export const paddingOf = (bytes: number): number => -bytes & (blockBytes - 1);

const nameBytesMax = 100;
/** Larger sizes do not fit into 11 octal digits; GNU tar, bsdtar and BusyBox read them in binary. */
const octalMax = 8 ** 11 - 1;
const sumField = { at: 148, bytes: 8 };

export function encodeHeader({ name, bytes, timeS }: TarHeader): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, digits: number): void =>
    void block.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  if (block.write(name, 0, nameBytesMax, 'latin1') !== name.length)
    throw new Error(`The name ${name} is too long for a part of a backup.`);
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  if (bytes <= octalMax) octal(bytes, 124, 11);
  else {
    block[124] = 0x80;
    block.writeBigUInt64BE(BigInt(bytes), 128);
  }
  octal(timeS, 136, 11);
  block.fill(' ', sumField.at, sumField.at + sumField.bytes);
  block.write('0', 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    sumField.at,
    6,
  );
  block[sumField.at + 6] = 0;
  return block;
}

/** Returns null unless the block is a header that `encodeHeader` returns. */
export function decodeHeader(block: Buffer): TarHeader | null {
  if (block.length !== blockBytes) return null;
  const octal = (at: number): number => Number.parseInt(block.toString('latin1', at, at + 11), 8);
  const header = {
    name: block.toString('latin1', 0, nameBytesMax).replace(/\0.*$/s, ''),
    bytes: block[124] === 0x80 ? Number(block.readBigUInt64BE(128)) : octal(124),
    timeS: octal(136),
  };
  const isSafe = Number.isSafeInteger(header.bytes) && Number.isSafeInteger(header.timeS);
  return isSafe && encodeHeader(header).equals(block) ? header : null;
}
