// From a JSON schema to the TypeScript type of the values that it accepts, as text that people read. Only what our own schemas use;
// what cannot be said in a type, such as bounds, is left to the description.
import { givenAs, type GivenAs } from '../lib/schema.ts';

export interface JsonSchema {
  readonly 'x-name'?: string;
  readonly description?: string;
  /** What a named schema is in this place. */
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
  readonly [givenAs]?: GivenAs;
}

export interface Printing {
  /** Of what the server shows, nothing is written to. */
  readonly isShown: boolean;
  /** What a schema is called where it is used; null where its type is written out. */
  nameOf(schema: JsonSchema): string | null;
}

/** The type of what a schema accepts, by its name where it has one. */
export function typeText(schema: JsonSchema, printing: Printing): string {
  const given = schema[givenAs];
  if (given !== undefined && !printing.isShown) return plainTypes[given];
  return printing.nameOf(schema) ?? structureText(schema, printing);
}

/** What may be given in place of what the schema says. */
const plainTypes: Readonly<Record<GivenAs, string>> = {
  fields: 'string | readonly string[]',
  list: 'string | readonly string[]',
  json: 'string | IssueFilter',
  eventPatterns: 'string | readonly EventPattern[]',
  issueFilter: 'IssueFilter',
  eventFilter: 'EventFilter',
  eventPattern: 'EventPattern',
};

/** The members of an object, each as the body of an interface has it, by name. */
export function membersOf(schema: JsonSchema, printing: Printing): ReadonlyMap<string, string> {
  const members = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const mark = schema.required?.includes(name) ? '' : '?';
    const readonly = printing.isShown ? 'readonly ' : '';
    // What is given as undefined is not sent, so it may be given.
    const type = unionText([
      typeText(property, printing),
      ...(mark && !printing.isShown ? ['undefined'] : []),
    ]);
    const doc = docText(property['x-doc'] ?? property.description);
    return [name, `${doc}${readonly}${nameText(name)}${mark}: ${type};`] as const;
  });
  return new Map(members);
}

/** The body of an interface. */
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
      throw new Error(`No TypeScript type is known for the JSON type ${type}.`);
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
