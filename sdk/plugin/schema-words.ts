// Rewords TypeBox errors so that they name the allowed values or the missing properties, which TypeBox's own
// messages do not.

export interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/**
 * Returns a predicate without a full stop: `must be one of issue, project, none`.
 * @param schema root schema, to describe missing properties
 */
export function schemaWords({ keyword, schemaPath, message, params }: SchemaError, schema?: unknown): string {
  const { allowedValues, allowedValue, requiredProperties, limit } = params as {
    readonly allowedValues?: readonly unknown[];
    readonly allowedValue?: unknown;
    readonly requiredProperties?: readonly string[];
    readonly limit?: number;
  };
  if (keyword === 'enum' && allowedValues) return `must be ${oneOf(allowedValues)}`;
  if (keyword === 'const' && allowedValue !== undefined) return `must be ${String(allowedValue)}`;
  if (keyword === 'required' && requiredProperties)
    return `must have ${requiredProperties.map((name) => missing(name, schemaAt(schema, schemaPath))).join(', and ')}`;
  if (limit === 1 && keyword.startsWith('min'))
    return message.replace('fewer than 1', 'less than one').replace(/s$/, '');
  return message;
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`;
}

function missing(name: string, around: unknown): string {
  const { properties = {} } = (around ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly enum?: readonly unknown[] }>>;
  };
  const values = properties[name]?.enum;
  return `"${name}"${values ? `, which is ${oneOf(values)}` : ''}`;
}

export function describedAt(schema: unknown, schemaPath: string): string | undefined {
  const { description } = (schemaAt(schema, schemaPath) ?? {}) as { readonly description?: string };
  return description;
}

function schemaAt(schema: unknown, schemaPath: string): unknown {
  let at = schema;
  for (const step of schemaPath.split('/').slice(1))
    at = at !== null && typeof at === 'object' ? (at as Record<string, unknown>)[step] : undefined;
  return at;
}
