// How an API key is stored and told of, and how one is made: its text is shown once and only its hash is kept.
import { plain } from '../../changes/columns.ts';
import type { Context } from '../../context.ts';
import type { EventType } from '../../events/catalogue.ts';
import { invalidField } from '../../lib/errors.ts';
import { kindOf } from '../../resource/kind.ts';
import { apiKey } from './contract.ts';
import { mintToken } from './token.ts';

export const apiKeyKind = kindOf(apiKey, {
  table: 'api_keys',
  kept: {
    secretHash: plain<string>('secret_hash'),
    mintedBy: plain<string | null>('minted_by'),
    lineageId: plain<string | null>('lineage_id'),
  },
  events: (before, after) => (before ? endings(before, after) : ['api_key.created']),
});

export type ApiKey = NonNullable<Awaited<ReturnType<typeof apiKeyKind.find>>>;

interface Ending {
  readonly replacedBy: string | null;
  readonly revokedAt: number | null;
}

function endings(before: Ending, after: Ending): EventType[] {
  const rolled: EventType[] = before.replacedBy === after.replacedBy ? [] : ['api_key.rolled'];
  return before.revokedAt === after.revokedAt ? rolled : [...rolled, 'api_key.revoked'];
}

/** What a key is made with. */
export interface KeyTerms {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly memberId: string;
  /** Milliseconds since the epoch; null for a key that does not expire. */
  readonly expiresAt: number | null;
  /** The member who asks for it; absent where the operator does. */
  readonly mintedBy?: string;
  /** First key of the chain that a rolled key continues. */
  readonly lineageId?: string;
}

/**
 * @returns the change that makes a key, and its text, which is nowhere else
 * @throws ApiError validation_failed for one that would have ended already
 */
export function newKey({ ids, nowMs }: Pick<Context, 'ids' | 'nowMs'>, terms: KeyTerms) {
  const token = mintToken();
  const now = nowMs();
  if (terms.expiresAt !== null && terms.expiresAt <= now)
    throw invalidField('expiresAt', 'too_small', 'Give a time in the future.');
  const change = apiKeyKind.create({
    ...terms,
    scopes: [...terms.scopes],
    mintedBy: terms.mintedBy ?? null,
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
