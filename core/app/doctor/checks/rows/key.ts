import { existsSync } from 'node:fs';
import { createSealing, type Sealing } from '../../../../platform/lib/secrets/sealing.ts';
import { endpointModel } from '../../../../features/webhooks/endpoints/model.ts';
import { openAddress } from '../../../../features/webhooks/endpoints/address.ts';
import { createSecretOpener } from '../../../../features/webhooks/secret.ts';
import { fittingKey, otherFingerprint, otherKey } from '../../../../platform/store/files/master-key.ts';
import type { SqlRow } from '../../../../platform/store/statement.ts';
import { error, some, type Check } from '../../check.ts';

export const key: Check = {
  name: 'key',
  holds: 'the master key exists and decrypts the stored secrets',
  readsDatabase: true,
  look({ masterKey, path, rows, nowMs }) {
    if (!existsSync(path.masterKey))
      return [
        error(
          `${path.masterKey} is missing. Restore it from your copy; without it no stored secret can be decrypted.`,
        ),
      ];
    if (!masterKey) return [error(`${path.masterKey} is not 32 bytes in base64. Restore the correct file.`)];
    const [installation] = rows<{ key_fingerprint: string | null }>(
      'SELECT key_fingerprint FROM installation WHERE id = 1',
    );
    const wanted = installation?.key_fingerprint ?? null;
    const fitting = wanted === null ? { key: masterKey } : fittingKey(path.masterKey, masterKey, wanted);
    if (!fitting) return [error(otherKey(path.masterKey, otherFingerprint(masterKey, wanted!)))];
    const sealing = createSealing(fitting.key);
    const endpoints = rows<SqlRow>(
      `SELECT ${endpointModel.select}, workspace_id FROM endpoints WHERE deleted_at IS NULL`,
    );
    const closed = endpoints.filter((row) => !opens(sealing, row, nowMs)).map(({ id }) => String(id));
    if (closed.length === 0) return [];
    const all = closed.length === endpoints.length;
    return [
      error(
        `The secrets of ${some(closed)} cannot be decrypted. ${all ? 'The master key is not the one they were encrypted with. Restore the correct key.' : 'Rotate them with `tatami webhooks rotate`.'}`,
      ),
    ];
  },
};

function opens(sealing: Sealing, row: SqlRow, nowMs: number): boolean {
  const endpoint = endpointModel.fromRow(row);
  try {
    createSecretOpener(sealing)(String(row.workspace_id), endpoint, nowMs);
    openAddress(sealing, String(row.workspace_id), endpoint);
    return true;
  } catch {
    return false;
  }
}
