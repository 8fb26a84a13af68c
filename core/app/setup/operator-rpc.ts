// The operator API, for everybody with access to the data directory.
import { createKeyRpc, type OperatorRpcOptions } from './keys/key-rpc.ts';
import type { OperatorRpc } from './rpc-schemas.ts';
import { isoTime } from '../../kernel/changes/operations.ts';
import {
  accountById,
  accountsByEmail,
  workspaceNamesOf,
  type Account,
  newInvitation,
} from '../../features/people/index.ts';
import { turnOffOps, newReset } from '../../features/sign-in/index.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { scopeOf, type Store } from '../../platform/store/store.ts';
import type { Role } from '../../kernel/rights/roles.ts';
import { findMember, findWorkspace } from './keys/find.ts';
import type { MemberRpc } from './members/rpc-schemas.ts';

// Operator API for people: creates invitation and reset links without authentication. Access to the data directory already implies access
// to all its data.

const seatOf = tenantStatement<{ joined_at: number | null; role: Role; email: string | null }>(
  'members.joined_at',
  'SELECT joined_at, role, email FROM members WHERE workspace_id = :ws AND id = :id',
);

function createMemberRpc(options: OperatorRpcOptions): MemberRpc {
  const { store } = options;
  return {
    async invite({ workspace, member }) {
      const { id: workspaceId } = await findWorkspace(store, workspace);
      const scope = scopeOf(workspaceId);
      const { id, name } = await findMember(store, scope, member);
      const seat = await store.readOne(scope, seatOf, { id });
      if (!seat) throw new ApiError('not_found');
      if (seat.joined_at !== null)
        throw new ApiError(
          'conflict',
          `${name} has joined already. To replace a lost password, run: tatami members reset <address>`,
        );
      const { url, expiresAt, op } = newInvitation(options, scope, {
        member: { id, role: seat.role, email: seat.email },
        by: 'The server administrator',
      });
      await store.commit([op]);
      return { workspaceId, member: { id, name }, url, expiresAt: isoTime(expiresAt) };
    },
    async reset({ email: reference, codesOff = false }) {
      const account = await findAccount(store, reference);
      const { url, expiresAt, op } = newReset(options, account, false);
      await store.commit([op, ...(codesOff ? turnOffOps(account.id) : [])]);
      return { email: account.email, url, expiresAt: isoTime(expiresAt) };
    },
  };
}

/** @param reference address or id. @throws ApiError not_found, also if several accounts have the address and none has verified it */
async function findAccount(store: Store, reference: string): Promise<Account> {
  const byId = reference.startsWith('acc_') ? await accountById(store, reference) : null;
  const [first, ...others] = byId ? [byId] : await accountsByEmail(store, reference);
  if (!first)
    throw new ApiError(
      'not_found',
      `No account has the address ${reference}. To invite a person without an account, run \`tatami members invite <member> --data-dir <dir>\`.`,
    );
  if (first.isProven || others.length === 0) return first;
  const displayed = await Promise.all(
    [first, ...others].map(async ({ id }) => `${id} (${(await workspaceNamesOf(store, id)).join(', ')})`),
  );
  throw new ApiError(
    'not_found',
    `Several accounts have the address ${reference}, and none has confirmed it. Give the id of the account: ${displayed.join('; ')}.`,
  );
}

export function createOperatorRpc(options: OperatorRpcOptions): OperatorRpc {
  return { ...createKeyRpc(options), ...createMemberRpc(options) };
}
