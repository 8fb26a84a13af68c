// Commands with access to the data directory: `tatami members invite --data-dir`, `members reset` and `master-key rotate`.
import { existingDataDir, type LocalOptions } from './lib/local.ts';
import { callOperatorRpc } from './lib/operator-rpc.ts';
import { printResult } from './lib/output.ts';
import { rotateMasterKey } from '../setup/rotate-master-key.ts';

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

export interface ResetOptions extends LocalOptions {
  codesOff?: boolean;
}

/** Creates a link with which the owner of an account sets a new password. */
export async function reset(email: string, options: ResetOptions, folder: string): Promise<void> {
  const { codesOff = false } = options;
  const made = await callOperatorRpc(options, folder, 'reset', { email, codesOff });
  printResult(made, options, ({ email: of, url, expiresAt }) =>
    [`account   ${of}`, `link      ${url}   (works once)`, `expires   ${expiresAt}`].join('\n'),
  );
}

/** Encrypts all stored secrets with a new master key; the server must be stopped. */
export async function rotate(options: LocalOptions, folder: string): Promise<void> {
  const { dataDir } = existingDataDir(options, folder);
  const rotated = await rotateMasterKey(dataDir, Date.now);
  printResult(rotated, options, ({ resealed, keyFile, oldKeyFile }) =>
    [
      `${resealed} secrets are encrypted with a new key`,
      `key  ${keyFile}   copy it to a safe place`,
      `old  ${oldKeyFile}   needed for earlier backups: store it elsewhere, as long as you have those backups`,
    ].join('\n'),
  );
}
