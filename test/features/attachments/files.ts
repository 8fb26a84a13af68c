// Files and their signed URLs, for tests.
import type { Client, Json, Reply, TestApp } from '../../app.ts';

/** Smallest beginnings of the images that browsers show. */
export const images: Readonly<Record<string, string>> = {
  'image/png': '\x89PNG\r\n\x1a\n\0\0\0\rIHDR',
  'image/jpeg': '\xff\xd8\xff\xe0\0\x10JFIF\0',
  'image/gif': 'GIF89a\x01\0\x01\0',
  'image/webp': 'RIFF\x10\0\0\0WEBPVP8L',
  'image/avif': '\0\0\0\x20ftypmif1\0\0\0\0mif1avif',
};

export interface SentFile {
  /** Content as Latin-1. */
  readonly content: string;
  readonly name?: string;
  readonly contentType?: string;
}

/** Uploads a file to an issue and returns the attachment. */
export async function upload(
  app: TestApp,
  issueId: string,
  { content, name = 'a.bin', contentType = 'application/octet-stream' }: SentFile,
  key: string = app.workspace.apiKey,
): Promise<Json> {
  const query = new URLSearchParams({ name });
  const response = await fetch(`${app.url}/api/v1/issues/${issueId}/attachments/upload?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': contentType },
    body: Buffer.from(content, 'latin1'),
  });
  if (response.status !== 201) throw new Error(await response.text());
  return response.json();
}

/** Returns the path of the signed URL of a file. */
export async function signedPath(call: Client, { id }: Json): Promise<string> {
  const { status, json, text } = await call('GET', `/api/v1/attachments/${id}/url`);
  if (status !== 200) throw new Error(text);
  return new URL(json.url).pathname;
}

/** Requests a path without a token. */
export const open = (app: TestApp, path: string, headers?: Record<string, string>): Promise<Reply> =>
  app.clientOf(null)('GET', path, undefined, headers);
