// Makes a host call an operation of the API. The calls are derived from the contracts: each is the operation
// of the same name, takes the arguments of its route, and is authorized by that operation's entry in the table
// of rights. The guest's stubs (core/platform/sandbox/sidecar/guest/generated/surface.ts) and the types of the
// SDK are generated from this list.
import { scopeOfContract, type Contract } from '../../../kernel/contract/contract.ts';
import { contracts } from '../../contracts.ts';
import { takesIfMatch, type Route } from '../../../kernel/http/route.ts';
import { camel } from '../../../platform/lib/text/words.ts';
import type { ValueCall } from '../../../kernel/http/values.ts';
import type { Staging } from '../../../kernel/changes/staging.ts';
import type { Context, Directory, Services } from '../../../kernel/context.ts';
import type { Cause } from '../../../kernel/events/event.ts';
import type { App, Caller } from '../../../kernel/http/app.ts';
import type { Principal } from '../../../kernel/http/principal.ts';
import { scopeOf, type Scope } from '../../../platform/store/store.ts';
import type { Meter } from '../budgets/budget.ts';
import { rightsOfInstall } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import type { OwnValues } from '../kv/own.ts';
import type { OwnOneTimeJobs } from '../schedules/own.ts';
import type { Outside } from '../http-out/fetch.ts';

/** Parameters of a path that calls take. */
const pathParams = ['id', 'memberId'] as const;

/** Part of the request that an argument becomes, in argument order: parameters of the path, body, query, options. */
export type Argument = (typeof pathParams)[number] | 'body' | 'query' | 'options';

/** Call that a guest can make. */
export interface GuestCall {
  readonly isRead: boolean;
  /** Longest answer in characters, if it differs from the default. */
  readonly answerMax?: number;
  /** Returns JSON. @throws CallError, ValueError */
  answer(call: BridgeCall, args: readonly unknown[]): Promise<string>;
}

/** Call that is an operation of the API. */
export interface HostCall extends GuestCall {
  readonly route: Route;
  readonly takes: readonly Argument[];
}

/** Keyed by call name, such as `issues.get`. */
export type HostCalls = ReadonlyMap<string, HostCall>;

/** @throws Error if a contract names a call that no plugin can make */
export function hostCallsOf(routes: readonly Route[]): HostCalls {
  const byName = new Map(routes.map((route) => [route.name, route]));
  return new Map(
    contracts.flatMap((contract) =>
      (contract.calls ?? []).map((operation) => {
        const name = `${contract.path}.${operation}`;
        return [callName(contract, operation), hostCallOf(contract, name, byName.get(name))] as const;
      }),
    ),
  );
}

/**
 * Returns the name of a call in the SDK: `reactions.listOnIssue` for the operation `reactions.list-on-issue`, and
 * `releases.issuesAdd` for `releases.issues.add`.
 */
export function callName({ path }: Contract, operation: string): string {
  return `${path}.${methodName(operation)}`;
}

export function methodName(operation: string): string {
  return camel(operation.replaceAll('.', '-'));
}

function hostCallOf(contract: Contract, name: string, route: Route | undefined): HostCall {
  if (route?.kind !== 'read' && route?.kind !== 'write')
    throw new Error(`The host call ${name} has no route that reads or writes.`);
  const isRead = route.kind === 'read';
  // The guest exposes a call by the scope of its namespace, so the route must require the same scope.
  if (route.scope !== scopeOfContract(contract, isRead ? 'read' : 'write'))
    throw new Error(`The host call ${name} needs the scope ${route.scope}.`);
  const takes = takesOf(name, route);
  return {
    route,
    takes,
    isRead,
    answer(call, args) {
      const gatewayCall = gatewayCallOf({ takes }, args);
      if (isRead && !isNotedInFull(route, gatewayCall)) call.staged.reads?.everything();
      return callGateway(call, route, gatewayCall);
    },
  };
}

function takesOf(name: string, route: Route): Argument[] {
  const params = Object.keys(route.params?.properties ?? {});
  const unknown = params.find((param) => !pathParams.some((known) => known === param));
  if (unknown !== undefined) throw new Error(`The host call ${name} takes the unknown parameter ${unknown}.`);
  const all: readonly (readonly [Argument, boolean])[] = [
    ...pathParams.map((param) => [param, params.includes(param)] as const),
    ['body', route.body !== undefined],
    ['query', route.query !== undefined],
    ['options', takesIfMatch(route)],
  ];
  return all.filter(([, isTaken]) => isTaken).map(([argument]) => argument);
}

/**
 * Entities that are read only through their own finders and lists, and whose changes all emit an event of that
 * entity.
 */
const listed = [
  ...['issues', 'comments', 'projects', 'milestones', 'cycles', 'labels', 'fields', 'templates', 'views'],
  ...['pipelines', 'releases', 'boards', 'project-updates'],
];
/**
 * API reads whose rows and lists are tracked one by one, so that a commit can check them precisely.
 * After any other read, every change in the workspace counts as a conflict
 * (core/kernel/changes/reads.ts).
 */
const notedReads: ReadonlySet<string> = new Set([
  ...listed.flatMap((path) => [`${path}.get`, `${path}.list`]),
  'relations.get',
  // `OwnValues` records this read.
  'plugins.kv.list',
]);

/** Reads with `asOf` come from the event log, so they have no rows to track. */
function isNotedInFull({ name }: Route, { query }: GatewayCall): boolean {
  return notedReads.has(name) && query?.asOf === undefined;
}

/** Sends the host calls of a run to the API in process, as the plugin. */
export interface HostGateway {
  /** Performs an API request. The body of the response is JSON text for the guest. */
  readonly call: Caller<string>;
  readonly hostCalls: HostCalls;
  /** Route that lists the plugin's own keys. */
  readonly listKeys: Route;
}

