// Recognizes images by their first bytes. Only formats that contain no scripts are recognized, so SVG is not among them.

/** Number of bytes that `imageTypeOf` needs. */
export const signatureBytes = 64;

interface Format {
  readonly type: string;
  /** @param text bytes as Latin-1 */
  is(text: string): boolean;
}

const formats: readonly Format[] = [
  { type: 'image/png', is: (text) => text.startsWith('\x89PNG\r\n\x1a\n') && text.slice(12, 16) === 'IHDR' },
  { type: 'image/jpeg', is: (text) => text.startsWith('\xff\xd8\xff') },
  { type: 'image/gif', is: (text) => /^GIF8[79]a/.test(text) },
  { type: 'image/webp', is: (text) => /^RIFF[^]{4}WEBPVP8[ LX]/.test(text) },
  { type: 'image/avif', is: (text) => brandsOf(text).some((brand) => brand === 'avif' || brand === 'avis') },
];

/** Returns the major and the compatible brands of a file in the ISO base media format (ISO/IEC 14496-12 § 4.3). */
function brandsOf(text: string): string[] {
  if (text.slice(4, 8) !== 'ftyp') return [];
  const size = Buffer.from(text.slice(0, 4), 'latin1').readUInt32BE();
  const brands = text.slice(8, 12) + text.slice(16, Math.min(size, signatureBytes));
  return brands.match(/[^]{4}/g) ?? [];
}

/** Returns the media type of an image by its first bytes; null for all other files. */
export function imageTypeOf(start: Uint8Array): string | null {
  const text = Buffer.from(start).toString('latin1');
  return formats.find((format) => format.is(text))?.type ?? null;
}
