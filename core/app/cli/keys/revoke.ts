// `tatami keys revoke KEY`: ends a key at once.
import { printResult } from '../lib/output.ts';
import { callOperatorRpc, type LocalOptions } from './operator-rpc.ts';

export type RevokeOptions = LocalOptions;

/** @param folder where a relative data directory begins */
export async function revoke(key: string, options: RevokeOptions, folder: string): Promise<void> {
  const revoked = await callOperatorRpc(options, folder, 'revoke', { key });
  printResult(
    revoked,
    options,
    ({ id, name, member, revokedAt }) => `${id} (${name}, of ${member.name}) was revoked at ${revokedAt}`,
  );
}
