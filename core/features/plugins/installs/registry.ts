// Caches which plugins of a workspace subscribe to which event type, so that an event without subscribers
// costs one map lookup. The registry is a section of the workspace cache, reloaded after each committed
// change of an install or custom field.
import { LRUCache } from 'lru-cache';
import type { PackageSourceMap } from '../../../../sdk/plugin/manifest.ts';
import {
  erasOf,
  readPastSubscriptions,
  type Eras,
} from '../../../kernel/events/consumers/past-subscriptions.ts';
import type { Listening } from '../../../kernel/events/reading.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { FilterFields } from '../../../platform/lib/filter/filter.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { automationHost } from '../../automation-hosts/contract.ts';
import { automationModel, readHosts, type CanFilter } from '../../automations/index.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { tenantStatement, type SqlRow } from '../../../platform/store/statement.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import type { PluginRuntimeOptions } from '../deps.ts';
import { field } from '../../fields/contract.ts';
import { member } from '../../people/contract.ts';
import type { Directory } from '../../../kernel/context.ts';
import { installOfRule, rulesPackage } from './rules.ts';
import { byTypeOf, isTestable, unsubscribed, type ByType, type Subscription } from './subscriptions.ts';
import {
  installModel,
  type Install,
  withPastSubscription,
  consumerName,
  type InstallSubscription,
} from './model.ts';
import { pluginCodeTable } from '../tables.ts';
import { emptyLookup, sourceMapLookupOf, type SourceMapLookup } from '../source-positions.ts';

interface SourceMaps {
  /** Returns the source map lookup of code; finds nothing if the map cannot be read. Never rejects. */
  sourceMapLookup(scope: Scope, sha256: string): Promise<SourceMapLookup>;
  /** Drops the cached source map of code that was stored again, perhaps with another map. */
  codeStored(scope: Scope, sha256: string): void;
}

export interface Registry extends SourceMaps {
  listens(scope: Scope): Promise<Listening>;
  /** Returns the subscriptions that an event can match, of installs that were active at its sequence. */
  subscriptionsAt(scope: Scope, event: EventRow): Promise<readonly Subscription[]>;
  /** Returns the subscriptions that an event can match, of installs that are active now. */
  subscriptions(scope: Scope, event: EventRow): Promise<readonly Subscription[]>;
  /** Returns an active install; undefined if it was removed, paused or disabled. */
  active(scope: Scope, installId: string): Promise<Install | undefined>;
  /** Returns an active plugin by the id in its manifest. */
  activePlugin(scope: Scope, pluginId: string): Promise<Install | undefined>;
  source(scope: Scope, sha256: string): Promise<string>;
}

const activeInstalls = tenantStatement<SqlRow>(
  'plugins.active',
  `SELECT ${installModel.select} FROM plugins WHERE workspace_id = :ws AND deleted_at IS NULL AND state = 'active' ORDER BY created_at, id`,
);
const activeRules = tenantStatement<SqlRow>(
  'automations.active',
  `SELECT ${automationModel.select} FROM automations WHERE workspace_id = :ws AND deleted_at IS NULL AND state = 'active' ORDER BY created_at, id`,
);
const readCode = pluginCodeTable.select('read', ['source'], ['id']);
const readSourceMap = pluginCodeTable.select('read_source_map', ['source_map'], ['id']);

interface Listeners {
  readonly installs: ReadonlyMap<string, Install>;
  readonly byType: Eras<ByType>;
}

export function createRegistry(options: PluginRuntimeOptions): Registry {
  const { store, log } = options.services;
  const { of } = options.cache.section<Listeners>({
    // The filterable fields depend on the custom fields of the workspace.
    kinds: new Set([installModel.name, automationModel.name, automationHost.name, field.name, member.name]),
    load: async (scope) => {
      const directory = await options.directoryOf(scope);
      const filterFields = (type: string): FilterFields => options.filterFields(type, directory);
      const plugins = (await store.read(scope, activeInstalls)).map(installModel.fromRow);
      const installs = [...plugins, ...(await rulesIn(store, scope, directory, filterFields))];
      const past = await readPastSubscriptions<InstallSubscription>(store, scope, consumerName);
      return {
        installs: new Map(installs.map((install) => [install.id, install])),
        byType: erasOf<Install, InstallSubscription, ByType>(
          installs,
          past,
          ({ subscription }, install) => install && withPastSubscription(install, subscription),
          (wanting) => byTypeOf({ log, filterFields }, wanting),
        ),
      };
    },
    move: () => undefined,
  });
  return {
    async listens(scope) {
      const { byType } = await of(scope);
      return { isAny: byType.now.size > 0, pastUntil: byType.pastUntil };
    },
    subscriptionsAt: async (scope, { type, sequence, data }) =>
      ((await of(scope)).byType.at(sequence).get(type) ?? unsubscribed).candidates(data),
    subscriptions: async (scope, { type, data }) =>
      ((await of(scope)).byType.now.get(type) ?? unsubscribed).candidates(data),
    active: async (scope, installId) => (await of(scope)).installs.get(installId),
    activePlugin: async (scope, pluginId) =>
      [...(await of(scope)).installs.values()].find((one) => !one.rule && one.pluginId === pluginId),
    source: createSources(store),
    ...createLookupCache(store, log),
  };
}

