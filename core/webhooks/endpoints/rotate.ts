// Replaces an endpoint's signing secret. Earlier secrets go on signing beside the new one for the overlap, so that a
// receiver changes its own at leisure. docs/spec/webhooks.md › Rotation.
import { Type, type Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity, isoTime, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { mintSecret } from '../../lib/signing-secret.ts';
import { sealSecret, type PreviousSecret } from '../secret.ts';
import { Closed, named } from '../../lib/schema.ts';
import { endpointKind } from './kind.ts';
import { hourMs } from '../../lib/time.ts';

const overlapHoursDefault = 24;
export const SecretRotate = named(
  'WebhookSecretRotate',
  Closed({
    overlapHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 168,
        description:
          'How long earlier secrets go on signing beside the new one: 24 by default; 0 ends them at once.',
      }),
    ),
  }),
);

/** Every further secret puts one more signature into the headers of every delivery. */
const overlappingMax = 4;

/** @param lastSucceededAt of an endpoint: when a delivery last succeeded, whichever secret signed it */
export async function rotateSecret(
  ctx: Context,
  id: string,
  { overlapHours = overlapHoursDefault }: Static<typeof SecretRotate>,
  ifMatch: number | null,
  lastSucceededAt: (endpointId: string) => Promise<number | null>,
): Promise<ChangeSet> {
  const endpoint = await getEntity(ctx, endpointKind, id);
  const now = ctx.nowMs();
  const expiresAt = now + overlapHours * hourMs;
  const succeededAt = await lastSucceededAt(id);
  const replaced: PreviousSecret = {
    sealed: overlapHours === 0 ? null : Buffer.from(endpoint.secretSealed).toString('base64'),
    expiresAt,
    lastSucceededAt: succeededAt !== null && succeededAt >= endpoint.secretSince ? succeededAt : null,
  };
  // No earlier secret outlives the overlap: whoever rotates without one wants none of them to sign any more.
  const earlier = endpoint.previousSecrets
    .map((secret) => ({ ...secret, expiresAt: Math.min(secret.expiresAt, expiresAt) }))
    .filter((secret) => secret.sealed !== null && secret.expiresAt > now);
  if (earlier.length >= overlappingMax)
    throw new ApiError(
      'conflict',
      `${overlappingMax} earlier secrets still sign. Wait until one expires, or rotate with overlapHours 0 to end them all.`,
    );
  const secret = mintSecret();
  const set = updated(
    ctx,
    endpointKind,
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
