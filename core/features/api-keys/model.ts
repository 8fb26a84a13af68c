// Model of API keys, and their creation. The text of a key is shown once; only its hash is stored.
import type { Maker, CreationDeps } from '../people/index.ts';
import { plain } from '../../kernel/changes/operations.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { apiKey } from './contract.ts';
import { mintToken } from './token.ts';

export const apiKeyModel = modelOf(apiKey, {
  table: 'api_keys',
  stored: {
    secretHash: plain<string>('secret_hash'),
    /** Member who created the key; null for the operator. */
    mintedBy: plain<string | null>('minted_by'),
    /** API key of the creating request; null for none. */
    mintedWith: plain<string | null>('minted_with'),
    lineageId: plain<string | null>('lineage_id'),
  },
  events: (before, after) => (before ? endings(before, after) : ['api_key.created']),
});

export type ApiKey = NonNullable<Awaited<ReturnType<typeof apiKeyModel.find>>>;

interface Ending {
  readonly replacedBy: string | null;
  readonly revokedAt: number | null;
}

function endings(before: Ending, after: Ending): EventType[] {
  const rolled: EventType[] = before.replacedBy === after.replacedBy ? [] : ['api_key.rolled'];
  return before.revokedAt === after.revokedAt ? rolled : [...rolled, 'api_key.revoked'];
}

export interface KeyTerms {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly memberId: string;
  /** Milliseconds since the epoch; null for a key that does not expire. */
  readonly expiresAt: number | null;
  /** Member and key of the creating request; absent for the operator. */
  readonly maker?: Maker;
  /** Id of the first key in the chain of rolled keys. */
  readonly lineageId?: string;
}

/**
 * @returns the change that creates the key, and the text of the key, which is not stored
 * @throws ApiError validation_failed for an expiry in the past
 */
export function newKey({ ids, nowMs }: CreationDeps, { maker, ...terms }: KeyTerms) {
  const token = mintToken();
  const now = nowMs();
  if (terms.expiresAt !== null && terms.expiresAt <= now)
    throw invalidField('expiresAt', 'too_small', 'Give a time in the future.');
  const change = apiKeyModel.create({
    ...terms,
    scopes: [...terms.scopes],
    mintedBy: maker?.memberId ?? null,
    mintedWith: maker?.keyId ?? null,
    lineageId: terms.lineageId ?? null,
    id: ids.next(apiKey.id),
    prefix: token.prefix,
    secretHash: token.hash,
    revokedAt: null,
    lastUsedAt: null,
    replacedBy: null,
    createdAt: now,
    updatedAt: now,
  });
  return { change, text: token.text };
}
