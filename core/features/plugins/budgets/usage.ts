// Counts the usage of installs against their budgets. Counts are written in the batch that ends a run; while
// such a batch is in flight, the counts of other runs of the install accumulate for the batch of a later run, or
// for a write of their own if none follows soon. The use of scopes is written every few seconds.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import {
  backgroundCommitDelayMs,
  scopeOf,
  tenantOp,
  type Op,
  type Scope,
  type Store,
} from '../../../platform/store/store.ts';
import type { Install } from '../installs/model.ts';
import { pluginUsageTable } from '../tables.ts';
import {
  dayOf,
  quantities,
  spentOf,
  startOfDay,
  type BudgetAmounts,
  type Quantity,
  createMeter,
  type Meter,
} from './budget.ts';

const writeEveryMs = 5_000;
/** Longest time that counts wait for the batch of a later run. */
const leftMs = 250;
/** Beyond this number, accounts with nothing to write are evicted and read again on the next run. */
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
const ofDay = pluginUsageTable.select(
  'of_day',
  ['runs', 'cpu_ms', 'calls', 'egress_bytes'],
  ['install_id', 'day'],
);

const nothing: BudgetAmounts = { cpuMs: 0, runs: 0, calls: 0, egressBytes: 0 };

interface Account {
  readonly workspaceId: string;
  readonly installId: string;
  readonly day: number;
  /** Usage of the day so far. */
  used: BudgetAmounts;
  /** Part of `used` that is neither written nor in a batch. */
  unwritten: BudgetAmounts;
  /** True while a batch in flight carries counts of this account. */
  isCarried: boolean;
  /** Number of runs that started and are not counted yet. */
  underWay: number;
  /** True if a run was deferred only because of runs in progress. */
  isDeferred: boolean;
  readonly scopes: Map<string, { calls: number; at: number }>;
}

/** Exhausted part of a daily budget. */
export interface Spent {
  readonly quantity: Quantity;
  readonly day: number;
  readonly untilMs: number;
}

/** Part of an install on which its usage depends. */
interface Budgeted {
  readonly id: string;
  readonly budget: Install['budget'];
}

export interface Usage {
  /** Returns the exhausted budget of the day, counting runs in progress; null if there is none. */
  spent(scope: Scope, install: Install): Promise<Spent | null>;
  /** Reserves a run in the budget. The caller must call `end` in every case, also if the run is deferred. */
  begin(scope: Scope, install: Install): Promise<BegunRun>;
  /** Returns the meter of one attempt, which limits calls and egress to the rest of the budget. */
  meter(scope: Scope, install: Budgeted): Promise<Meter>;
  /** Counts an ended attempt in memory; the returned ops store the counts. */
  charge(install: Budgeted, meter: Meter, cpuMs: number): Charge;
  /** Writes all pending counts; resolves when they are stored. */
  written(): Promise<void>;
  /** Writes counts that no batch carries; resolves when no write is in flight. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A run in progress, which counts against the budget before it ends so that parallel runs cannot exceed it.
 */
export interface BegunRun {
  /** Budget that was exhausted when the run started; null if there was none. */
  readonly spent: Spent | null;
  /**
   * Ends the reservation; call after the run was counted or deferred.
   * @returns true if deferred runs can start now
   */
  end(): boolean;
}

/** Usage of one ended attempt, to be written. */
export interface Charge {
  /** Ops for the batch that ends the attempt. */
  readonly ops: readonly Op[];
  /** Must be called with the outcome of the batch that contains `ops`. */
  ended(of: { readonly isWritten: boolean; readonly isCounted: boolean }): void;
}

interface UsageOptions {
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
}

export function createUsage(options: UsageOptions): Usage {
  const { clock } = options;
  const { accounts, accountOf, retainUnwritten, hasLeft, write } = createAccounts(options);
  /** Cancels the next write; null if none is due. */
  let cancel: (() => void) | null = null;
  let dueAtMs = 0;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    cancel?.();
    cancel = null;
    return (writing = writing.then(write));
  };
  const flushWithin = (delayMs: number): void => {
    const atMs = clock.monotonicMs() + delayMs;
    if (cancel && dueAtMs <= atMs) return;
    cancel?.();
    dueAtMs = atMs;
    cancel = clock.after(delayMs, () => void flush());
  };

  return {
    async spent(scope, { id, budget }) {
      return spentIn(await accountOf(scope, id), budget);
    },
    async begin(scope, { id, budget }) {
      const account = await accountOf(scope, id);
      const spent = spentIn(account, budget);
      if (spent && !spentOf(budget, account.used)) account.isDeferred = true;
      account.underWay++;
      return {
        spent,
        end() {
          account.underWay--;
          if (!account.isDeferred || spentIn(account, budget)) return false;
          account.isDeferred = false;
          return true;
        },
      };
    },
    async meter(scope, install) {
      const { used } = await accountOf(scope, install.id);
      return createMeter(install.budget, used);
    },
    charge({ id }, meter, cpuMs) {
      const account = accounts.get(id);
      if (!account) return noCharge;
      const at = clock.nowMs();
      for (const [scope, calls] of meter.scopes)
        account.scopes.set(scope, { calls: (account.scopes.get(scope)?.calls ?? 0) + calls, at });
      if (meter.scopes.size > 0) flushWithin(writeEveryMs);
      const amounts = { runs: 1, cpuMs, calls: meter.calls, egressBytes: meter.egressBytes };
      return chargeOf(account, amounts, (left) => {
        retainUnwritten(left);
        flushWithin(leftMs);
      });
    },
    written: flush,
    settled: () => (hasLeft() ? flush() : writing),
    stop: flush,
  };
}

