// Named schemas become components: a schema with `x-name` is written once and referred to from everywhere else.

export type JsonObject = Record<string, unknown>;

export interface Components {
  /** The schema with every named part replaced by a reference. */
  ref(schema: unknown): unknown;
  readonly schemas: Readonly<Record<string, unknown>>;
}

export function createComponents(): Components {
  const schemas: Record<string, unknown> = {};
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (value === null || typeof value !== 'object') return value;
    const { 'x-name': name, ...rest } = value as JsonObject;
    if (typeof name !== 'string')
      return Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, plain(inner)]));
    schemas[name] ??= Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, plain(inner)]));
    return { $ref: `#/components/schemas/${name}` };
  };
  return { ref: plain, schemas };
}
