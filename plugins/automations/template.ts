// Templates in the texts of a rule: LiquidJS without loops, partials and counters. A text that is exactly one
// `{{ expression }}` yields the value with its type.
import { distance } from 'fastest-levenshtein';
import { Context, Liquid, Output, toValueSync, type Template } from 'liquidjs/dist/liquid.browser.mjs';
import { Drop } from '@tatami/sdk/plugin';

export const templateCharsMax = 10_000;
export const outputCharsMax = 65_536;
/** Characters and list items that the filters of one template may produce. */
const memoryMax = 500_000;
const cachedMax = 200;
/** The time that a text takes to check grows with the square of its nesting. */
const nestingMax = 10;

/** Filters that evaluate an expression for each item, and filters that are slow in the sandbox. */
const withoutFilters = /_exp$|sha256$/;
const tags = ['assign', 'case', 'comment', 'echo', 'if', 'raw', 'unless'] as const;
const names = ['event', 'issue', 'now', 'parent', 'previous', 'rule', 'webhook'] as const;

/** Values that templates can use, by name. */
export type TemplateScope = { readonly [Name in (typeof names)[number]]: unknown };

let engine: Liquid | undefined;
const cached = new Map<string, Template[]>();

/**
 * Renders every text in a JSON value.
 * @param scope called only if there is a template
 * @param path names the value in errors
 * @param convert applied to each value that a template yields
 * @throws Drop
 */
export function renderAll(
  value: unknown,
  scope: () => TemplateScope,
  path: string,
  convert: (value: unknown) => unknown = unchanged,
): unknown {
  if (!hasTemplate(value)) return value;
  if (typeof value === 'string') return convert(renderText(value, scope(), path));
  const inner = (item: unknown, name: string | number): unknown =>
    renderAll(item, scope, `${path}.${name}`, convert);
  if (Array.isArray(value)) return value.map(inner);
  return Object.fromEntries(Object.entries(value as object).map(([name, item]) => [name, inner(item, name)]));
}

/** Marks the rendering of a path, whose values are percent-encoded. */
class PathContext extends Context {}

/** Renders a path of a URL. Each value is percent-encoded, except after the filter `raw`. @throws Drop */
export function renderPath(text: string, scope: () => TemplateScope, path: string): unknown {
  return isTemplate(text) ? renderText(text, scope(), path, PathContext) : text;
}

function escapeOutput(this: unknown, value: unknown): unknown {
  const { context } = this as { readonly context: Context };
  if (!(context instanceof PathContext)) return value;
  return encodeURIComponent(textOf(value).replace(/\p{Surrogate}/gu, '\ufffd'));
}

function unchanged(value: unknown): unknown {
  return value;
}

/** Renders a value for the API: references such as `{ id, name }` that a template copies become their ids. */
export function renderInput(value: unknown, scope: () => TemplateScope, path: string): unknown {
  return renderAll(value, scope, path, idsIn);
}

/**
 * Renders the filter of a selection. An expression in it yields a text, a number, a reference or a list of them:
 * an object from elsewhere could hold operators.
 * @returns null if an expression has no value: such a filter would select issues that have none
 * @throws Drop
 */
export function renderFilter(filter: object, scope: () => TemplateScope, path: string): object | null {
  let isEmpty = false;
  const rendered = renderAll(filter, scope, path, (yielded) => {
    const value = idsIn(yielded);
    const all = [value].flat();
    if (all.length === 0 || all.some((one) => one === null || (typeof one === 'string' && one.trim() === '')))
      isEmpty = true;
    if (all.some((one) => typeof one === 'object' && one !== null))
      throw new Drop(
        `${path}: An expression yields an object. Use an expression that yields a text or an id.`,
      );
    return value;
  });
  return isEmpty ? null : (rendered as object);
}

function idsIn(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(idsIn);
  const { id } = value as { readonly id?: unknown };
  if (typeof id === 'string') return id;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, idsIn(item)]));
}

/** Returns true if a text in a JSON value is a template. Uses `for in`, because iterators are slow in the sandbox. */
function hasTemplate(value: unknown): boolean {
  if (typeof value === 'string') return isTemplate(value);
  if (value === null || typeof value !== 'object') return false;
  for (const name in value) if (hasTemplate(value[name as keyof typeof value])) return true;
  return false;
}

/**
 * Renders a template. Exactly one `{{ expression }}` yields its value, and null for an unknown name.
 * @throws Drop with the path of the text
 */
function renderText(text: string, scope: TemplateScope, path: string, ContextOf = Context): unknown {
  try {
    const templates = parseOnce(text);
    const output = new BoundedOutput();
    const liquid = liquidOf();
    const context = new ContextOf(scope, liquid.options, { sync: true }, { liquid });
    toValueSync(liquid.renderer.renderTemplates(templates, context, output));
    const [only] = templates;
    return templates.length === 1 && only instanceof Output ? (output.value ?? null) : output.buffer;
  } catch (error) {
    throw new Drop(`${path}: ${reasonOf(error)}`);
  }
}

