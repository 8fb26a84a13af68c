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
    /** The member who asked for it; null for the operator. */
    mintedBy: plain<string | null>('minted_by'),
    /** The key that asked for it. */
    mintedWith: plain<string | null>('minted_with'),
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
  /** Absent where the operator asks for it. */
  readonly maker?: Maker;
  /** First key of the chain that a rolled key continues. */
  readonly lineageId?: string;
}

/** The member who makes something, and the key that asks for it; null where no key does. */
export interface Maker {
  readonly memberId: string | null;
  readonly keyId: string | null;
}

/**
 * @returns the change that makes a key, and its text, which is nowhere else
 * @throws ApiError validation_failed for one that would have ended already
 */
export function newKey({ ids, nowMs }: Pick<Context, 'ids' | 'nowMs'>, { maker, ...terms }: KeyTerms) {
  const token = mintToken();
  const now = nowMs();
  if (terms.expiresAt !== null && terms.expiresAt <= now)
    throw invalidField('expiresAt', 'too_small', 'Give a time in the future.');
  const change = apiKeyKind.create({
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
