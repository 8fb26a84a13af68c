// Everything that rests sealed under the master key. `Sealing` seals for these purposes alone, and `tatami master-key rotate` goes through
// this list: what is not in it cannot be sealed, and what is cannot be forgotten.

export interface SealedColumn {
  readonly purpose: string;
  /** It has `id`, and `workspace_id` where it is no table of the installation. */
  readonly table: string;
  readonly ofInstallation?: boolean;
  readonly column: string;
  /** Only these of its rows: SQL over its columns. */
  readonly where?: string;
  /**
   * `bytes`: it is what was sealed. `base64`: JSON of a string of it. `members`: JSON of an object, or of a list of them, that have it
   * as base64 in `sealed`, which may be null; what is no JSON holds nothing sealed.
   */
  readonly form: 'bytes' | 'base64' | 'members';
}

export const sealedAtRest = [
  { purpose: 'webhook-url', table: 'endpoints', column: 'url', form: 'members' },
  { purpose: 'webhook-secret', table: 'endpoints', column: 'secret_sealed', form: 'bytes' },
  { purpose: 'webhook-secret', table: 'endpoints', column: 'previous_secrets_json', form: 'members' },
  { purpose: 'plugin-route-token', table: 'plugin_routes', column: 'token_sealed', form: 'bytes' },
  { purpose: 'plugin-route-secret', table: 'plugin_routes', column: 'secret_sealed', form: 'bytes' },
  { purpose: 'plugin-secret', table: 'plugin_secrets', column: 'sealed', form: 'bytes' },
  { purpose: 'proposal', table: 'proposals', column: 'writes_sealed_json', form: 'base64' },
  { purpose: 'oauth-token', table: 'oauth_tokens', column: 'payload_sealed', form: 'bytes' },
  {
    purpose: 'one-time-codes',
    table: 'one_time_codes',
    ofInstallation: true,
    column: 'secret_sealed',
    form: 'bytes',
  },
  // Answers that show a secret once.
  { purpose: 'idempotency', table: 'idempotency', column: 'body', where: 'sealed = 1', form: 'bytes' },
] as const satisfies readonly SealedColumn[];

type Purpose = (typeof sealedAtRest)[number]['purpose'];

/** What a value is sealed for: for one object, so that it opens in no other row and for no other workspace. */
export type SealedFor = `${Purpose}:${string}:${string}`;

/** @param workspaceId empty for what belongs to the installation */
export function sealedFor(purpose: Purpose, workspaceId: string, id: string): SealedFor {
  return `${purpose}:${workspaceId}:${id}`;
}
