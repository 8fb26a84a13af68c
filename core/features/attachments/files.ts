// Routes of files. Uploads count against the quota of the workspace.
import { Type } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity } from '../../kernel/changes/operations.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute, type FileSent, type Route } from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed, idOf, nameOf } from '../../platform/lib/schema.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { issue as issueContract } from '../issues/contract.ts';
import { issueModel } from '../issues/index.ts';
import { downloadOf } from './content.ts';
import { attachment, titleMax } from './contract.ts';
import { attached } from './model.ts';
import { attachmentUsageTable } from './tables.ts';

const readUsage = attachmentUsageTable.select('read', ['bytes'], ['id']);
/** Changes no row if the files would exceed the quota, even with concurrent uploads. */
const grow = tenantStatement(
  'attachment_usage.grow',
  `INSERT INTO attachment_usage (workspace_id, id, bytes) SELECT :ws, 'files', :bytes WHERE :bytes <= :max
   ON CONFLICT (workspace_id, id) DO UPDATE SET bytes = bytes + :bytes WHERE bytes + :bytes <= :max`,
);

export const fileRoutes: readonly Route[] = [
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
    upload: (ctx, { params, query }, sent) => attachFile(ctx, params.id, query.name ?? '', sent),
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
    file: (ctx, { params }) => downloadOf(ctx, params.id),
  }),
];

/** @throws ApiError budget_exceeded */
async function requireCapacity({ store, scope, blobs }: Context, bytes: number): Promise<void> {
  const used = (await readUsage.one(store, scope, { id: 'files' }))?.bytes ?? 0;
  const max = blobs.limits.workspaceBytesMax;
  if (used + bytes > max)
    throw new ApiError(
      'budget_exceeded',
      `This file does not fit in the workspace's file quota of ${Math.floor(max / 1024 / 1024)} MiB. Delete attachments that are no longer needed.`,
    );
}

/** Control and format characters, including bidirectional overrides that make `gpj.exe` read as `exe.jpg`. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns a name without folders, of at most 255 characters; `file` if nothing is left. */
function cleanName(input: string): string {
  const last = input.replace(unseen, '').split(/[/\\]/).at(-1)!.trim();
  const name = [...last].slice(0, titleMax).join('');
  return /^\.*$/.test(name) ? 'file' : name;
}

const typeName = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;

/**
 * Returns the media type of a Content-Type header without its parameters; `application/octet-stream` if
 * invalid.
 */
function mediaTypeOf(header: string | null): string {
  const [type = ''] = (header ?? '').split(';');
  const input = type.trim().toLowerCase();
  return typeName.test(input) ? input : 'application/octet-stream';
}

async function attachFile(
  ctx: Context,
  issueId: string,
  name: string,
  { contentType, blob }: FileSent,
): Promise<ChangeSet> {
  const issue = await getEntity(ctx, issueModel, issueId);
  const { sha256, bytes } = blob;
  await requireCapacity(ctx, bytes);
  const max = ctx.blobs.limits.workspaceBytesMax;
  return {
    ...attached(ctx, issue, {
      kind: 'file',
      title: cleanName(name),
      url: null,
      bytes,
      sha256,
      contentType: mediaTypeOf(contentType),
    }),
    ops: [tenantOp(ctx.scope, grow, { bytes, max }, { expectRows: 1 })],
    beforeCommit: blob.persist,
  };
}
