// Serves the guides and a page per error code, so that every server has the documentation of its own version.
import { Type } from 'typebox';
import { ApiError, errorCodes, type ErrorCode } from '../../platform/lib/errors/errors.ts';
import { Closed } from '../../platform/lib/schema.ts';
import { defineRoute, type RawAnswer, type Route } from '../../kernel/http/route.ts';
import { documents } from './documents.ts';
import { html, trusted, page } from '../../kernel/html.ts';

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

const nav = html`<nav>
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

// Renders our documents as HTML. The path of a page is the path of its file without extension, so links between documents work; links to
// files that are not served become plain text.

/** @param isServed returns true for a served path such as `/docs/guides/paging` */
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
