// Renders our documents as HTML. The path of a page is the path of its file without extension, so links between documents work; links to
// files that are not served become plain text.

/** @param isServed returns true for a served path such as `/docs/guides/paging` */
export function htmlOf(markdown: string, path: string, isServed: (path: string) => boolean): string {
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
export function sectionOf(markdown: string, title: string): string | null {
  const sections = markdown.split(/^## /m).slice(1);
  const match = sections.find((section) => section.startsWith(`${title}\n`));
  return match === undefined ? null : match.slice(title.length + 1).trim();
}

export function titleOf(markdown: string): string {
  return /^# (.+)$/m.exec(markdown)?.[1] ?? 'Tatami';
}
