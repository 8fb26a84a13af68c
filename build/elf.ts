// Strips an ELF executable of any architecture; the system's `strip` handles only its own. The bytes after
// the last segment are symbols and debug information, a seventh of the size of Node.

const [magic, wide, littleEndian] = [0x7f454c46, 2, 1];
/** Offsets in the header of a 64-bit file (System V ABI, ELF header). */
const at = {
  segments: 32,
  sections: 40,
  segmentBytes: 54,
  segmentCount: 56,
  sectionCount: 60,
  sectionNames: 62,
};
const inSegment = { offset: 8, bytes: 32 };

/** @throws Error if the input is not a 64-bit little-endian ELF file */
export function withoutSymbols(program: Uint8Array): Uint8Array {
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  if (view.getUint32(0) !== magic || program[4] !== wide || program[5] !== littleEndian)
    throw new Error('The file is not a 64-bit ELF file.');
  const table = Number(view.getBigUint64(at.segments, true));
  const each = view.getUint16(at.segmentBytes, true);
  const count = view.getUint16(at.segmentCount, true);
  const ends = Array.from({ length: count }, (_, index) => {
    const segment = table + index * each;
    const offset = view.getBigUint64(segment + inSegment.offset, true);
    return Number(offset + view.getBigUint64(segment + inSegment.bytes, true));
  });
  const stripped = program.slice(0, Math.max(table + count * each, ...ends));
  const header = new DataView(stripped.buffer);
  header.setBigUint64(at.sections, 0n, true);
  header.setUint16(at.sectionCount, 0, true);
  header.setUint16(at.sectionNames, 0, true);
  return stripped;
}