function spentIn({ used, underWay, day }: Account, budget: Install['budget']): Spent | null {
  const quantity = spentOf(budget, { ...used, runs: used.runs + underWay });
  return quantity && { quantity, day, untilMs: startOfDay(day + 1) };
}

const noCharge: Charge = { ops: [], ended: () => undefined };

/** @param leaves called if counts remain that no batch in flight writes */
function chargeOf(account: Account, amounts: BudgetAmounts, leaves: (account: Account) => void): Charge {
  account.used = sum(account.used, amounts);
  account.unwritten = sum(account.unwritten, amounts);
  const carried = account.isCarried ? null : account.unwritten;
  if (carried) {
    account.isCarried = true;
    account.unwritten = nothing;
  }
  return {
    ops: carried ? [amountsOp(account, carried)] : [],
    ended({ isWritten, isCounted }) {
      if (carried) account.isCarried = false;
      if (carried && !isWritten) account.unwritten = sum(account.unwritten, carried);
      if (!isCounted) {
        const back = negated(amounts);
        account.used = sum(account.used, back);
        account.unwritten = sum(account.unwritten, back);
      }
      if (!account.isCarried && hasAmounts(account)) leaves(account);
    },
  };
}

function createAccounts({ store, log, clock }: UsageOptions) {
  /** Keyed by install id, which is unique across workspaces. */
  const accounts = new Map<string, Account>();
  /** Accounts of earlier days that still have counts to write. */
  const past = new Set<Account>();
  const retainUnwritten = (account: Account): void => {
    if (accounts.get(account.installId) !== account && isUnwritten(account)) past.add(account);
  };

  const accountOf = async (scope: Scope, installId: string): Promise<Account> => {
    const day = dayOf(clock.nowMs());
    const known = accounts.get(installId);
    if (known?.day === day) return known;
    const row = await ofDay.one(store, scope, { install_id: installId, day });
    const meanwhile = accounts.get(installId);
    if (meanwhile?.day === day) return meanwhile;
    if (meanwhile) retainUnwritten(meanwhile);
    const used = row
      ? { runs: row.runs, cpuMs: row.cpu_ms, calls: row.calls, egressBytes: row.egress_bytes }
      : nothing;
    const { workspaceId } = scope;
    const account = {
      workspaceId,
      installId,
      day,
      used,
      unwritten: nothing,
      isCarried: false,
      underWay: 0,
      isDeferred: false,
      scopes: new Map(),
    };
    accounts.set(installId, account);
    return account;
  };

  const write = async (): Promise<void> => {
    if (!store.status().writable) return;
    const due = [...past, ...[...accounts.values()].filter(isUnwritten)];
    past.clear();
    if (accounts.size > accountsMax)
      for (const [id, account] of accounts)
        if (!isUnwritten(account) && !account.isCarried && account.underWay === 0) accounts.delete(id);
    const ops = due.flatMap(opsOf);
    if (ops.length === 0) return;
    try {
      await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    } catch (error) {
      log('warn', 'plugin usage could not be written', { error: errorForLog(error) });
    }
  };

  const hasLeft = (): boolean => [...past, ...accounts.values()].some(hasAmounts);

  return { accounts, accountOf, retainUnwritten, hasLeft, write };
}

function isUnwritten(account: Account): boolean {
  return hasAmounts(account) || account.scopes.size > 0;
}

function hasAmounts({ unwritten }: Account): boolean {
  return quantities.some((quantity) => unwritten[quantity] !== 0);
}

function sum(a: BudgetAmounts, b: BudgetAmounts): BudgetAmounts {
  return {
    cpuMs: a.cpuMs + b.cpuMs,
    runs: a.runs + b.runs,
    calls: a.calls + b.calls,
    egressBytes: a.egressBytes + b.egressBytes,
  };
}

function negated({ cpuMs, runs, calls, egressBytes }: BudgetAmounts): BudgetAmounts {
  return { cpuMs: -cpuMs, runs: -runs, calls: -calls, egressBytes: -egressBytes };
}

function amountsOp({ workspaceId, installId, day }: Account, amounts: BudgetAmounts): Op {
  return tenantOp(scopeOf(workspaceId), add, { installId, day, ...amounts });
}

/** Returns ops for the unwritten counts, and clears them in the account. */
function opsOf(account: Account): Op[] {
  const { workspaceId, installId, unwritten } = account;
  const scope = scopeOf(workspaceId);
  const used = [...account.scopes];
  const hasSome = hasAmounts(account);
  account.unwritten = nothing;
  account.scopes.clear();
  return [
    ...(hasSome ? [amountsOp(account, unwritten)] : []),
    ...used.map(([name, use]) => tenantOp(scope, addScope, { installId, scope: name, ...use })),
  ];
}
