// What the document says once and refers to from everywhere else: schemas that have a name (`x-name`), and error answers.

export type JsonObject = Record<string, unknown>;

export interface Components {
  /** The schema with every named part replaced by a reference. @throws Error when two schemas share a name */
  ref(schema: unknown): unknown;
  /** A reference to the answer of that name, made on first use. */
  response(name: string, make: () => JsonObject): JsonObject;
  readonly schemas: Readonly<Record<string, JsonObject>>;
  readonly responses: Readonly<Record<string, JsonObject>>;
}

export function createComponents(): Components {
  const schemas: Record<string, JsonObject> = {};
  const responses: Record<string, JsonObject> = {};
  const sources = new Map<string, unknown>();
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (value === null || typeof value !== 'object') return value;
    const { 'x-name': name, ...rest } = value as JsonObject;
    if (typeof name !== 'string') return plainObject(rest);
    if (sources.get(name) !== value) {
      const schema = plainObject(rest);
      if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema))
        throw new Error(`Two different schemas are named ${name}: give one of them another name.`);
      schemas[name] = schema;
      sources.set(name, value);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const plainObject = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([key, inner]) => [key, plain(inner)]));
  return {
    ref: plain,
    response(name, make) {
      responses[name] ??= make();
      return { $ref: `#/components/responses/${name}` };
    },
    schemas,
    responses,
  };
}
