// Sanitizes file names and media types, which are untrusted input, for use in paths, headers and lists.
import { titleMax } from './contract.ts';

/** Control and format characters, including bidirectional overrides that make `gpj.exe` read as `exe.jpg`. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns a name without folders, of at most 255 characters; `file` if nothing is left. */
export function cleanName(input: string): string {
  const last = input.replace(unseen, '').split(/[/\\]/).at(-1)!.trim();
  const name = [...last].slice(0, titleMax).join('');
  return /^\.*$/.test(name) ? 'file' : name;
}

/**
 * Returns a Content-Disposition header (RFC 6266, RFC 8187): an ASCII fallback for all clients, and the full
 * name for those that support it.
 */
export function dispositionOf(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const whole = encodeURIComponent(name).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

const typeName = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;

/**
 * Returns the media type of a Content-Type header without its parameters; `application/octet-stream` if
 * invalid.
 */
export function mediaTypeOf(header: string | null): string {
  const [type = ''] = (header ?? '').split(';');
  const input = type.trim().toLowerCase();
  return typeName.test(input) ? input : 'application/octet-stream';
}

/** Media types in which browsers run no active content. */
const harmless = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'video/mp4',
  'video/webm',
  'audio/mpeg',
  'audio/ogg',
  'application/pdf',
  'application/zip',
  'text/csv',
]);

/**
 * Returns the media type to serve a file with: `application/octet-stream` for types that may contain active
 * content.
 */
export function servedType(contentType: string): string {
  if (contentType === 'text/plain') return 'text/plain; charset=utf-8';
  return harmless.has(contentType) ? contentType : 'application/octet-stream';
}
