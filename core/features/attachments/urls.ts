// Signed URLs of files, for browsers, which send no token with an image or a download. A URL names the file and the credential that
// requested it, and expires after minutes. Each use reads the rights of the credential again.
import { Type } from 'typebox';
import { isoTime } from '../../kernel/changes/operations.ts';
import type { Context, Services } from '../../kernel/context.ts';
import { defineRoute, type Route, type SignedClaims, type SignedRoute } from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed, described, idOf, namedSchema, time } from '../../platform/lib/schema.ts';
import { displayOf, fileOf } from './content.ts';
import { attachment } from './contract.ts';

const purpose = 'attachment-url';
const lifeMs = 5 * 60_000;
/** URLs of one minute are equal, so that browsers find an image in their cache. */
const roundMs = 60_000;

const AttachmentUrl = namedSchema(
  'AttachmentUrl',
  Closed({
    url: Type.String({
      description: 'URL of the content, which needs no token. Anyone who knows it can read the file.',
    }),
    expiresAt: described(time, 'Time at which the URL expires, within five minutes.'),
  }),
);

const params = Closed({ id: idOf(attachment.id) });

export const urlRoute: Route = defineRoute({
  method: 'GET',
  path: '/api/v1/attachments/{id}/url',
  name: 'attachments.url',
  summary: 'Get a short-lived URL of a file',
  description:
    'Browsers show a PNG, JPEG, GIF, WebP or AVIF image at the URL, and download all other files. The URL stops working when the caller loses access to the issue, or when the key, grant or session of the caller ends.',
  scope: 'attachments:read',
  rows: 'team',
  limit: 'read',
  params,
  responses: { 200: AttachmentUrl },
  errors: ['forbidden'],
  read: (ctx, input) => signedUrlOf(ctx, input.params.id),
});

/** @throws ApiError not_found, forbidden */
async function signedUrlOf(ctx: Context, id: string): Promise<{ url: string; expiresAt: string }> {
  const { baseUrl, sealing, workspaceId, scope, authority } = ctx;
  await fileOf(ctx, id);
  const { billingAccount: credentialId } = scope;
  if (credentialId === null || authority.actor.kind === 'plugin')
    throw new ApiError('forbidden', 'Only members and their apps get URLs of files. Use a key or a session.');
  const expiresAt = Math.floor(ctx.nowMs() / roundMs) * roundMs + lifeMs;
  const text = [id, workspaceId, credentialId, expiresAt / 1_000].join('.');
  return { url: `${baseUrl}/files/${text}.${sealing.sign(text, purpose)}`, expiresAt: isoTime(expiresAt) };
}

const tokenFormat =
  /^([a-z]+_[0-9a-z]{26})\.([0-9a-f-]{36})\.([a-z]+_[0-9a-z]{26})\.(\d{1,12})\.([\w-]{22})$/;

/** Returns the claims of a token; null if it is malformed, forged or has expired. */
function claimsIn(
  { sealing, nowMs }: Pick<Services, 'sealing' | 'nowMs'>,
  token: string,
): SignedClaims | null {
  const [, id = '', workspaceId = '', credentialId = '', expires = '', tag = ''] =
    tokenFormat.exec(token) ?? [];
  const text = [id, workspaceId, credentialId, expires].join('.');
  if (!sealing.verify(text, purpose, tag)) return null;
  return nowMs() < Number(expires) * 1_000 ? { id, workspaceId, credentialId } : null;
}

/** Returns the route that signed URLs lead to. It is no operation of the API, because its URLs are opaque. */
export function signedFileRoute(services: Pick<Services, 'sealing' | 'nowMs'>): SignedRoute {
  return {
    path: '/files/{token}',
    open: (token) => claimsIn(services, token),
    route: defineRoute({
      method: 'GET',
      path: '/files/{id}',
      name: 'attachments.show',
      summary: 'Show or download a file by its signed URL',
      scope: 'attachments:read',
      rows: 'team',
      limit: 'read',
      params,
      contentType: 'application/octet-stream',
      responses: { 200: Type.String({ format: 'binary' }) },
      file: (ctx, input) => displayOf(ctx, input.params.id),
    }),
  };
}
