// Replaces an endpoint's signing secret. Deliveries stay signed with earlier secrets during the overlap, so that
// receivers can switch in time. Spec: docs/spec/webhooks.md › Rotation.
import { Type, type Static } from 'typebox';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { getEntity, isoTime, updated } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { mintSecret } from '../../../platform/lib/secrets/tokens.ts';
import { sealSecret, type PreviousSecret } from '../secret.ts';
import { Closed, namedSchema } from '../../../platform/lib/schema.ts';
import { endpointModel } from './model.ts';
import { hourMs } from '../../../platform/lib/time/time.ts';

const overlapHoursDefault = 24;
export const SecretRotate = namedSchema(
  'WebhookSecretRotate',
  Closed({
    overlapHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 168,
        description:
          'Hours during which deliveries are also signed with earlier secrets; default 24, 0 for none.',
      }),
    ),
  }),
);

/** Maximum number of earlier secrets, because each adds a signature to the headers of every delivery. */
const overlappingMax = 4;

/** @param lastSucceededAt returns the time of the last successful delivery to an endpoint, with any secret */
export async function rotateSecret(
  ctx: Context,
  id: string,
  { overlapHours = overlapHoursDefault }: Static<typeof SecretRotate>,
  ifMatch: number | null,
  lastSucceededAt: (endpointId: string) => Promise<number | null>,
): Promise<ChangeSet> {
  const endpoint = await getEntity(ctx, endpointModel, id);
  const now = ctx.nowMs();
  const expiresAt = now + overlapHours * hourMs;
  const succeededAt = await lastSucceededAt(id);
  const replaced: PreviousSecret = {
    sealed: overlapHours === 0 ? null : Buffer.from(endpoint.secretSealed).toString('base64'),
    expiresAt,
    lastSucceededAt: succeededAt !== null && succeededAt >= endpoint.secretSince ? succeededAt : null,
  };
  // The overlap also bounds all earlier secrets: a rotation without overlap ends every one of them.
  const earlier = endpoint.previousSecrets
    .map((secret) => ({ ...secret, expiresAt: Math.min(secret.expiresAt, expiresAt) }))
    .filter((secret) => secret.sealed !== null && secret.expiresAt > now);
  if (earlier.length >= overlappingMax)
    throw new ApiError(
      'conflict',
      `${overlappingMax} earlier secrets are still in use. Wait until one expires, or rotate with overlapHours 0 to end all of them.`,
    );
  const secret = mintSecret();
  const set = updated(
    ctx,
    endpointModel,
    endpoint,
    {
      secretSealed: sealSecret(ctx.sealing, ctx.workspaceId, id, secret),
      secretSince: now,
      previousSecrets: [replaced, ...earlier],
    },
    ifMatch,
  );
  return {
    ...set,
    body: { id, secret, previousSecretExpiresAt: isoTime(expiresAt), version: endpoint.version + 1 },
  };
}
