import { createEgress, resolveWithSystem, type Egress } from '../../platform/lib/egress/egress.ts';
import { createSealing } from '../../platform/lib/secrets/sealing.ts';
import type { SqlRow } from '../../platform/store/statement.ts';
import { openAddress, displayAddress } from './endpoints/secrets.ts';
import { endpointModel } from './endpoints/model.ts';
import { warning, type Check, type Finding } from '../../kernel/checks.ts';

const timeoutMs = 5_000;
/** Number of endpoints that are checked in parallel. */
const atOnce = 8;

export const endpointCheck: Check = {
  name: 'endpoints',
  holds: 'webhook receivers are reachable, with valid TLS certificates',
  readsDatabase: true,
  async look({ egressAllow, masterKey, rows }) {
    if (!masterKey) return [];
    const sealing = createSealing(masterKey);
    const egress = createEgress({
      allow: egressAllow,
      ownPort: () => undefined,
      resolve: resolveWithSystem,
    });
    const enabled = rows<SqlRow>(
      `SELECT ${endpointModel.select}, workspace_id FROM endpoints WHERE enabled = 1 AND deleted_at IS NULL ORDER BY id`,
    );
    const findings: Finding[] = [];
    for (let at = 0; at < enabled.length; at += atOnce)
      findings.push(
        ...(
          await Promise.all(
            enabled.slice(at, at + atOnce).map((row) => {
              const endpoint = endpointModel.fromRow(row);
              const { host } = new URL(displayAddress(endpoint));
              return reached(
                egress,
                openAddress(sealing, String(row.workspace_id), endpoint),
                `${endpoint.id} (${host})`,
              );
            }),
          )
        ).flat(),
      );
    egress.close();
    return findings;
  },
};

/** Connects without sending a request. */
async function reached(egress: Egress, url: string, label: string): Promise<Finding[]> {
  try {
    await egress.reach(url, timeoutMs);
    return [];
  } catch (thrown) {
    return [
      warning(
        `${label} is unreachable. Check the receiver. ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      ),
    ];
  }
}
