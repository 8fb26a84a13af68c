// Upload and download of files. Uploads count against the quota of the workspace. Downloads carry headers
// that make browsers save the file and never render it.
import { Type } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity } from '../../changes/operations.ts';
import { schemasOf } from '../../contract/schemas.ts';
import type { Context } from '../../context.ts';
import { defineRoute, type FileSent, type RawAnswer, type Route } from '../../http/route.ts';
import { ApiError, notFound } from '../../lib/errors.ts';
import { Closed, idOf, nameOf } from '../../lib/schema.ts';
import { digestIn } from '../../store/blobs.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import { issue as issueContract } from '../issues/contract.ts';
import { issueModel, type Issue } from '../issues/kind.ts';
import type { Attaching } from './attachments.ts';
import { attachment } from './contract.ts';
import { attachmentModel } from './kind.ts';
import { cleanName, dispositionOf, mediaTypeOf, servedType } from './names.ts';

const readUsage = tenantStatement<{ bytes: number }>(
  'attachment_usage.read',
  "SELECT bytes FROM attachment_usage WHERE workspace_id = :ws AND id = 'files'",
);
/** Changes no row if the files would exceed the quota, even with concurrent uploads. */
const grow = tenantStatement(
  'attachment_usage.grow',
  `INSERT INTO attachment_usage (workspace_id, id, bytes) SELECT :ws, 'files', :bytes WHERE :bytes <= :max
   ON CONFLICT (workspace_id, id) DO UPDATE SET bytes = bytes + :bytes WHERE bytes + :bytes <= :max`,
);

type Attach = (ctx: Context, issue: Issue, what: Attaching) => ChangeSet;

export const fileRoutes = (attach: Attach): readonly Route[] => [
  defineRoute({
    method: 'POST',
    path: '/api/v1/issues/{id}/attachments/upload',
    name: 'attachments.upload',
    summary: 'Attach a file to an issue',
    description:
      'The body is the raw file, and Content-Type its media type. Files count against the quota of the workspace. A retry with the same Idempotency-Key must send the same file and the same name.',
    scope: 'attachments:write',
    rows: 'team',
    limit: 'write',
    params: Closed({ id: nameOf(issueContract) }),
    query: Closed({
      name: Type.Optional(
        Type.String({
          maxLength: 1_000,
          description: 'Name of the file; default `file`.',
        }),
      ),
    }),
    responses: { 201: schemasOf(attachment).response },
    errors: ['budget_exceeded'],
    async admitsFile(ctx, { params }, announcedBytes) {
      await getEntity(ctx, issueModel, (params as { id: string }).id);
      await requireCapacity(ctx, announcedBytes ?? 0);
    },
    upload: (ctx, { params, query }, sent) => attachFile(ctx, attach, params.id, query.name ?? '', sent),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/attachments/{id}/content',
    name: 'attachments.content',
    summary: 'Get the content of a file',
    description: 'Sent as a download; browsers do not open it.',
    scope: 'attachments:read',
    rows: 'team',
    limit: 'read',
    params: Closed({ id: idOf(attachment.id) }),
    contentType: 'application/octet-stream',
    responses: {
      200: Type.String({ format: 'binary', description: 'Content of the file as uploaded.' }),
      206: Type.String({ format: 'binary', description: 'One range of the file.' }),
    },
    file: (ctx, { params }) => contentOf(ctx, params.id),
  }),
];

/** @throws ApiError budget_exceeded */
async function requireCapacity({ store, scope, blobs }: Context, bytes: number): Promise<void> {
  const used = (await store.readOne(scope, readUsage))?.bytes ?? 0;
  const max = blobs.limits.workspaceBytesMax;
  if (used + bytes > max)
    throw new ApiError(
      'budget_exceeded',
      `This file does not fit in the workspace's file quota of ${Math.floor(max / 1024 / 1024)} MiB. Delete attachments that are no longer needed.`,
    );
}

async function attachFile(
  ctx: Context,
  attach: Attach,
  issueId: string,
  name: string,
  { contentType, blob }: FileSent,
): Promise<ChangeSet> {
  const issue = await getEntity(ctx, issueModel, issueId);
  const { sha256, bytes } = blob;
  await requireCapacity(ctx, bytes);
  const max = ctx.blobs.limits.workspaceBytesMax;
  return {
    ...attach(ctx, issue, {
      ...{ kind: 'file', title: cleanName(name), url: null, bytes, sha256 },
      contentType: mediaTypeOf(contentType),
    }),
    ops: [tenantOp(ctx.scope, grow, { bytes, max }, { expectRows: 1 })],
    beforeCommit: blob.persist,
  };
}

async function contentOf(ctx: Context, id: string): Promise<RawAnswer> {
  const { issueId, title, contentType, sha256 } = await getEntity(ctx, attachmentModel, id);
  await getEntity(ctx, issueModel, issueId);
  if (sha256 === null) throw notFound();
  const digest = digestIn(sha256);
  if (!digest) throw new Error(`The row of ${id} has an invalid SHA-256.`);
  const body = Bun.file(ctx.blobs.pathOf(digest));
  if (!(await body.exists())) throw new Error(`The content of ${id} is missing: ${sha256}.`);
  return {
    contentType: servedType(contentType ?? ''),
    body,
    etag: `"${digest}"`,
    headers: {
      'content-disposition': dispositionOf(title),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
    },
  };
}
