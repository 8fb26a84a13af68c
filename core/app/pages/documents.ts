// Documents that a server shows below /docs: files of docs/ in the repository, embedded as text.
import apiIssues from '../../../docs/api/issues.md' with { type: 'text' };
import apiCycles from '../../../docs/api/cycles.md' with { type: 'text' };
import api from '../../../docs/api/README.md' with { type: 'text' };
import projects from '../../../docs/api/projects.md' with { type: 'text' };
import releases from '../../../docs/api/releases.md' with { type: 'text' };
import timeTravel from '../../../docs/api/time-travel.md' with { type: 'text' };
import apiAttachments from '../../../docs/api/attachments.md' with { type: 'text' };
import apiFields from '../../../docs/api/fields.md' with { type: 'text' };
import sla from '../../../docs/api/sla.md' with { type: 'text' };
import apiSearch from '../../../docs/api/search.md' with { type: 'text' };
import apiTriage from '../../../docs/api/triage.md' with { type: 'text' };
import apiBoards from '../../../docs/api/boards.md' with { type: 'text' };
import apiComments from '../../../docs/api/comments.md' with { type: 'text' };
import apiInbox from '../../../docs/api/inbox.md' with { type: 'text' };
import agents from '../../../docs/guides/agents.md' with { type: 'text' };
import authentication from '../../../docs/guides/authentication.md' with { type: 'text' };
import commandLine from '../../../docs/guides/command-line.md' with { type: 'text' };
import errors from '../../../docs/guides/errors.md' with { type: 'text' };
import filters from '../../../docs/guides/filters.md' with { type: 'text' };
import idempotency from '../../../docs/guides/idempotency.md' with { type: 'text' };
import oauth from '../../../docs/guides/oauth.md' with { type: 'text' };
import oauthApps from '../../../docs/guides/oauth-apps.md' with { type: 'text' };
import passkeys from '../../../docs/guides/passkeys.md' with { type: 'text' };
import people from '../../../docs/guides/people.md' with { type: 'text' };
import paging from '../../../docs/guides/paging.md' with { type: 'text' };
import quickStart from '../../../docs/guides/quick-start.md' with { type: 'text' };
import rateLimits from '../../../docs/guides/rate-limits.md' with { type: 'text' };
import guides from '../../../docs/guides/README.md' with { type: 'text' };
import versioning from '../../../docs/guides/versioning.md' with { type: 'text' };
import plugins from '../../../docs/plugins/README.md' with { type: 'text' };
import pluginCtx from '../../../docs/plugins/ctx.md' with { type: 'text' };
import pluginErrors from '../../../docs/plugins/errors.md' with { type: 'text' };
import pluginFilters from '../../../docs/plugins/filters.md' with { type: 'text' };
import pluginInstalling from '../../../docs/plugins/installing.md' with { type: 'text' };
import pluginLimits from '../../../docs/plugins/limits.md' with { type: 'text' };
import pluginRetries from '../../../docs/plugins/retries.md' with { type: 'text' };
import pluginSchedules from '../../../docs/plugins/schedules.md' with { type: 'text' };
import pluginTesting from '../../../docs/plugins/testing.md' with { type: 'text' };
import pluginTutorial from '../../../docs/plugins/tutorial.md' with { type: 'text' };
import pluginUndo from '../../../docs/plugins/undo.md' with { type: 'text' };
import roles from '../../../docs/roles.md' with { type: 'text' };
import scopes from '../../../docs/scopes.md' with { type: 'text' };
import spec from '../../../docs/spec/README.md' with { type: 'text' };
import specApi from '../../../docs/spec/api.md' with { type: 'text' };
import specDurability from '../../../docs/spec/durability.md' with { type: 'text' };
import specErrors from '../../../docs/spec/errors.md' with { type: 'text' };
import specEvents from '../../../docs/spec/events.md' with { type: 'text' };
import specPlugins from '../../../docs/spec/plugins.md' with { type: 'text' };
import specSandbox from '../../../docs/spec/sandbox.md' with { type: 'text' };
import specWebhooks from '../../../docs/spec/webhooks.md' with { type: 'text' };
import webhooks from '../../../docs/webhooks.md' with { type: 'text' };

/** Folder → name → Markdown. The index of a folder is `README`. */
export const documents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': { roles, scopes, webhooks },
  api: {
    README: api,
    attachments: apiAttachments,
    boards: apiBoards,
    comments: apiComments,
    cycles: apiCycles,
    fields: apiFields,
    inbox: apiInbox,
    issues: apiIssues,
    projects,
    releases,
    search: apiSearch,
    sla,
    'time-travel': timeTravel,
    triage: apiTriage,
  },
  guides: {
    README: guides,
    agents,
    authentication,
    'command-line': commandLine,
    errors,
    filters,
    idempotency,
    oauth,
    'oauth-apps': oauthApps,
    paging,
    passkeys,
    people,
    'quick-start': quickStart,
    'rate-limits': rateLimits,
    versioning,
  },
  plugins: {
    README: plugins,
    ctx: pluginCtx,
    errors: pluginErrors,
    filters: pluginFilters,
    installing: pluginInstalling,
    limits: pluginLimits,
    retries: pluginRetries,
    schedules: pluginSchedules,
    testing: pluginTesting,
    tutorial: pluginTutorial,
    undo: pluginUndo,
  },
  spec: {
    README: spec,
    api: specApi,
    durability: specDurability,
    errors: specErrors,
    events: specEvents,
    plugins: specPlugins,
    sandbox: specSandbox,
    webhooks: specWebhooks,
  },
};
