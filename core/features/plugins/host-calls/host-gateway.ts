// Sends the host calls of a run to the API in process, as the plugin.
import type { Staging } from '../../../kernel/changes/staging.ts';
import type { Cause } from '../../../kernel/events/event.ts';
import type { App, Caller } from '../../../kernel/http/app.ts';
import type { Principal } from '../../../kernel/http/principal.ts';
import type { Route } from '../../../kernel/http/route.ts';
import { scopeOf, type Scope } from '../../../platform/store/store.ts';
import type { Meter } from '../budgets/meter.ts';
import { CallError, type GatewayCall, textOf } from './gateway-call.ts';
import { hostCallsOf, type HostCalls } from './host-calls.ts';
import { rightsOfInstall } from '../installs/versions/matching-types.ts';
import type { Install } from '../installs/schema.ts';
import type { OwnValues } from '../kv/own.ts';
import type { OwnOneTimeJobs } from '../one-time-jobs/own.ts';
import type { Outside } from '../outside/fetch.ts';

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
