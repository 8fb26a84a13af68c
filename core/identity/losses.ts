// What ends when a member loses a role or is removed, and when a key is revoked: the keys, links and other things that the member or the
// key handed out. Whoever takes the right away commits it along. docs/decisions/0076.
import type { Change } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { Role } from '../rights/roles.ts';
import type { Op } from '../store/store.ts';
import { endHandedBy, endMadeWith } from './api-keys/handed.ts';
import type { ApiKey } from './api-keys/kind.ts';
import { withdrawHandedOp, withdrawMadeWithOp } from './invitations/invitations.ts';
import { roles } from './members/contract.ts';

export type Losing = Pick<Context, 'store' | 'scope' | 'ids' | 'nowMs' | 'directory'>;

interface Loser {
  readonly id: string;
  readonly name: string;
  /** What the member is from now on; null for one who is removed. */
  readonly role: Role | null;
}

export interface Loss {
  /** Null where a key alone is revoked. */
  readonly member: Loser | null;
  /** Of the member or of the key. */
  readonly name: string;
  /** All that is made with these ends. */
  readonly keyIds: readonly string[];
}

/** Changes and ops of the commit that takes the right away. */
export interface Ended {
  readonly changes: readonly Change[];
  readonly ops: readonly Op[];
}

type Dependents = (losing: Losing, loss: Loss) => Promise<Ended>;
const dependents: Dependents[] = [];

/** Has something end with the right of its maker. To be called once for each sort of it, when its module is loaded. */
export function endsWithMaker(end: Dependents): void {
  dependents.push(end);
}

/** The roles that a member can hand out: as an admin any but owner, as an owner any. */
function mayHandOut(role: Role | null): readonly Role[] {
  if (role === 'owner') return roles;
  return role === 'admin' ? roles.filter((one) => one !== 'owner') : [];
}

/** What a member handed out and may hand out no longer. */
export async function lossOfMember(losing: Losing, member: Loser): Promise<Ended> {
  const { id, name, role } = member;
  const left = mayHandOut(role);
  const keys = await endHandedBy(losing, id, left);
  const links = withdrawHandedOp(losing.scope, id, left);
  return withDependents(losing, { member, name, keyIds: keys.ids }, keys, [links]);
}

/** What a key that is revoked handed out. A key that was rolled has a successor, which takes that over. */
export async function lossOfKey(losing: Losing, key: ApiKey): Promise<Ended> {
  const keys = await endMadeWith(losing, key);
  if (!keys) return { changes: [], ops: [] };
  const others = keys.changes.filter(({ id }) => id !== key.id);
  return withDependents(
    losing,
    { member: null, name: key.name, keyIds: keys.ids },
    { ...keys, changes: others },
  );
}

async function withDependents(
  losing: Losing,
  loss: Loss,
  keys: Ended,
  ops: readonly Op[] = [],
): Promise<Ended> {
  const rest = await Promise.all(dependents.map((end) => end(losing, loss)));
  return {
    changes: [keys, ...rest].flatMap(({ changes }) => changes),
    ops: [
      ...[keys, ...rest].flatMap((one) => one.ops),
      ...ops,
      withdrawMadeWithOp(losing.scope, loss.keyIds),
    ],
  };
}
