// `@tatami/sdk/plugin`: imports of a plugin's `plugin.ts`. At run time it consists of one function and the errors;
// everything else is types.
import type { Issue } from '../generated/issues.ts';
import type { Scope } from '../generated/scopes.ts';
import type { PluginDefinition } from './definition.ts';
export type { PluginEventType } from './event-types.ts';

export type { Page } from '../page.ts';
export type * from '../generated/index.ts';
export type { Chosen, Received, VersionOptions } from './call.ts';
export type {
  BaseContext,
  Context,
  FetchInit,
  FetchResponse,
  KeyValue,
  Log,
  OneOffs,
  RunInfo,
  SecretRef,
  Secrets,
} from './context.ts';
export type {
  Action,
  ActionEvent,
  NetRequest,
  PluginDefinition,
  PluginEvent,
  Progress,
  Route,
  RouteAnswer,
  RouteRequest,
  Schedule,
  ScheduledEvent,
  ScopeRequest,
  SecretRequest,
  Subscription,
} from './definition.ts';
export {
  Conflict,
  DeadlineExceeded,
  Drop,
  EgressDenied,
  InvalidInput,
  NotFound,
  PluginError,
  QuotaExceeded,
  RetryLater,
  ScopeDenied,
  Unreachable,
} from './errors.ts';

export type Priority = Issue['priority'];

/**
 * Defines a plugin. Use the result as the default export of `plugin.ts`; the host reads the handlers from it when it
 * loads the module.
 */
export function definePlugin<Scopes extends Scope = never, Settings = Record<string, unknown>>(
  definition: PluginDefinition<Scopes, Settings>,
): PluginDefinition<Scopes, Settings> {
  return definition;
}
