// Everything of endpoints that rests sealed, under another master key: their addresses and signing secrets, of deleted ones as well.
import type { Sealing } from '../../lib/sealing.ts';
import { systemStatement, type Row } from '../../store/statement.ts';
import { systemOp, type Op, type Store } from '../../store/store.ts';
import { resealSecrets } from '../secret.ts';
import { addressField, openAddress, sealAddress } from './address.ts';
import { endpointKind } from './kind.ts';

const why = 'the master key is that of all workspaces';
const all = systemStatement<Row>(
  'endpoints.sealed',
  why,
  `SELECT ${endpointKind.select}, workspace_id FROM endpoints`,
);
const reseal = systemStatement(
  'endpoints.reseal',
  why,
  `UPDATE endpoints SET url = :url, secret_sealed = :secret, previous_secrets_json = :previous
   WHERE workspace_id = :workspaceId AND id = :id AND secret_sealed = :before`,
);

/** @throws Error where one does not open with `from` */
export async function resealEndpoints(store: Store, from: Sealing, to: Sealing): Promise<Op[]> {
  const rows = await store.readSystem(all);
  return rows.map((row) => {
    const endpoint = endpointKind.fromRow(row);
    const workspaceId = String(row.workspace_id);
    const { secretSealed, previousSecrets } = resealSecrets(from, to, workspaceId, endpoint);
    const address =
      endpoint.address.sealed === null
        ? endpoint.address
        : sealAddress(to, workspaceId, endpoint.id, openAddress(from, workspaceId, endpoint));
    return systemOp(
      reseal,
      {
        workspaceId,
        id: endpoint.id,
        before: endpoint.secretSealed,
        secret: secretSealed,
        previous: JSON.stringify(previousSecrets),
        url: addressField.write!(address),
      },
      { expectRows: 1 },
    );
  });
}
