// Reports the recent usage and the stored bytes of a workspace, by caller.
import { Type } from 'typebox';
import { Closed, enumeration, namedSchema, nullable } from '../../platform/lib/schema.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import type { Context } from '../context.ts';
import { type LedgerAmounts, type LedgerQuantity, quantities } from './ledger.ts';

const amount = (description: string) => Type.Number({ minimum: 0, description });

const amountProperties = {
  cpuMs: amount('CPU time of the server, milliseconds.'),
  sandboxMs: amount('CPU time of plugin handlers, milliseconds.'),
  queueMs: amount('Queue time of runs and long reads, milliseconds.'),
  bytesIn: amount('Size of request bodies, bytes.'),
  bytesOut: amount('Size of responses and deliveries, bytes.'),
  requests: amount('Number of requests and of host calls by plugins.'),
  runs: amount('Number of attempts of plugin runs.'),
  deliveries: amount('Number of attempts of webhook deliveries.'),
};
const AccountUsage = namedSchema(
  'CallerUsage',
  Closed({
    kind: enumeration(
      'CallerUsageKind',
      ['token', 'plugin', 'automation', 'webhook', 'workspace'],
      'Type of the caller; `workspace` is usage without a specific caller.',
    ),
    id: nullable(
      Type.String({
        description:
          'Id of the API key, plugin installation, automation or webhook endpoint; null for `workspace`.',
      }),
    ),
    name: nullable(
      Type.String({
        description: 'Name of the caller; null for `workspace` and for callers you may not read.',
      }),
    ),
    ...amountProperties,
    storedBytes: amount("Size of the plugin's stored values and code, bytes; 0 for other callers."),
  }),
);
export const UsageResponse = namedSchema(
  'Usage',
  Closed({
    minutes: Type.Integer({ description: 'Length of the reported period, minutes.' }),
    total: Closed(amountProperties, { description: 'Sum over all callers.' }),
    storedBytes: amount(
      'Size of the stored values and code of plugins and of stored responses of idempotency keys, bytes.',
    ),
    payers: Type.Array(AccountUsage, { description: 'Callers, highest CPU time first; at most 200.' }),
  }),
);

const accountsListedMax = 200;
/** Maximum number of idempotency rows that are summed; for more rows the sum is extrapolated. */
const keysSummedMax = 5_000;
const keysCountedMax = 50_000;

const namesStatement = (name: string, table: string, displayed: string) =>
  tenantStatement<{ id: string; name: string }>(
    name,
    `SELECT id, ${displayed} AS name FROM ${table} WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`,
  );
/** A sealed address is stored together with its displayable part (`webhooks/endpoints/secrets.ts`). */
const displayUrl = "CASE WHEN url LIKE '{%' THEN json_extract(url, '$.text') ELSE url END";
/** Types of accounts, by the prefix of their ids. */
const accountTypes = [
  {
    prefix: 'key_',
    kind: 'token',
    scope: 'api-keys:read',
    names: namesStatement('usage.tokens', 'api_keys', 'name'),
  },
  {
    prefix: 'plg_',
    kind: 'plugin',
    scope: 'plugins:read',
    names: namesStatement('usage.plugins', 'plugins', 'plugin_id'),
  },
  {
    prefix: 'atm_',
    kind: 'automation',
    scope: 'automations:read',
    names: namesStatement('usage.automations', 'automations', 'name'),
  },
  {
    prefix: 'whe_',
    kind: 'webhook',
    scope: 'webhooks:read',
    names: namesStatement('usage.webhooks', 'endpoints', displayUrl),
  },
] as const;

const storedByPlugin = tenantStatement<{ id: string; bytes: number }>(
  'usage.stored_by_plugin',
  `SELECT p.id, coalesce((SELECT u.bytes FROM plugin_kv_usage AS u WHERE u.workspace_id = :ws AND u.id = p.id), 0)
     + coalesce((SELECT octet_length(c.source) FROM plugin_code AS c WHERE c.workspace_id = :ws AND c.id = p.sha256), 0) AS bytes
   FROM plugins AS p WHERE p.workspace_id = :ws AND p.deleted_at IS NULL`,
);
const storedByKeys = tenantStatement<{ kept: number; summed: number; bytes: number | null }>(
  'usage.stored_by_keys',
  `SELECT (SELECT count(*) FROM (SELECT 1 FROM idempotency WHERE workspace_id = :ws LIMIT :countLimit)) AS kept, count(*) AS summed, sum(bytes) AS bytes FROM (
     SELECT length(body) + octet_length(headers_json) AS bytes FROM idempotency WHERE workspace_id = :ws LIMIT :limit)`,
);

export async function getUsage(ctx: Context) {
  const { store, scope } = ctx;
  const used = ctx.ledger.usageOf(scope.workspaceId);
  const stored = new Map((await store.read(scope, storedByPlugin)).map(({ id, bytes }) => [id, bytes]));
  const keys = await store.readOne(scope, storedByKeys, { limit: keysSummedMax, countLimit: keysCountedMax });
  const inKeys = keys?.summed ? ((keys.bytes ?? 0) * keys.kept) / keys.summed : 0;
  const accounts = [...new Set([...used.keys(), ...stored.keys()])]
    .map((id) => ({ id, amounts: rounded(used.get(id)), storedBytes: stored.get(id ?? '') ?? 0 }))
    .toSorted((a, b) => b.amounts.cpuMs - a.amounts.cpuMs)
    .slice(0, accountsListedMax);
  const names = await namesOf(
    ctx,
    accounts.flatMap(({ id }) => id ?? []),
  );
  return {
    minutes: 60,
    total: rounded(sumOf([...used.values()])),
    storedBytes: Math.round([...stored.values()].reduce((sum, bytes) => sum + bytes, inKeys)),
    payers: accounts.map(({ id, amounts, storedBytes }) => ({
      kind: accountTypes.find(({ prefix }) => id?.startsWith(prefix))?.kind ?? 'workspace',
      id,
      name: id === null ? null : (names.get(id) ?? null),
      ...amounts,
      storedBytes,
    })),
  };
}

/**
 * Returns the names of callers. Includes only callers that the reader may also read through their own routes.
 */
async function namesOf(
  { store, scope, scopes }: Context,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const namesById = new Map<string, string>();
  for (const { prefix, kind, names, scope: needed } of accountTypes) {
    if (!scopes.has(needed)) continue;
    const wanted = JSON.stringify(ids.filter((id) => id.startsWith(prefix)));
    for (const { id, name } of await store.read(scope, names, { ids: wanted }))
      // The path of a URL may contain a secret, so only the host is shown.
      namesById.set(id, kind === 'webhook' ? new URL(name).host : name);
  }
  return namesById;
}

function sumOf(all: readonly LedgerAmounts[]): LedgerAmounts {
  const sum = (quantity: LedgerQuantity): number => all.reduce((so, amounts) => so + amounts[quantity], 0);
  return Object.fromEntries(quantities.map((quantity) => [quantity, sum(quantity)])) as Record<
    LedgerQuantity,
    number
  >;
}

/** Rounds to thousandths; returns zeros for an account without usage. */
function rounded(amounts: LedgerAmounts | undefined): LedgerAmounts {
  const displayed = (quantity: LedgerQuantity): number =>
    Math.round((amounts?.[quantity] ?? 0) * 1_000) / 1_000;
  return Object.fromEntries(quantities.map((quantity) => [quantity, displayed(quantity)])) as Record<
    LedgerQuantity,
    number
  >;
}
