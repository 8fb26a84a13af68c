// `Headers` (WHATWG Fetch § 5.2), without guards: the host decides which headers may be sent.
import { defineProperty, freeze, isArray, keys, NativeTypeError, record, uncurry } from '../harden.ts';

const test = uncurry(RegExp.prototype.test);
const lower = uncurry(String.prototype.toLowerCase);
const replace = uncurry(String.prototype.replace as (this: string, pattern: RegExp, by: string) => string);
const sort = uncurry(Array.prototype.sort as (this: string[]) => string[]);
const iterator: typeof Symbol.iterator = Symbol.iterator;

const namePattern = freeze(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);
const valuePattern = freeze(/^[\t -~\u0080-\u00ff]*$/);
const aroundPattern = freeze(/^[\t\n\r ]+|[\t\n\r ]+$/g);

function nameOf(value: unknown): string {
  const name = `${value as string}`;
  if (!test(namePattern, name))
    throw new NativeTypeError(`${name} is not a valid header name. Use letters, digits and hyphens.`);
  return lower(name);
}

function valueOf(raw: unknown): string {
  const value = replace(`${raw as string}`, new RegExp(aroundPattern.source, 'g'), '');
  if (!test(valuePattern, value))
    throw new NativeTypeError('A header value must be Latin-1 without line breaks.');
  return value;
}

export class GuestHeaders {
  /** Values by lower-case name. */
  readonly #values = record<string>();

  constructor(init?: unknown) {
    if (init === undefined || init === null) return;
    if (typeof init !== 'object') throw new NativeTypeError('Headers must be an object or a list of pairs.');
    if (iterator in init) {
      for (const pair of init as Iterable<unknown>) {
        if (!isArray(pair) || pair.length !== 2)
          throw new NativeTypeError('A header must be a pair of a name and a value.');
        this.append(pair[0], pair[1]);
      }
      return;
    }
    for (const name of keys(init)) this.append(name, (init as Record<string, unknown>)[name]);
  }

  append(name: unknown, value: unknown): void {
    const key = nameOf(name);
    const before = this.#values[key];
    const added = valueOf(value);
    this.#values[key] = before === undefined ? added : `${before}, ${added}`;
  }

  set(name: unknown, value: unknown): void {
    this.#values[nameOf(name)] = valueOf(value);
  }

  delete(name: unknown): void {
    delete this.#values[nameOf(name)];
  }

  get(name: unknown): string | null {
    return this.#values[nameOf(name)] ?? null;
  }

  has(name: unknown): boolean {
    return nameOf(name) in this.#values;
  }

  getSetCookie(): string[] {
    const all = this.#values['set-cookie'];
    return all === undefined ? [] : [all];
  }

  forEach(visit: (value: string, name: string, headers: GuestHeaders) => void): void {
    for (const name of sort(keys(this.#values))) visit(this.#values[name] as string, name, this);
  }

  *entries(): IterableIterator<[string, string]> {
    for (const name of sort(keys(this.#values))) yield [name, this.#values[name] as string];
  }

  *keys(): IterableIterator<string> {
    yield* sort(keys(this.#values));
  }

  *values(): IterableIterator<string> {
    for (const name of sort(keys(this.#values))) yield this.#values[name] as string;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

/** Returns the headers as a record for the host call. */
export function plainHeaders(headers: GuestHeaders): Record<string, string> {
  const plain = record<string>();
  headers.forEach((value, name) => {
    defineProperty(plain, name, { value, enumerable: true });
  });
  return plain;
}
