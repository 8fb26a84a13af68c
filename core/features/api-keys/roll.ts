// Rolls a key: a successor gets its name, scopes and member, and the old key stays valid for a grace period,
// so that clients can switch without downtime.
import type { Directory } from '../../kernel/context.ts';
import { type CreationDeps, isPresent, type Maker } from '../people/index.ts';
import type { Change } from '../../kernel/changes/change.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { apiKeyModel, newKey, type ApiKey } from './model.ts';

export const graceHoursDefault = 24;
export const graceHoursMax = 24;

export interface RollTerms {
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

export interface Rolled {
  readonly changes: readonly Change[];
  readonly successor: ApiKey;
  readonly old: ApiKey;
  /** Text of the successor, which is not stored. */
  readonly text: string;
}

interface RollDeps extends CreationDeps {
  readonly directory: Directory;
}

/** @throws ApiError conflict if the key has ended or was rolled before, or its member was removed; validation_failed */
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