/** Resolves the routes of all host calls; call once per app. */
export function hostGatewayOf(app: App): HostGateway {
  return {
    call: app.caller((body) => {
      const taken = textOf(body);
      return { taken, bytes: taken.length };
    }),
    hostCalls: hostCallsOf(app.routes),
    listKeys: app.route('plugins.kv.list'),
  };
}

/** Stored values and jobs of the plugin, as a run sees them. */
export interface OwnState {
  readonly values: OwnValues;
  readonly oneTimeJobs: OwnOneTimeJobs;
}

export interface BridgeCall extends OwnState {
  readonly gateway: HostGateway;
  /** The plugin, with its rights limited to those of the caller if there is one. */
  readonly principal: Principal;
  readonly installId: string;
  readonly staged: Staging;
  readonly outside: Outside;
  readonly cause: Cause;
  readonly meter: Meter;
  readonly traceparent: string | null;
}

/** Returns the plugin as principal, with the rights granted to its install and narrowed by its manifest. */
export function principalOf({ workspaceId }: Scope, install: Install): Principal {
  const { id, manifest, pluginId } = install;
  return {
    scope: scopeOf(workspaceId, id),
    actor: { kind: 'plugin', id, name: manifest.name ?? pluginId },
    ...rightsOfInstall(install),
    tokenId: id,
  };
}

/** Returns the context of reads that the server makes for a plugin, without a request. All teams are visible. */
export function contextOf(
  services: Services,
  scope: Scope,
  install: Install,
  { directory, staged }: { readonly directory: Directory; readonly staged: Staging | null },
): Context {
  const { actor, scopes, narrowed } = principalOf(scope, install);
  return {
    ...services,
    scope,
    workspaceId: scope.workspaceId,
    directory,
    actor,
    authority: { actor },
    scopes,
    narrowed,
    visibleTeams: null,
    cause: null,
    requestId: '',
    traceparent: null,
    staged,
  };
}

/** Returns the JSON of a successful answer. @throws CallError if the API refuses the request */
export async function callGateway(call: BridgeCall, route: Route, gatewayCall: GatewayCall): Promise<string> {
  const { principal, cause, staged, traceparent } = call;
  if (route.scope !== null) call.meter.useScope(route.scope);
  const outcome = await call.gateway.call(route, {
    ...gatewayCall,
    principal,
    cause,
    staged,
    traceparent,
    isCounted: false,
  });
  const { error } = outcome;
  if (!error) return outcome.body;
  if (error.code === 'not_found')
    throw new CallError(
      'not_found',
      'The object does not exist, or the plugin cannot see it. Check the id and the scopes granted to the plugin.',
    );
  throw new CallError(error.code === 'precondition_failed' ? 'conflict' : error.code, error.message);
}

/** Error of a host call. The guest receives its code and message unchanged. */
export class CallError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export type GatewayCall = Pick<ValueCall, 'params' | 'query' | 'body' | 'ifMatch'>;

/** @throws CallError validation_failed */
export function gatewayCallOf({ takes }: Pick<HostCall, 'takes'>, args: readonly unknown[]): GatewayCall {
  const argument = (name: Argument): unknown => {
    const at = takes.indexOf(name);
    // `ids.map(ctx.issues.get)` passes the array index as second argument; no second argument of a call is a number.
    return takes[0] === 'id' && at === 1 && typeof args[1] === 'number' ? undefined : args[at];
  };
  const { ifVersion } = objectOf((takes.includes('options') && argument('options')) || {});
  return {
    params: Object.fromEntries(
      pathParams.flatMap((param) => (takes.includes(param) ? [[param, idOf(argument(param))]] : [])),
    ),
    ...(takes.includes('query') ? { query: queryOf(argument('query')) } : {}),
    ...(takes.includes('body') ? { body: objectOf(argument('body')) } : {}),
    ...(ifVersion === undefined ? {} : { ifMatch: versionOf(ifVersion) }),
  };
}

function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[\w-]{1,80}$/.test(value))
    throw new CallError('validation_failed', 'An id must be a string of up to 80 letters, digits, _ and -.');
  return value;
}

/** An invalid version becomes one that no object has, so the request fails as a version conflict. */
function versionOf(value: unknown): number {
  return /^\d{1,15}$/.test(String(value)) ? Number(value) : -1;
}

/** @throws CallError validation_failed */
export function queryOf(value: unknown): Record<string, unknown> {
  return value === undefined || value === null ? {} : objectOf(value);
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new CallError('validation_failed', 'The argument must be an object.');
  return value as Record<string, unknown>;
}

const descriptionCharsMax = 64 * 1024;

/** Returns the JSON of an answer with long descriptions cut; `null` for an empty answer. */
function textOf(body: unknown): string {
  if (body === undefined) return 'null';
  const text = JSON.stringify(body);
  return text.length <= descriptionCharsMax ? text : JSON.stringify(cutDescriptions(body));
}

/** Cuts `description` of the object itself, of its `previous`, and of the items of a page. */
export function cutDescriptions<T>(value: T): T;
export function cutDescriptions(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(cutDescriptions);
  const object = value as Record<string, unknown>;
  const copy: Record<string, unknown> = { ...object };
  for (const inner of ['data', 'previous']) if (inner in copy) copy[inner] = cutDescriptions(copy[inner]);
  if (typeof object.description === 'string' && object.description.length > descriptionCharsMax) {
    copy.description = object.description.slice(0, descriptionCharsMax).toWellFormed();
    copy.truncated = true;
  }
  return copy;
}
