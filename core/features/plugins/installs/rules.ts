// Installs of automations. The runtime runs each rule as an install of the plugin `automations` with the rule as
// its settings, so that runs, proposals, undo, budgets and limits count per rule. docs/decisions/0103.
import type { PluginManifest, PluginPackage, SecretRequest } from '../../../../sdk/plugin/manifest.ts';
import type { Change } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import {
  automationModel,
  hostNamesOf,
  ruleOf,
  scheduleName,
  scopesOf,
  settingsOf,
  subscriptionsOf,
  type Automation,
  type Compiling,
  type Hosts,
  type Rule,
} from '../../automations/index.ts';
import { automation, isRuleId } from '../../automations/contract.ts';
import { openHostSecret } from '../../automation-hosts/index.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { packFirstParty, rulesPlugin } from '../packages.ts';
import { installModel, type Install } from './model.ts';

/** Id of the isolates that the rules of a workspace share. */
const isolateOfRules = 'rules';
/** Isolates of a workspace among which the runs of rules are divided by issue. */
const partitions = 4;

let packed: Promise<PluginPackage> | undefined;

/** Returns the package of the plugin `automations`. It is packed once, on first use. */
export const rulesPackage = (): Promise<PluginPackage> => (packed ??= packFirstParty(rulesPlugin));

/** Returns the id of the isolates that run an install. */
export const isolateOf = ({ id, rule }: Install): string => (rule ? isolateOfRules : id);

/** Facts that suffice for the rights and the name of a rule. */
const plainly: Compiling = { canFilter: () => false, hosts: new Map(), members: new Map() };

/** Returns the install that runs an automation. */
export function installOfRule(
  rule: Automation,
  { manifest, sha256 }: PluginPackage,
  compiling: Compiling = plainly,
): Install {
  const own = manifestOf(rule, manifest, compiling);
  return {
    id: rule.id,
    pluginId: rulesPlugin,
    pluginVersion: own.version,
    sha256,
    manifest: own,
    grant: Object.keys(own.scopes ?? {}),
    settings: settingsOf(rule, compiling),
    mode: rule.mode,
    modes: {},
    state: stateOf(rule),
    stateReason: rule.stateReason,
    publisher: null,
    pending: null,
    offered: {},
    secretsSet: Object.fromEntries(Object.keys(own.secrets ?? {}).map((name) => [name, rule.createdAt])),
    probationLeft: rule.probationLeft,
    budget: { whenSpent: 'stop' },
    sinceSequence: rule.sinceSequence,
    version: rule.version,
    createdAt: rule.createdAt,
    updatedAt: rule.updatedAt,
    deletedAt: rule.deletedAt,
    rule,
    hosts: compiling.hosts,
  };
}

/** A suspended rule does not run, like one that an administrator paused. */
function stateOf({ state }: Automation): Install['state'] {
  return state === 'paused' || state === 'suspended' ? 'paused_by_admin' : state;
}

function manifestOf(
  automation: Automation,
  shared: PluginManifest,
  { canFilter, hosts }: Compiling,
): PluginManifest {
  const rule = ruleOf(automation);
  const { routes = {}, ...rest } = shared;
  return {
    ...rest,
    version: String(automation.revision),
    name: automation.name,
    description: automation.description,
    scopes: scopesOf(rule) as PluginManifest['scopes'] & object,
    on: subscriptionsOf(rule, canFilter),
    schedules: schedulesOf(rule, shared),
    ...(rule.trigger.type === 'webhook' ? { routes } : {}),
    ...outsideOf(rule, hosts),
    partitions,
  };
}

function schedulesOf(
  { trigger }: Rule,
  { schedules = {} }: PluginManifest,
): PluginManifest['schedules'] & object {
  const { [scheduleName]: scheduled, ...others } = schedules;
  if (trigger.type !== 'schedule' || !scheduled) return others;
  const { cron, timeZone } = trigger;
  return {
    ...others,
    [scheduleName]: { ...scheduled, cron, ...(timeZone === undefined ? {} : { timeZone }) },
  };
}

/** Returns the parts of the manifest that permit requests to the hosts that a rule names. */
function outsideOf(rule: Rule, hosts: Hosts): Pick<PluginManifest, 'net' | 'secrets'> {
  const used = hostNamesOf(rule).flatMap((name) => hosts.get(name) ?? []);
  if (used.length === 0) return {};
  const secrets = used.flatMap(({ origin, secret, header, format }): [string, SecretRequest][] =>
    secret === null
      ? []
      : [
          [
            secret,
            { hosts: [origin], header: header ?? 'authorization', ...(format === null ? {} : { format }) },
          ],
        ],
  );
  return {
    net: used.map(({ origin, path }) => ({
      origin,
      why: 'A rule sends requests to this host.',
      ...(path === null ? {} : { path }),
    })),
    ...(secrets.length > 0 ? { secrets: Object.fromEntries(secrets) } : {}),
  };
}

/** Finds an install or automation by id, deleted ones included. */
export async function findInstall(ctx: Context, id: string): Promise<Install | undefined> {
  if (!isRuleId(id)) return installModel.find(ctx, id);
  const rule = await automationModel.find(ctx, id);
  return rule && installOfRule(rule, await rulesPackage());
}

/** Fields of an install that the runtime changes; only automations are suspended. */
interface RuntimePatch {
  readonly state?: 'active' | 'suspended' | 'disabled_failures' | 'disabled_sandbox';
  readonly stateReason?: string | null;
  readonly probationLeft?: number;
  readonly mode?: Install['mode'];
}

/** Returns a change of an install, or of the automation that it runs; null if it changes nothing. */
export function changeOfInstall(
  install: Install,
  patch: RuntimePatch,
  nowMs: number,
): { readonly change: Change; readonly after: Install } | null {
  const { rule } = install;
  if (!rule) {
    const change = installModel.update(install, patch as Partial<Install>, nowMs);
    return change && { change, after: change.after };
  }
  const change = automationModel.update(rule, patch, nowMs);
  return change && { change, after: ofRule(install, change.after) };
}

/** Returns an install with the present state of its automation. */
const ofRule = (install: Install, rule: Automation): Install => ({
  ...install,
  mode: rule.mode,
  state: stateOf(rule),
  stateReason: rule.stateReason,
  probationLeft: rule.probationLeft,
  version: rule.version,
  rule,
});

/** Returns the secrets of the hosts that an automation sends to, by their names in the sandbox. */
export async function openHostSecrets(
  options: Parameters<typeof openHostSecret>[0],
  scope: Scope,
  { rule, hosts = new Map() }: Install,
): Promise<ReadonlyMap<string, string>> {
  const secrets = new Map<string, string>();
  for (const name of rule ? hostNamesOf(ruleOf(rule)) : []) {
    const host = hosts.get(name);
    const value = host?.secret ? await openHostSecret(options, scope, host.id) : undefined;
    if (host?.secret && value !== undefined) secrets.set(host.secret, value);
  }
  return secrets;
}

/** Type and id of the object that people see for an install, for links. */
export const targetOf = ({ id, rule }: Install) => ({ kind: rule ? automation.name : installModel.name, id });

/** Noun of an install in messages. */
export const nounOf = ({ rule }: Pick<Install, 'rule'>): string => (rule ? 'automation' : 'plugin');
