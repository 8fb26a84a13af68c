// HTML as a value: what is put into it is escaped unless it is HTML already, so that no page can forget to.

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** What a page can hold. Null, undefined and false are nothing; a list is its parts one after the other. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

/** `html\`<p>${text}</p>\``: every value is escaped, in content and in quoted attributes alike. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, at) => text + textOf(parts[at - 1]) + string));
}

/** HTML of our own that was made elsewhere, taken as it is. */
export const trusted = (text: string): Html => new Html(text);

function textOf(part: Part): string {
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
