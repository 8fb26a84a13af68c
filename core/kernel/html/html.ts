// HTML as a type: inserted values are escaped unless they are `Html`, so that no page can omit escaping.

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** A value inserted into HTML. Null, undefined and false render nothing; an array renders its parts in order. */
export type HtmlContent = Html | string | number | null | undefined | false | readonly HtmlContent[];

/** `html\`<p>${text}</p>\``: escapes every value, for content and for quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlContent[]): Html {
  return new Html(strings.reduce((text, string, at) => text + textOf(parts[at - 1]) + string));
}

/** Marks our own HTML as safe, without escaping. */
export const trusted = (text: string): Html => new Html(text);

function textOf(part: HtmlContent): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(textOf).join('');
  if (part === null || part === undefined || part === false) return '';
  return String(part).replaceAll(/[&<>"']/g, (char) => entities[char]!);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
