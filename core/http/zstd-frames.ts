// Checks that bytes consist of complete Zstandard frames (RFC 8878 §3.1). The decoder of the runtime does not: it accepts a frame that
// ends too early, and bytes after the last one.

const frameMagic = 0xfd2fb528;
/** Magic number of skippable frames, whose last four bits may have any value. */
const skippableMagic = 0x184d2a50;
const headerBytes = { magic: 4, descriptor: 1, block: 3, skippable: 8, checksum: 4 } as const;
/** Sizes in bytes of the dictionary id and of the content size, by the value of their flags. */
const dictionaryBytes = [0, 1, 2, 4] as const;
const contentSizeBytes = [0, 2, 4, 8] as const;
const blockTypes = { raw: 0, repeated: 1, compressed: 2, reserved: 3 } as const;

/** Reads only the headers; the decoder checks the content of the blocks. */
export function isWholeZstd(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at < bytes.length) {
    const end = endOfFrame(view, at);
    if (end === null || end > bytes.length) return false;
    at = end;
  }
  return bytes.length > 0;
}

/** Returns the offset of the next frame, which may be past the last byte; null if it cannot be determined. */
function endOfFrame(view: DataView, start: number): number | null {
  const left = view.byteLength - start;
  if (left < headerBytes.magic + headerBytes.descriptor) return null;
  const magic = view.getUint32(start, true);
  if ((magic & ~0xf) >>> 0 === skippableMagic)
    return left < headerBytes.skippable
      ? null
      : start + headerBytes.skippable + view.getUint32(start + headerBytes.magic, true);
  if (magic !== frameMagic) return null;
  const descriptor = view.getUint8(start + headerBytes.magic);
  const end = endOfBlocks(view, start + headerBytes.magic + headerBytes.descriptor + fieldsOf(descriptor));
  const hasChecksum = (descriptor & 0b100) !== 0;
  return end === null ? null : end + (hasChecksum ? headerBytes.checksum : 0);
}

/** Returns the number of bytes in the frame header after its descriptor. */
function fieldsOf(descriptor: number): number {
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const sizeFlag = (descriptor >> 6) as 0 | 1 | 2 | 3;
  const idFlag = (descriptor & 0b11) as 0 | 1 | 2 | 3;
  // A single segment has no window descriptor, and always states its content size.
  const window = isSingleSegment ? 0 : 1;
  const contentSize = isSingleSegment && sizeFlag === 0 ? 1 : contentSizeBytes[sizeFlag];
  return window + dictionaryBytes[idFlag] + contentSize;
}

function endOfBlocks(view: DataView, start: number): number | null {
  let at = start;
  for (;;) {
    if (at + headerBytes.block > view.byteLength) return null;
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const type = (header >> 1) & 0b11;
    if (type === blockTypes.reserved) return null;
    at += headerBytes.block + (type === blockTypes.repeated ? 1 : header >>> 3);
    if ((header & 1) !== 0) return at;
  }
}
