// Content of files as a response. Browsers save a file and never render it, except for images that are recognized by their bytes.
import { getEntity } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import type { RawAnswer } from '../../kernel/http/route.ts';
import { notFound } from '../../platform/lib/errors/errors.ts';
import { digestIn } from '../../platform/store/files/blobs.ts';
import { issueModel } from '../issues/index.ts';
import { imageTypeOf, signatureBytes } from './images.ts';
import { attachmentModel } from './model.ts';

/**
 * Returns a Content-Disposition header (RFC 6266, RFC 8187): an ASCII fallback for all clients, and the full
 * name for those that support it.
 */
function dispositionOf(name: string, type: 'attachment' | 'inline'): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const whole = encodeURIComponent(name).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${type}; filename="${plain}"; filename*=UTF-8''${whole}`;
}

const unknownType = 'application/octet-stream';

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
function servedType(contentType: string): string {
  if (contentType === 'text/plain') return 'text/plain; charset=utf-8';
  return harmless.has(contentType) ? contentType : unknownType;
}

/** Returns the file as a download. @throws ApiError not_found */
export async function downloadOf(ctx: Context, id: string): Promise<RawAnswer> {
  const file = await fileOf(ctx, id);
  return answerWith(await openFile(ctx, file), {
    ...file,
    contentType: servedType(file.contentType),
    disposition: 'attachment',
  });
}

/**
 * Returns an image for display, and any other file as a download. The bytes decide, not the type that the file was uploaded with.
 * @throws ApiError not_found
 */
export async function displayOf(ctx: Context, id: string): Promise<RawAnswer> {
  const file = await fileOf(ctx, id);
  const body = await openFile(ctx, file);
  const image = imageTypeOf(await body.slice(0, signatureBytes).bytes());
  const served = servedType(file.contentType);
  const answer = answerWith(body, {
    ...file,
    contentType: image ?? (served.startsWith('image/') ? unknownType : served),
    disposition: image === null ? 'attachment' : 'inline',
  });
  // A browser asks again before each use, because the caller may have lost the right to see the file.
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'private, no-cache' } };
}

interface StoredFile {
  readonly id: string;
  readonly title: string;
  /** Media type that the file was uploaded with. */
  readonly contentType: string;
  readonly sha256: string;
}

/** @throws ApiError not_found for a link, and for an attachment that the caller may not see */
export async function fileOf(ctx: Context, id: string): Promise<StoredFile> {
  const { issueId, title, contentType, sha256 } = await getEntity(ctx, attachmentModel, id);
  await getEntity(ctx, issueModel, issueId);
  if (sha256 === null) throw notFound();
  return { id, title, contentType: contentType ?? '', sha256 };
}

async function openFile({ blobs }: Context, { id, sha256 }: StoredFile): Promise<Blob> {
  const digest = digestIn(sha256);
  if (!digest) throw new Error(`The row of ${id} has an invalid SHA-256.`);
  const body = Bun.file(blobs.pathOf(digest));
  if (!(await body.exists())) throw new Error(`The content of ${id} is missing: ${sha256}.`);
  return body;
}

interface Served extends StoredFile {
  readonly disposition: 'attachment' | 'inline';
}

function answerWith(body: Blob, { title, contentType, sha256, disposition }: Served): RawAnswer {
  return {
    contentType,
    body,
    etag: `"${sha256}"`,
    headers: {
      'content-disposition': dispositionOf(title, disposition),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
    },
  };
}