/** Returns true if a name of the template scope occurs in a template of the value. */
export function mentions(value: unknown, name: (typeof names)[number] | 'description'): boolean {
  if (typeof value === 'string') return isTemplate(value) && wordOf(name).test(value);
  return value !== null && typeof value === 'object'
    ? Object.values(value).some((item) => mentions(item, name))
    : false;
}

/** A member of another object, such as `issue.parent`, is no mention of the name; `description` is always a member. */
function wordOf(name: string): RegExp {
  return new RegExp(name === 'description' ? 'description' : `(?<![.\\w])${name}\\b`);
}

/** Members of the names whose values have a fixed shape, such as the fields of `issue`. */
export type KnownMembers = Partial<Record<(typeof names)[number], readonly string[]>>;

/**
 * Checks a text of a rule without rendering it.
 * @returns the error with its correction; null if the text is valid
 */
export function checkTemplate(text: string, members: KnownMembers = {}): string | null {
  if (!isTemplate(text)) return null;
  try {
    for (const [first, second] of liquidOf().globalVariableSegmentsSync(parseOnce(text))) {
      const name = String(first);
      if (!isName(name)) return unknownName(name, name, names);
      const known = members[name];
      if (typeof second === 'string' && known && !known.includes(second))
        return unknownName(`${name}.${second}`, second, known);
    }
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

function isTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('{%');
}

function unknownName(path: string, name: string, among: readonly string[]): string {
  const near = nearestName(name, among);
  return `The name "${path}" is unknown. ${near ? `Did you mean "${near}"?` : `Use ${listOf(among)}.`}`;
}

function isName(name: string): name is (typeof names)[number] {
  return names.some((known) => known === name);
}

function parseOnce(text: string): Template[] {
  const known = cached.get(text);
  if (known) return known;
  if (text.length > templateCharsMax)
    throw new Error(`The template has ${text.length} characters. Shorten it to ${templateCharsMax}.`);
  if (nestingOf(text) > nestingMax)
    throw new Error(`The template nests more than ${nestingMax} brackets. Use \`assign\` for inner values.`);
  const templates = liquidOf().parse(text);
  if (cached.size >= cachedMax) cached.clear();
  cached.set(text, templates);
  return templates;
}

/** Returns an upper bound of the depth of brackets and conditions. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [mark] of text.matchAll(/[[\]]|%-?\s*(?:end)?(?:if|unless|case)\b/g)) {
    depth = Math.max(0, depth + (mark === ']' || mark.includes('end') ? -1 : 1));
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Created at the first template, so that rules without templates do not wait for it. */
function liquidOf(): Liquid {
  if (engine) return engine;
  const liquid = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: templateCharsMax,
    memoryLimit: memoryMax,
    renderLimit: 1_000,
    timezoneOffset: 0,
    // The type allows only text, although values of all types pass through.
    outputEscape: escapeOutput as (value: unknown) => string,
  });
  for (const name of Object.keys(liquid.tags)) if (!isTag(name)) delete liquid.tags[name];
  for (const name of Object.keys(liquid.filters)) if (withoutFilters.test(name)) delete liquid.filters[name];
  return (engine = liquid);
}

function isTag(name: string): boolean {
  return tags.some((known) => known === name);
}

/** Output of one rendering: its text, and the last value that was written. */
class BoundedOutput {
  buffer = '';
  value: unknown;

  write(value: unknown): void {
    this.value = value;
    this.buffer += textOf(value);
    if (this.buffer.length > outputCharsMax)
      throw new Error(
        `The output is longer than ${outputCharsMax} characters. Shorten it, for example with the filter truncate.`,
      );
  }
}

/** Returns the text of a value: objects by their name or identifier, lists separated by commas. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  if (typeof value !== 'object') return String(value);
  const { name, identifier } = value as { name?: unknown; identifier?: unknown };
  if (typeof name === 'string') return name;
  return typeof identifier === 'string' ? identifier : JSON.stringify(value);
}

/** Returns the message of an error of LiquidJS as sentences that name the correction. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, tag] = /^tag "(.*)" not found/.exec(message) ?? [];
  if (tag !== undefined) return `The tag "${tag}" is not available. Use ${listOf(tags)}.`;
  const [, words = message, line, column] = /^(.*), line:(\d+), col:(\d+)/s.exec(message) ?? [];
  if (line === undefined) return words;
  // A limit that was exceeded while rendering has its own sentences.
  if (words.endsWith('.')) return words;
  const correction = words.includes('limit exceeded') ? 'Shorten the template' : 'Correct the template';
  return `The template is invalid at line ${line}, column ${column}: ${words}. ${correction}.`;
}

function listOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function nearestName(unknown: string, among: readonly string[]): string | undefined {
  const [nearest] = among
    .map((name) => ({ name, distance: distance(unknown, name) }))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest && nearest.distance <= 2 ? nearest.name : undefined;
}
