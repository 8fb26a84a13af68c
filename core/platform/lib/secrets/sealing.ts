// Authenticated encryption of small secrets at rest with the installation's master key (AES-256-GCM, NIST SP
// 800-38D), and the list of the columns that store them.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** `purpose` is authenticated data, so a sealed value moved to another row or tenant does not open. */
export interface Sealing {
  /** Returns nonce (12 bytes) + tag (16 bytes) + ciphertext. */
  seal(text: string, purpose: SealedFor): Uint8Array;
  /** @throws Error if the value was altered, or sealed for another purpose or with another key */
  open(sealed: Uint8Array, purpose: SealedFor): string;
  /** Returns a short authentication tag of public text, for cursors; base64url of 16 bytes. */
  sign(text: string, purpose: string): string;
  verify(text: string, purpose: string, tag: string): boolean;
}

/** @param masterKey 32 bytes */
export function createSealing(masterKey: Uint8Array): Sealing {
  if (masterKey.length !== 32) throw new Error(`The master key must be 32 bytes, not ${masterKey.length}.`);
  const signing = createHmac('sha256', masterKey).update('signing').digest();
  const sealing = createHmac('sha256', masterKey).update('sealing').digest();
  const sign = (text: string, purpose: string) =>
    // A third of the cost of createHmac.
    new Bun.CryptoHasher('sha256', signing).update(`${purpose}\0${text}`).digest().subarray(0, 16);
  return {
    seal(text, purpose) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), body]));
    },
    open(sealed, purpose) {
      const decipher = createDecipheriv('aes-256-gcm', sealing, sealed.subarray(0, 12))
        .setAAD(Buffer.from(purpose))
        .setAuthTag(sealed.subarray(12, 28));
      return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8');
    },
    sign: (text, purpose) => sign(text, purpose).toString('base64url'),
    verify(text, purpose, tag) {
      const decoded = Buffer.from(tag, 'base64url');
      // Several base64url texts decode to the same bytes; only the canonical one is accepted.
      return (
        decoded.length === 16 &&
        decoded.toString('base64url') === tag &&
        timingSafeEqual(decoded, sign(text, purpose))
      );
    },
  };
}

/** Identifies a master key without revealing it: 128 bits of a digest of 256 random bits. */
export function fingerprintOf(masterKey: Uint8Array): string {
  return createHash('sha256').update('tatami master key\0').update(masterKey).digest('hex').slice(0, 32);
}

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

/**
 * All columns with values sealed under the master key. `Sealing` accepts only these purposes, and `tatami
 * master-key rotate` processes this list, so no sealed column can be missed.
 */
export const sealedAtRest = [
  { purpose: 'webhook-url', table: 'endpoints', column: 'url', form: 'members' },
  { purpose: 'webhook-secret', table: 'endpoints', column: 'secret_sealed', form: 'bytes' },
  { purpose: 'webhook-secret', table: 'endpoints', column: 'previous_secrets_json', form: 'members' },
  { purpose: 'plugin-route-token', table: 'plugin_routes', column: 'token_sealed', form: 'bytes' },
  { purpose: 'plugin-route-secret', table: 'plugin_routes', column: 'secret_sealed', form: 'bytes' },
  { purpose: 'plugin-secret', table: 'plugin_secrets', column: 'sealed', form: 'bytes' },
  { purpose: 'automation-host', table: 'automation_hosts', column: 'secret_sealed', form: 'bytes' },
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
