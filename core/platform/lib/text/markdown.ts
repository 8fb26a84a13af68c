// Converts user Markdown to safe HTML, and to text without code. Bun's renderer parses it (CommonMark with tables, tasks and
// autolinks) and escapes HTML; only allowed elements of its output are retained.

const syntax = { autolinks: true, noHtmlBlocks: true, noHtmlSpans: true } as const;

/** Allowed attributes by element. */
const allowed: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<readonly string[]>({
    ...Object.fromEntries(
      'p br hr strong em del code pre blockquote ul h1 h2 h3 h4 h5 h6 table thead tbody tr'
        .split(' ')
        .map((name) => [name, []]),
    ),
    a: ['href', 'title'],
    img: ['src', 'alt', 'title'],
    ol: ['start'],
    li: ['class'],
    code: ['class'],
    input: ['type', 'checked', 'disabled', 'class'],
    th: ['align'],
    td: ['align'],
  }),
);
const linkable = /^(https?:\/\/|mailto:)/i;
const loadable = /^https?:\/\//i;

/** Returns HTML that is safe in any page: no scripts, no HTML from the author, links only to the web and mail. */
export function safeHtml(markdown: string): string {
  return new HTMLRewriter().on('*', { element: sanitize }).transform(Bun.markdown.html(markdown, syntax));
}

function sanitize(element: HTMLRewriterTypes.Element): void {
  const attributes = allowed.get(element.tagName);
  if (!attributes) return void element.removeAndKeepContent();
  for (const [name] of [...element.attributes]) if (!attributes.includes(name)) element.removeAttribute(name);
  if (element.tagName === 'img' && !loadable.test(element.getAttribute('src') ?? '')) element.remove();
  if (element.tagName !== 'a') return;
  if (linkable.test(element.getAttribute('href') ?? '')) element.setAttribute('rel', 'nofollow noopener');
  else element.removeAndKeepContent();
}

const nothing = (): string => '\n';
const inside = (children: string): string => `${children}\n`;

/** Returns the text without code and markup, one line per block. */
export function plainText(markdown: string): string {
  return Bun.markdown.render(
    markdown,
    {
      code: nothing,
      codespan: nothing,
      image: nothing,
      hr: nothing,
      paragraph: inside,
      heading: inside,
      listItem: inside,
      th: inside,
      td: inside,
      blockquote: inside,
    },
    syntax,
  );
}
