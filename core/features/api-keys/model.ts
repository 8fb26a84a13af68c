// Model of API keys, and how keys are created and rolled. The text of a key is shown once; only its hash is
// stored.
import { type Maker, type CreationDeps, isPresent } from '../people/index.ts';
import { plain } from '../../kernel/changes/operations.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import { invalidField, ApiError } from '../../platform/lib/errors/errors.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { apiKey } from './contract.ts';
import { mintToken } from './token.ts';
import type { Directory } from '../../kernel/context.ts';
import type { Change } from '../../kernel/changes/change.ts';

export const apiKeyModel = modelOf(apiKey, {
  table: 'api_keys',
  stored: {
    secretHash: plain<string>('secret_hash'),
    /** Member who created the key; null for the operator. */
    createdBy: plain<string | null>('created_by'),
    /** API key of the creating request; null for none. */
    createdWith: plain<string | null>('created_with'),
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

interface KeyTerms {
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
    createdBy: maker?.memberId ?? null,
    createdWith: maker?.keyId ?? null,
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

export const graceHoursDefault = 24;
export const graceHoursMax = 24;

interface RollTerms {
  /** Time for which the old key stays valid; 0 revokes it in the same commit. */
  readonly graceMs: number;
  /** Scopes of the successor; default: those of the old key. */
  readonly scopes?: readonly string[];
  /**
   * Expiry of the successor, ms since the epoch; null for never. Default: the lifetime of the old key, from
   * now.
   */
  readonly expiresAt?: number | null;
  /** Member and key of the request; absent for the operator. */
  readonly maker?: Maker;
}

interface Rolled {
  readonly changes: readonly Change[];
  readonly successor: ApiKey;
  readonly old: ApiKey;
  /** Text of the successor, which is not stored. */
  readonly text: string;
}

interface RollDeps extends CreationDeps {
  readonly directory: Directory;
}

/**
 * Rolls a key: a successor gets its name, scopes and member, and the old key stays valid for a grace period,
 * so that clients can switch without downtime.
 * @throws ApiError conflict if the key has ended or was rolled before, or its member was removed;
 * validation_failed
 */
export function rollKey(of: RollDeps, key: ApiKey, terms: RollTerms): Rolled {
  const now = of.nowMs();
  const { name, memberId } = key;
  requireRollable(key, now);
  if (!isPresent(of, memberId))
    throw new ApiError('conflict', 'The member of this key was removed. Create a key for another member.');
  const { expiresAt = renewed(key, now), scopes = key.scopes, maker } = terms;
  const lineageId = key.lineageId ?? key.id;
  const successorTerms = { name, memberId, scopes, expiresAt, lineageId, ...(maker && { maker }) };
  const { change, text } = newKey(of, successorTerms);
  const ending =
    terms.graceMs === 0
      ? { revokedAt: now }
      : { expiresAt: Math.min(key.expiresAt ?? Infinity, now + terms.graceMs) };
  const rolled = apiKeyModel.update(key, { ...ending, replacedBy: change.id }, now);
  if (!rolled) throw new Error(`Rolling ${key.id} changes nothing.`);
  return { changes: [change, rolled], successor: change.after, old: rolled.after, text };
}

function requireRollable({ revokedAt, expiresAt, replacedBy }: ApiKey, now: number): void {
  const fate =
    revokedAt !== null ? 'is revoked' : expiresAt !== null && expiresAt <= now ? 'has expired' : null;
  if (replacedBy !== null)
    throw new ApiError('conflict', `This key was rolled already. Roll its successor ${replacedBy} instead.`);
  if (fate !== null) throw new ApiError('conflict', `This key ${fate}. Create a new key instead.`);
}

/** Returns the expiry that gives the successor the lifetime of the old key. */
function renewed({ expiresAt, createdAt }: ApiKey, now: number): number | null {
  return expiresAt === null ? null : now + (expiresAt - createdAt);
}
