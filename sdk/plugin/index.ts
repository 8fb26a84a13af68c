// `@tatami/sdk/plugin`: what a plugin's `plugin.ts` imports. At run time it is one function and the errors; everything
// else is types.
import type { PluginDefinition, Scope } from './definition.ts';

export type { BaseContext, Context, KeyValue, Log, RunInfo } from './context.ts';
export type {
  PluginDefinition,
  PluginEvent,
  PluginEventType,
  Progress,
  Schedule,
  Scope,
  ScopeRequest,
  Subscription,
} from './definition.ts';
export {
  Conflict,
  Drop,
  EgressDenied,
  InvalidInput,
  NotFound,
  PluginError,
  QuotaExceeded,
  RetryLater,
  ScopeDenied,
} from './errors.ts';
export type { Comment, Issue, IssuePatch, IssueQuery, Label, Page, Priority, Project } from './resources.ts';

/** The default export of `plugin.ts`. The host reads the handlers from it when it loads the module. */
export function definePlugin<Scopes extends Scope = never, Settings = Record<string, unknown>>(
  definition: PluginDefinition<Scopes, Settings>,
): PluginDefinition<Scopes, Settings> {
  return definition;
}
