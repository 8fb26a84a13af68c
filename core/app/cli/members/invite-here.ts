// `tatami members invite MEMBER --data-dir DIR`: the same link, made by whoever has the data directory.
import { callOperatorRpc, type LocalOptions } from '../keys/operator-rpc.ts';
import { printResult } from '../lib/output.ts';

export interface InviteHereOptions extends LocalOptions {
  workspace?: string;
}

/** @param folder where a relative data directory begins */
export async function inviteHere(member: string, options: InviteHereOptions, folder: string): Promise<void> {
  const { workspace } = options;
  const made = await callOperatorRpc(options, folder, 'invite', {
    member,
    ...(workspace === undefined ? {} : { workspace }),
  });
  printResult(made, options, ({ member: { id, name }, url, expiresAt }) =>
    [`member    ${name} (${id})`, `link      ${url}   (works once)`, `expires   ${expiresAt}`].join('\n'),
  );
}
