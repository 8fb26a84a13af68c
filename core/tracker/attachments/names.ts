// Names and media types of files, which strangers choose: what is dangerous in a path, a header or before somebody's eyes goes no further.
import { titleMax } from './contract.ts';

/** Control characters, and those that turn the direction of text, so that `gpj.exe` is read as `exe.jpg`. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A name without folders, of at most 255 characters; `file` where nothing is left. */
export function cleanName(given: string): string {
  const last = given.replace(unseen, '').split(/[/\\]/).at(-1)!.trim();
  const name = [...last].slice(0, titleMax).join('');
  return /^\.*$/.test(name) ? 'file' : name;
}

/** RFC 6266 with RFC 8187: what every client reads, and the whole name for those that can. */
export function dispositionOf(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const whole = encodeURIComponent(name).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

const typeName = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;

/** The media type that a request names, without its parameters. */
export function givenType(header: string | null): string {
  const [type = ''] = (header ?? '').split(';');
  const given = type.trim().toLowerCase();
  return typeName.test(given) ? given : 'application/octet-stream';
}

/** What no browser runs anything of. */
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

/** The media type that a file is sent with. */
export function servedType(contentType: string): string {
  if (contentType === 'text/plain') return 'text/plain; charset=utf-8';
  return harmless.has(contentType) ? contentType : 'application/octet-stream';
}
