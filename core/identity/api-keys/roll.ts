// Rolls a key: a successor takes over its name, scopes and member, and the old key goes on for a while, so that whoever uses it can
// change over without a gap.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { isPresent } from '../members/roles.ts';
import { apiKeyKind, newKey, type ApiKey, type Maker } from './kind.ts';

export const graceHoursDefault = 24;
export const graceHoursMax = 24;

export interface RollTerms {
  /** So long the old key goes on; 0 revokes it in the same commit. */
  readonly graceMs: number;
  /** Of the successor; by default those of the old key. */
  readonly scopes?: readonly string[];
  /** Of the successor; by default it lives as long as the old one was made to. */
  readonly expiresAt?: number | null;
  /** Absent where the operator asks for it. */
  readonly maker?: Maker;
}

export interface Rolled {
  readonly changes: readonly Change[];
  readonly successor: ApiKey;
  readonly old: ApiKey;
  /** The text of the successor, which is nowhere else. */
  readonly text: string;
}

type Of = Pick<Context, 'ids' | 'nowMs' | 'directory'>;

/** @throws ApiError conflict for a key that has ended or was rolled before, or whose member was removed; validation_failed */
export function rollKey(of: Of, key: ApiKey, terms: RollTerms): Rolled {
  const now = of.nowMs();
  const { name, memberId } = key;
  requireRollable(key, now);
  if (!isPresent(of, memberId))
    throw new ApiError(
      'conflict',
      'The member of this key was removed, so its successor would be refused. Make one for another member.',
    );
  const { expiresAt = renewed(key, now), scopes = key.scopes, maker } = terms;
  const lineageId = key.lineageId ?? key.id;
  const made = { name, memberId, scopes, expiresAt, lineageId, ...(maker && { maker }) };
  const { change, text } = newKey(of, made);
  const ending =
    terms.graceMs === 0
      ? { revokedAt: now }
      : { expiresAt: Math.min(key.expiresAt ?? Infinity, now + terms.graceMs) };
  const rolled = apiKeyKind.update(key, { ...ending, replacedBy: change.id }, now);
  if (!rolled) throw new Error(`Rolling ${key.id} changes nothing.`);
  return { changes: [change, rolled], successor: change.after, old: rolled.after, text };
}

function requireRollable({ revokedAt, expiresAt, replacedBy }: ApiKey, now: number): void {
  const fate =
    revokedAt !== null ? 'is revoked' : expiresAt !== null && expiresAt <= now ? 'has expired' : null;
  if (replacedBy !== null)
    throw new ApiError('conflict', `This key was rolled before. Roll its successor ${replacedBy} instead.`);
  if (fate !== null) throw new ApiError('conflict', `This key ${fate}. Make a new one instead.`);
}

/** Another time of the same length. */
function renewed({ expiresAt, createdAt }: ApiKey, now: number): number | null {
  return expiresAt === null ? null : now + (expiresAt - createdAt);
}
