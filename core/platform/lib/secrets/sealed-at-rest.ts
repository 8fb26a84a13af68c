// All columns with values sealed under the master key. `Sealing` accepts only these purposes, and `tatami master-key rotate`
// processes this list, so no sealed column can be missed.

export interface SealedColumn {
  readonly purpose: string;
  /** The table has `id`, and `workspace_id` unless it belongs to the installation. */
  readonly table: string;
  readonly ofInstallation?: boolean;
  readonly column: string;
  /** SQL condition on the rows that are sealed. */
  readonly where?: string;
  /**
   * `bytes`: the sealed value. `base64`: a JSON string of it. `members`: a JSON object, or list of objects, with the sealed value
   * as base64 in `sealed`, which may be null; text that is not JSON contains nothing sealed.
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
  // Responses that show a secret once.
  { purpose: 'idempotency', table: 'idempotency', column: 'body', where: 'sealed = 1', form: 'bytes' },
] as const satisfies readonly SealedColumn[];

type Purpose = (typeof sealedAtRest)[number]['purpose'];

/** Purpose of a sealed value, bound to one object, so that it opens in no other row or workspace. */
export type SealedFor = `${Purpose}:${string}:${string}`;

/** @param workspaceId empty for values of the installation */
export function sealedFor(purpose: Purpose, workspaceId: string, id: string): SealedFor {
  return `${purpose}:${workspaceId}:${id}`;
}
