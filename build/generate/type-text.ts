// Converts a JSON schema to the text of a TypeScript type. It covers only keywords that the API uses; constraints such as bounds
// are left to the description.
import { inputForm, type InputForm } from '../../core/platform/lib/schema.ts';

export interface JsonSchema {
  readonly 'x-name'?: string;
  readonly description?: string;
  /** Description of a named schema in this place. */
  readonly 'x-doc'?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly [inputForm]?: InputForm;
}

export interface Printing {
  /** True for responses, whose members are read-only. */
  readonly isResponse: boolean;
  /** Returns the name of a schema; null if its type is written inline. */
  nameOf(schema: JsonSchema): string | null;
}

/** Returns the type that a schema accepts, by name if it has one. */
export function typeText(schema: JsonSchema, printing: Printing): string {
  const form = schema[inputForm];
  if (form !== undefined && !printing.isResponse) return plainTypes[form];
  return printing.nameOf(schema) ?? structureText(schema, printing);
}

/** Types that callers may pass instead of the type in the schema. */
const plainTypes: Readonly<Record<InputForm, string>> = {
  fields: 'string | readonly string[]',
  list: 'string | readonly string[]',
  json: 'string | IssueFilter',
  eventPatterns: 'string | readonly EventPattern[]',
  issueFilter: 'IssueFilter',
  eventFilter: 'EventFilter',
  eventPattern: 'EventPattern',
};

/** Returns the members of an object by name, each as text of an interface body. */
export function membersOf(schema: JsonSchema, printing: Printing): ReadonlyMap<string, string> {
  const members = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const mark = schema.required?.includes(name) ? '' : '?';
    const readonly = printing.isResponse ? 'readonly ' : '';
    // Callers may pass undefined, because undefined values are not sent.
    const type = unionText([
      typeText(property, printing),
      ...(mark && !printing.isResponse ? ['undefined'] : []),
    ]);
    const doc = docText(property['x-doc'] ?? property.description);
    return [name, `${doc}${readonly}${nameText(name)}${mark}: ${type};`] as const;
  });
  return new Map(members);
}

export function bodyText(members: Iterable<string>): string {
  return `{\n${[...members].join('\n')}\n}`;
}

export function docText(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n`;
}

function nameText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function structureText(schema: JsonSchema, printing: Printing): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return unionText(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.anyOf) return unionText(schema.anyOf.map((one) => typeText(one, printing)));
  const types = schema.type === undefined ? [] : [schema.type].flat();
  return types.length === 0 ? 'unknown' : unionText(types.map((type) => textOfType(type, schema, printing)));
}

function textOfType(type: string, schema: JsonSchema, printing: Printing): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly (${schema.items ? typeText(schema.items, printing) : 'unknown'})[]`;
    case 'object':
      return schema.properties
        ? bodyText(membersOf(schema, printing).values())
        : recordText(schema, printing);
    default:
      throw new Error(`The JSON type ${type} has no TypeScript type.`);
  }
}

function recordText(
  { patternProperties = {}, additionalProperties }: JsonSchema,
  printing: Printing,
): string {
  const others = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  const values = [...Object.values(patternProperties), ...others].map((value) => typeText(value, printing));
  return `Readonly<Record<string, ${values.length === 0 ? 'unknown' : unionText(values)}>>`;
}

function unionText(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}
