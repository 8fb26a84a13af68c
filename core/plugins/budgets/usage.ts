// What installs use of their budgets, and what for: counted in memory as runs end, written together every few seconds. What a killed
// process had not written yet is not counted, which is those seconds at most.
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Log } from '../../lib/log.ts';
import { tenantStatement } from '../../store/statement.ts';
import {
  backgroundCommitDelayMs,
  scopeOf,
  tenantOp,
  type Op,
  type Scope,
  type Store,
} from '../../store/store.ts';
import type { Install } from '../installs/schema.ts';
import { dayOf, quantities, spentOf, startOfDay, type Amounts, type Quantity } from './budget.ts';
import { createMeter, type Meter } from './meter.ts';

const writeEveryMs = 5_000;
/** Beyond this many, those that have nothing to write are read again when they next run. */
const accountsMax = 10_000;

const add = tenantStatement(
  'plugin_usage.add',
  `INSERT INTO plugin_usage (workspace_id, install_id, day, runs, cpu_ms, calls, egress_bytes)
   VALUES (:ws, :installId, :day, :runs, :cpuMs, :calls, :egressBytes)
   ON CONFLICT (workspace_id, install_id, day) DO UPDATE SET runs = runs + excluded.runs, cpu_ms = cpu_ms + excluded.cpu_ms,
     calls = calls + excluded.calls, egress_bytes = egress_bytes + excluded.egress_bytes`,
);
const addScope = tenantStatement(
  'plugin_scope_use.add',
  `INSERT INTO plugin_scope_use (workspace_id, install_id, scope, used_at, calls) VALUES (:ws, :installId, :scope, :at, :calls)
   ON CONFLICT (workspace_id, install_id, scope) DO UPDATE SET used_at = max(used_at, excluded.used_at), calls = calls + excluded.calls`,
);
const ofDay = tenantStatement<{ runs: number; cpu_ms: number; calls: number; egress_bytes: number }>(
  'plugin_usage.of_day',
  `SELECT runs, cpu_ms, calls, egress_bytes FROM plugin_usage WHERE workspace_id = :ws AND install_id = :installId AND day = :day`,
);

const nothing: Amounts = { cpuMs: 0, runs: 0, calls: 0, egressBytes: 0 };

interface Account {
  readonly workspaceId: string;
  readonly installId: string;
  readonly day: number;
  /** All of the day. */
  used: Amounts;
  /** Of that, what is not written yet. */
  unwritten: Amounts | null;
  readonly scopes: Map<string, { calls: number; at: number }>;
}

/** What stands in the way of a run. */
export interface Spent {
  readonly quantity: Quantity;
  readonly day: number;
  readonly untilMs: number;
}

export interface Usage {
  /** Whether the budget of the day is spent; null while it is not. */
  spent(scope: Scope, install: Install): Promise<Spent | null>;
  /** Of one attempt: its calls and what it sends are held to what is left of the budget. */
  meter(scope: Scope, install: Install): Promise<Meter>;
  /** A run came to its end, or to the end of an attempt. */
  charge(install: Pick<Install, 'id'>, meter: Meter, cpuMs: number): void;
  /** Resolves once all that was counted can be read. */
  written(): Promise<void>;
  stop(): Promise<void>;
}

interface UsageOptions {
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
}

export function createUsage(options: UsageOptions): Usage {
  const { clock } = options;
  const { accounts, accountOf, write } = createAccounts(options);
  let cancel: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    cancel?.();
    cancel = null;
    return (writing = writing.then(write));
  };

  return {
    async spent(scope, install) {
      const { used, day } = await accountOf(scope, install.id);
      const quantity = spentOf(install.budget, used);
      return quantity && { quantity, day, untilMs: startOfDay(day + 1) };
    },
    async meter(scope, install) {
      const { used } = await accountOf(scope, install.id);
      return createMeter(install.budget, used);
    },
    charge({ id }, meter, cpuMs) {
      const account = accounts.get(id);
      if (!account) return;
      const amounts = { runs: 1, cpuMs, calls: meter.calls, egressBytes: meter.egressBytes };
      account.used = sum(account.used, amounts);
      account.unwritten = sum(account.unwritten ?? nothing, amounts);
      const at = clock.nowMs();
      for (const [scope, calls] of meter.scopes)
        account.scopes.set(scope, { calls: (account.scopes.get(scope)?.calls ?? 0) + calls, at });
      cancel ??= clock.after(writeEveryMs, () => void flush());
    },
    written: flush,
    stop: flush,
  };
}

function createAccounts({ store, log, clock }: UsageOptions) {
  /** By install; ids are unique. */
  const accounts = new Map<string, Account>();
  /** Of days that are over. */
  const past: Account[] = [];

  const accountOf = async (scope: Scope, installId: string): Promise<Account> => {
    const day = dayOf(clock.nowMs());
    const known = accounts.get(installId);
    if (known?.day === day) return known;
    const row = await store.readOne(scope, ofDay, { installId, day });
    const meanwhile = accounts.get(installId);
    if (meanwhile?.day === day) return meanwhile;
    if (meanwhile && isUnwritten(meanwhile)) past.push(meanwhile);
    const used = row
      ? { runs: row.runs, cpuMs: row.cpu_ms, calls: row.calls, egressBytes: row.egress_bytes }
      : nothing;
    const { workspaceId } = scope;
    const account = { workspaceId, installId, day, used, unwritten: null, scopes: new Map() };
    accounts.set(installId, account);
    return account;
  };

  const write = async (): Promise<void> => {
    if (!store.status().writable) return;
    const due = [...past.splice(0), ...[...accounts.values()].filter(isUnwritten)];
    if (accounts.size > accountsMax)
      for (const [id, account] of accounts) if (!isUnwritten(account)) accounts.delete(id);
    const ops = due.flatMap(opsOf);
    if (ops.length === 0) return;
    try {
      await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    } catch (error) {
      log('warn', 'what plugins used of their budgets was not written', { error: errorForLog(error) });
    }
  };

  return { accounts, accountOf, write };
}

function isUnwritten({ unwritten }: Account): boolean {
  return unwritten !== null;
}

function sum(a: Amounts, b: Amounts): Amounts {
  return Object.fromEntries(quantities.map((quantity) => [quantity, a[quantity] + b[quantity]])) as Amounts;
}

/** Takes what is not written out of the account. */
function opsOf(account: Account): Op[] {
  const { workspaceId, installId, day } = account;
  const scope = scopeOf(workspaceId);
  const amounts = account.unwritten ?? nothing;
  const used = [...account.scopes];
  account.unwritten = null;
  account.scopes.clear();
  return [
    tenantOp(scope, add, { installId, day, ...amounts }),
    ...used.map(([name, use]) => tenantOp(scope, addScope, { installId, scope: name, ...use })),
  ];
}
