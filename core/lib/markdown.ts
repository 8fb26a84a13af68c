// What people write, as HTML that any page may show, and as the text without its code. Bun's own renderer reads it (CommonMark with
// tables, tasks and bare links); it takes HTML for text, and of what it makes only what stands here gets through.

const syntax = { autolinks: true, noHtmlBlocks: true, noHtmlSpans: true } as const;

/** Element → the attributes that it keeps. */
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

/** Safe in any page: no scripts, no markup of its author's, no links but to the web and to mail. */
export function safeHtml(markdown: string): string {
  return new HTMLRewriter().on('*', { element: sanitize }).transform(Bun.markdown.html(markdown, syntax));
}

function sanitize(element: HTMLRewriterTypes.Element): void {
  const kept = allowed.get(element.tagName);
  if (!kept) return void element.removeAndKeepContent();
  for (const [name] of [...element.attributes]) if (!kept.includes(name)) element.removeAttribute(name);
  if (element.tagName === 'img' && !loadable.test(element.getAttribute('src') ?? '')) element.remove();
  if (element.tagName !== 'a') return;
  if (linkable.test(element.getAttribute('href') ?? '')) element.setAttribute('rel', 'nofollow noopener');
  else element.removeAndKeepContent();
}

const nothing = (): string => '\n';
const inside = (children: string): string => `${children}\n`;

/** The text without code and without markup, a line for each block. */
export function plainText(markdown: string): string {
  return Bun.markdown.render(
    markdown,
    {
      ...{ code: nothing, codespan: nothing, image: nothing, hr: nothing },
      ...{ paragraph: inside, heading: inside, listItem: inside, th: inside, td: inside, blockquote: inside },
    },
    syntax,
  );
}
