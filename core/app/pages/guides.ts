// Serves the guides below /docs, which are files of docs/ embedded as text, and a page per error code, so
// that every server has the documentation of its own version.
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
import apiPreferences from '../../../docs/api/preferences.md' with { type: 'text' };
import cli from '../../../docs/cli.md' with { type: 'text' };
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
import webApp from '../../../docs/guides/web-app.md' with { type: 'text' };
import webhooks from '../../../docs/webhooks.md' with { type: 'text' };
import { Type } from 'typebox';
import { ApiError, errorCodes, type ErrorCode } from '../../platform/lib/errors/errors.ts';
import { Closed } from '../../platform/lib/schema.ts';
import { defineRoute, type RawAnswer, type Route } from '../../kernel/http/route.ts';
import { html, trusted, page } from '../../kernel/html.ts';

/** Folder → name → Markdown. The index of a folder is `README`. */
const documents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': { cli, roles, scopes, webhooks },
  api: {
    README: api,
    attachments: apiAttachments,
    boards: apiBoards,
    comments: apiComments,
    cycles: apiCycles,
    fields: apiFields,
    inbox: apiInbox,
    issues: apiIssues,
    preferences: apiPreferences,
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
    'web-app': webApp,
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

const facts = {
  method: 'GET',
  scope: null,
  limit: 'read',
  responses: { 200: Type.String() },
  contentType: 'text/html',
} as const;
const name = Type.String({ pattern: '^[a-z][a-z-]{0,40}$' });
const codes = Object.keys(errorCodes) as ErrorCode[];
const folders = Object.keys(documents).filter((folder) => folder !== '');

const nav = html`<nav aria-label="Documentation">
  <a href="/docs">API reference</a>${folders.map(
    (folder) => html` · <a href="/docs/${folder}">${folder}</a>`,
  )}
  · <a href="/docs/webhooks">webhooks</a> · <a href="/docs/scopes">scopes</a>
</nav>`;

const pathOf = (folder: string, file: string): string =>
  ['/docs', folder, file === 'README' ? '' : file].filter((part) => part !== '').join('/');

const served = new Set([
  '/docs',
  ...codes.map((code) => `/docs/errors/${code}`),
  ...Object.entries(documents).flatMap(([folder, files]) =>
    Object.keys(files).map((file) => pathOf(folder, file)),
  ),
]);

export const guideRoutes: Route[] = [
  ...Object.keys(documents).map((folder) =>
    defineRoute({
      ...facts,
      path: `/docs${folder === '' ? '' : `/${folder}`}/{name}`,
      name: `docs.${folder === '' ? 'document' : folder}`,
      summary: 'Show a document',
      params: Closed({ name }),
      raw: ({ params }) => documentPage(folder, params.name),
    }),
  ),
  ...folders.map((folder) =>
    defineRoute({
      ...facts,
      path: `/docs/${folder}`,
      name: `docs.${folder}_index`,
      summary: 'Show the index of a documentation folder',
      raw: () => documentPage(folder, 'README'),
    }),
  ),
  defineRoute({
    ...facts,
    path: '/docs/errors/{code}',
    name: 'docs.error',
    summary: 'Show the description of an error code',
    params: Closed({ code: Type.Enum(codes) }),
    raw: ({ params }) => errorPage(params.code),
  }),
];

const rendered = new Map<string, RawAnswer>();

function once(path: string, make: () => RawAnswer): RawAnswer {
  const known = rendered.get(path) ?? make();
  rendered.set(path, known);
  return known;
}

/**
 * The path of a page is the path of its file without extension, so links between documents work; links to files that
 * are not served become plain text.
 * @param isServed returns true for a served path such as `/docs/guides/paging`
 */
function htmlOf(markdown: string, path: string, isServed: (path: string) => boolean): string {
  const html = Bun.markdown
    .html(markdown)
    .replaceAll(/<h([1-6])>(.*?)<\/h\1>/gs, (_, level: string, words: string) => {
      return `<h${level} id="${anchorOf(words)}">${words}</h${level}>`;
    });
  return html.replaceAll(/<a href="([^"]*)">(.*?)<\/a>/gs, (whole, href: string, words: string) => {
    if (/^(https?:|#|\/)/.test(href)) return whole;
    const { pathname, hash } = new URL(href, `http://docs${path}`);
    const target = pathname.replace(/\.md$/, '').replace(/\/README$/, '');
    return isServed(target) ? `<a href="${target}${hash}">${words}</a>` : words;
  });
}

/** Returns the same anchor as GitHub, so that a link to a heading works in both places. */
function anchorOf(words: string): string {
  const text = words.replaceAll(/<[^>]*>|&\w+;/g, '').toLowerCase();
  return text.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
}

/** Returns the text of the section `## title` with its subsections; null if there is none. */
function sectionOf(markdown: string, title: string): string | null {
  const sections = markdown.split(/^## /m).slice(1);
  const match = sections.find((section) => section.startsWith(`${title}\n`));
  return match === undefined ? null : match.slice(title.length + 1).trim();
}

function titleOf(markdown: string): string {
  return /^# (.+)$/m.exec(markdown)?.[1] ?? 'Tatami';
}

/** @throws ApiError not_found */
function documentPage(folder: string, file: string): RawAnswer {
  const files = documents[folder] ?? {};
  const text = Object.hasOwn(files, file) ? files[file] : undefined;
  if (text === undefined) throw new ApiError('not_found');
  // Links in the index of a folder are relative to the path of its file.
  const at = `${pathOf(folder, '')}/${file}`;
  return once(pathOf(folder, file), () =>
    page(titleOf(text), trusted(htmlOf(text, at, (path) => served.has(path))), { nav }),
  );
}

function errorPage(code: ErrorCode): RawAnswer {
  const path = `/docs/errors/${code}`;
  return once(path, () => {
    const { status, retry, text } = errorCodes[code];
    const advice = retry ? 'can succeed' : 'fails again';
    const words = sectionOf(documents.guides?.errors ?? '', code) ?? '';
    const markdown = `# ${code}\n\n${text}\n\nStatus ${status}. A retry of the same request ${advice}.\n\n${words}\n\n[All errors](/docs/guides/errors)`;
    return page(code, trusted(htmlOf(markdown, '/docs/guides/errors', (to) => served.has(to))), { nav });
  });
}