/** Returns the installs of the active automations of a workspace, oldest first. */
async function rulesIn(
  store: Store,
  scope: Scope,
  { members }: Directory,
  filterFields: (type: string) => FilterFields,
): Promise<Install[]> {
  const rules = (await store.read(scope, activeRules)).map(automationModel.fromRow);
  if (rules.length === 0) return [];
  const shared = await rulesPackage();
  const canFilter: CanFilter = (type, filter) => isTestable(filter, filterFields(type));
  const hosts = await readHosts(store, scope);
  return rules.map((rule) => installOfRule(rule, shared, { canFilter, hosts, members }));
}

const sourceCharsMax = 32 * 1024 * 1024;

/** Caches the code of installs, and evicts the least recently used first. */
function createSources(store: Store): Registry['source'] {
  const sources = new LRUCache<string, string>({
    maxSize: sourceCharsMax,
    sizeCalculation: (source) => source.length + 1,
  });
  return async (scope, sha256) => {
    const known = sources.get(`${scope.workspaceId} ${sha256}`);
    if (known !== undefined) return known;
    const source = (await readCode.one(store, scope, { id: sha256 }))?.source ?? (await codeOfRules(sha256));
    if (source === undefined) throw new Error(`The code ${sha256} of an install is missing.`);
    sources.set(`${scope.workspaceId} ${sha256}`, source);
    return source;
  };
}

/** The code of automations is not stored, because it ships with the server. */
async function codeOfRules(sha256: string): Promise<string | undefined> {
  const { sha256: own, code } = await rulesPackage();
  return own === sha256 ? code : undefined;
}

/** A parsed map takes about twenty times its text in memory. */
const sourceMapCharsMax = 2 * 1024 * 1024;
/**
 * Budget for parsing source maps, in ms per second. Beyond it, stacks of failed runs have bundle positions
 * instead of source positions.
 */
const readingMsMax = 50;

/** Caches the source maps of installs whose runs failed, and evicts the least recently used first. */
function createLookupCache(store: Store, log: Log): SourceMaps {
  const known = new LRUCache<string, { find: SourceMapLookup; chars: number }>({
    maxSize: sourceMapCharsMax,
    sizeCalculation: ({ chars }) => chars + 1,
  });
  let spent = { second: 0, ms: 0 };
  let storedTimes = 0;
  const read = (text: string): SourceMapLookup => {
    const fromMs = performance.now();
    try {
      const find = sourceMapLookupOf(JSON.parse(text) as PackageSourceMap);
      // The map is decoded lazily: the lookup forces it here, inside the measured time.
      find(1, 1);
      return find;
    } finally {
      spent.ms += performance.now() - fromMs;
    }
  };
  const find = async (scope: Scope, sha256: string): Promise<SourceMapLookup> => {
    const key = `${scope.workspaceId} ${sha256}`;
    const cached = known.get(key);
    if (cached) return cached.find;
    const second = Math.floor(performance.now() / 1000);
    if (spent.second !== second) spent = { second, ms: 0 };
    if (spent.ms > readingMsMax) return emptyLookup;
    const storedBefore = storedTimes;
    const text = (await readSourceMap.one(store, scope, { id: sha256 }))?.source_map ?? null;
    const sourceMapLookup = text === null ? emptyLookup : read(text);
    // A map that was read while code was stored may be the previous one, so it is not cached.
    if (storedTimes === storedBefore) known.set(key, { find: sourceMapLookup, chars: text?.length ?? 0 });
    return sourceMapLookup;
  };
  return {
    async sourceMapLookup(scope, sha256) {
      try {
        return await find(scope, sha256);
      } catch (error) {
        // The run still ends; the stack of its error then has bundle positions.
        log('warn', 'source map could not be read', { sha256, error: errorForLog(error) });
        return emptyLookup;
      }
    },
    codeStored(scope, sha256) {
      storedTimes++;
      known.delete(`${scope.workspaceId} ${sha256}`);
    },
  };
}
