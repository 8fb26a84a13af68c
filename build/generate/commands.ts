// Generates the commands of the CLI: the arguments, flags and columns of every operation.
import { tagGroups } from '../../core/app/features.ts';
import { contracts } from '../../core/features/contracts.ts';
import type {
  Argument,
  Flag,
  FlagType,
  Lookup,
  Noun,
  Operation,
} from '../../core/app/cli/operations/table/operation.ts';
import type { Contract } from '../../core/kernel/contract/contract.ts';
import { successStatusOf, takesIfMatch, type Route } from '../../core/kernel/http/route.ts';
import { tagOf } from '../../core/kernel/http/openapi/operation.ts';
import { appScopes } from '../../core/kernel/rights/roles.ts';
import { alsoCalled, inputForm, refersTo } from '../../core/platform/lib/schema.ts';
import { flagOf, listed } from '../../core/platform/lib/text/words.ts';
import { columnsOf, typeOf } from './columns.ts';
import { itemOfPage } from './signatures.ts';
import type { JsonSchema } from './type-text.ts';

/** Schema of an input, with the marks of this project. */
interface InputSchema extends JsonSchema {
  readonly pattern?: string | undefined;
  readonly maxLength?: number;
  readonly writeOnly?: boolean;
  readonly [alsoCalled]?: string;
  readonly [refersTo]?: { readonly path?: string; readonly names?: object };
}

const prefix = '/api/v1';

/** Flags of all commands; a property of one of these names gets another flag. */
const renamed: Readonly<Record<string, string>> = { fields: 'field', limit: 'at-most' };
/** Parameters that the command sets by itself: `--limit`, `--all` and `--fields`. */
const ownParameters = new Set(['limit', 'cursor', 'fields']);
/** Verbs that ask for confirmation. Opening an open route replaces the secret that its senders have. */
const destroying = /^(delete|purge|bulk-delete|open-route)$/;
/** Texts of at least this length may be written in an editor. */
const longCharsMin = 10_000;

export function commandsText(routes: readonly Route[]): string {
  const groups = tagGroups.map(({ name }) => name);
  const nouns = [...Map.groupBy(routes, tagOf)]
    .map(([name, own]) => nounOf(name, own, routes))
    .toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));
  const texts = nouns.map(({ operations, ...noun }) => {
    const lines = [noun, ...operations].map((part) => quoted(JSON.stringify(part)));
    return `${quoted(noun.name)}: [${lines.join(',')}],`;
  });
  return `/** Nouns in the order of the API: each as its JSON, followed by that of its operations. Text, because a command needs only one noun. */
    export const nouns: Readonly<Record<string, readonly string[]>> = {${texts.join('\n')}};`;
}

function nounOf(name: string, own: readonly Route[], routes: readonly Route[]): Noun {
  const group = tagGroups.find(({ tags }) => tags.some((tag) => tag.name === name));
  const { doc = '' } = group?.tags.find((tag) => tag.name === name) ?? {};
  const singular = singularOf(name);
  return {
    name,
    ...(singular === name ? {} : { singular }),
    doc,
    group: group?.name ?? '',
    operations: own.map((route) => operationOf(route, routes)),
  };
}

/** Returns a string literal; the formatter chooses the quotes. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const contractAt = (path: string): Contract | undefined =>
  contracts.find((contract: Contract) => contract.path === path);

/** `project-updates` → `project-update` */
function singularOf(path: string): string {
  const name = contractAt(path)?.name.replaceAll(/[_ ]/g, '-');
  if (name !== undefined && path.startsWith(name.slice(0, 3))) return name;
  return path.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');
}

function operationOf(route: Route, routes: readonly Route[]): Operation {
  const { name, method, summary, description } = route;
  const path = route.path.startsWith(prefix) ? route.path.slice(prefix.length) : route.path;
  const schema = route.responses[successStatusOf(route)] as JsonSchema | null;
  const [answer, item] = answerOf(route, schema);
  return {
    id: name,
    method,
    path,
    summary,
    ...(description === undefined ? {} : { description }),
    args: argumentsOf(route, path, routes),
    flags: [...flagsOf(route.query, 'query', routes), ...flagsOf(route.body, 'body', routes)],
    answer,
    ...shownOf(item, answer),
    ...behaviorOf(route),
    ...(route.example ? { example: route.example as Record<string, unknown> } : {}),
  };
}

function shownOf(
  item: JsonSchema | null,
  answer: Operation['answer'],
): Pick<Operation, 'fields' | 'columns'> {
  if (!item) return {};
  const fields = Object.keys(item.properties ?? {});
  return { fields, ...(answer === 'object' ? {} : { columns: columnsOf(item) }) };
}

function behaviorOf(route: Route): Partial<Operation> {
  const { kind, name, scope, secret } = route;
  return {
    ...(kind === 'write' ? { simulates: true as const } : {}),
    ...(takesIfMatch(route) ? { takesVersion: true as const } : {}),
    ...(secret === true ? { reveals: true as const } : {}),
    ...(destroying.test(name.split('.').at(-1)!) ? { destroys: true as const } : {}),
    ...(scope !== null && !appScopes.includes(scope) ? { needsKey: true as const } : {}),
  };
}

function answerOf(route: Route, schema: JsonSchema | null): [Operation['answer'], JsonSchema | null] {
  if (route.kind === 'file' || route.kind === 'stream') return [route.kind, null];
  if (route.kind === 'upload') return ['upload', schema];
  if (schema === null) return ['nothing', null];
  const page = itemOfPage(schema);
  if (page) return ['page', page];
  const { data } = schema.properties ?? {};
  const others = Object.keys(schema.properties ?? {}).length - 1;
  return data?.items && others === 0 ? ['list', data.items] : ['object', schema];
}

function argumentsOf(route: Route, path: string, routes: readonly Route[]): Argument[] {
  const schemas = (route.params?.properties ?? {}) as Readonly<Record<string, InputSchema>>;
  const inPath = [...path.matchAll(/(?:([\w-]+)\/)?\{(\w+)\}/g)].map(
    ([, before = '', key = '']): Argument => {
      const schema = schemas[key] ?? {};
      const target = targetOf(key, before, schema);
      const found = lookupOf(target, schema, routes);
      const lookup = found && withState(found, route, routes);
      const words =
        target === '' ? (key === 'name' ? singularOf(before) : flagNameOf(key)) : singularOf(target);
      const label = spaced(words);
      const doc = lookup ? nameDocOf(label, lookup) : schema.description;
      return { key, label, doc: doc ?? '', ...(lookup ? { lookup } : {}) };
    },
  );
  return [
    ...inPath,
    ...requiredParameters(route).map(([key, schema]) => ({
      key,
      label: wordsOf(key),
      doc: schema.description ?? '',
    })),
  ];
}

/** Required parameters of the query are arguments, not flags. */
function requiredParameters({ query }: Route): [string, InputSchema][] {
  const { properties = {}, required = [] } = (query ?? {}) as InputSchema & {
    properties?: Readonly<Record<string, InputSchema>>;
  };
  return required.map((key) => [key, properties[key] ?? {}]);
}

/** Returns the path of the resource that a parameter identifies; empty for a name that belongs to the operation. */
function targetOf(key: string, before: string, { pattern }: InputSchema): string {
  return contractOf({ pattern })?.path ?? (key === 'id' ? before : '');
}

/** Returns the contract whose ids a schema accepts. */
function contractOf({ pattern }: Pick<InputSchema, 'pattern'>): Contract | undefined {
  return contracts.find(({ id }: Contract) => id !== null && pattern?.startsWith(`^${id}_`));
}

const wordsOf = (key: string): string => flagNameOf(key).replaceAll('-', ' ');
const flagNameOf = (key: string): string => flagOf(key.replaceAll('_', '-')).slice(2);

/** `oauth-app` → `OAuth app` */
const spaced = (words: string): string =>
  words.replaceAll('-', ' ').replaceAll(/\b(oauth|api|sla)\b/g, (word) => acronyms[word]!);

const acronyms: Readonly<Record<string, string>> = { oauth: 'OAuth', api: 'API', sla: 'SLA' };
const nameDocOf = (label: string, { by }: Lookup): string =>
  `${listed(['Id', ...by.map(wordOf)], 'or')} of the ${label}.`;

const wordOf = (property: string): string => words[property] ?? property;
const words: Readonly<Record<string, string>> = { email: 'e-mail address', url: 'URL' };

/** Returns how names are resolved where the schema accepts only ids; undefined if there are no names, or the API resolves them. */
function lookupOf(path: string, { pattern }: InputSchema, routes: readonly Route[]): Lookup | undefined {
  const isOnlyId = pattern !== undefined && !new RegExp(pattern).test('name');
  const list = routes.find((route) => route.method === 'GET' && route.path === `${prefix}/${path}`);
  if (!isOnlyId || !list || !contractAt(path)) return undefined;
  const by = namesOf(path, itemOfPage(list.responses[200] as JsonSchema)?.properties ?? {});
  return by.length > 0 ? { list: `/${path}`, by, id: pattern } : undefined;
}

/** Adds the query with which the list shows what the operation changes: also archived objects, and deleted ones to restore. */
function withState(lookup: Lookup, { name }: Route, routes: readonly Route[]): Lookup {
  const list = routes.find((route) => route.method === 'GET' && route.path === prefix + lookup.list);
  const { properties = {} } = (list?.query ?? {}) as InputSchema;
  const terms = [
    ...(name.endsWith('.restore') && 'deleted' in properties ? ['deleted=only'] : []),
    ...('archived' in properties ? ['archived=include'] : []),
  ];
  return terms.length === 0 ? lookup : { ...lookup, query: `?${terms.join('&')}` };
}

/** Returns the properties that name an object. Issues have an identifier, and their URLs are not names. */
function namesOf(path: string, properties: object): string[] {
  const names = [
    ...(contractAt(path)?.names?.by ?? []),
    'name',
    'tag',
    ...('identifier' in properties ? [] : ['url']),
  ];
  return [...new Set(names)].filter((name) => name in properties && name !== 'number');
}

function flagsOf(schema: object | undefined, from: Flag['in'], routes: readonly Route[]): Flag[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Readonly<Record<string, InputSchema>>;
    required?: readonly string[];
  };
  const entries = Object.entries(properties).filter(
    ([key]) => from === 'body' || !(ownParameters.has(key) || required.includes(key)),
  );
  const names = new Set(entries.map(([key]) => key));
  // A property and its other names are one flag: `team` for `teamId` and `teamKey`.
  const groups = Map.groupBy(entries, ([key]) => {
    const short = key.replace(/(Id|Key)$/, '');
    return names.has(short) ? short : key;
  });
  return [...groups].map(([key, group]) => {
    const also = group.map(([name]) => name).filter((name) => name !== key);
    const canonical = properties[key]?.[alsoCalled] ?? key;
    const isRequired = group.some(([name]) => required.includes(name));
    return flagOfProperty(key, properties[canonical]!, { from, isRequired, also, routes });
  });
}

interface Place {
  readonly from: Flag['in'];
  readonly isRequired: boolean;
  readonly also: readonly string[];
  readonly routes: readonly Route[];
}

function flagOfProperty(key: string, schema: InputSchema, place: Place): Flag {
  const type = flagTypeOf(schema);
  const isId = key !== 'externalId' && type !== 'integer';
  const name = flagNameOf(isId ? key.replace(/Id(s?)$/, '$1') : key);
  const { from, also } = place;
  const marks = marksOf(schema, type, place);
  const doc = schema['x-doc'] ?? schema.description ?? '';
  return {
    name: renamed[name] ?? name,
    key,
    ...(also.length > 0 ? { also } : {}),
    in: from,
    type,
    doc: docOf(doc, name, marks.lookup),
    ...valuesOf(schema, type),
    ...marks,
  };
}

function docOf(doc: string, name: string, lookup: Lookup | undefined): string {
  if (lookup === byEmail) return doc.replace('Id or name', 'Id, e-mail address or name');
  return lookup ? nameDocOf(name.replaceAll('-', ' '), lookup) : doc;
}

function valuesOf(schema: InputSchema, type: FlagType): Pick<Flag, 'values'> {
  const values = schema.enum ?? (type === 'list' ? schema.items?.enum : undefined);
  return values ? { values: values.filter((value) => value !== null).map(String) } : {};
}

/** Filters resolve the names of members, but not their e-mail addresses. */
const byEmail: Lookup = { list: '/members', by: ['email'], id: '^[^@]*$' };

function flagLookupOf(schema: InputSchema, { from, routes }: Place): Lookup | undefined {
  const target = schema[refersTo];
  if (from === 'query' && target?.path === 'members') return byEmail;
  // The API resolves the names of targets that have names.
  return target?.names ? undefined : lookupOf(target?.path ?? contractOf(schema)?.path ?? '', schema, routes);
}

function marksOf(schema: InputSchema, type: FlagType, place: Place): Partial<Flag> {
  const lookup = flagLookupOf(schema, place);
  return {
    ...(place.isRequired ? { isRequired: true as const } : {}),
    ...(typeOf(schema).includes('null') ? { isNullable: true as const } : {}),
    ...(type === 'text' && isLong(schema) ? { isLong: true as const } : {}),
    ...(schema.writeOnly === true ? { isSecret: true as const } : {}),
    ...(lookup ? { lookup } : {}),
  };
}

const isLong = ({ description = '', maxLength = 0 }: InputSchema): boolean =>
  /\bMarkdown\b/.test(description) || maxLength >= longCharsMin;

function flagTypeOf(schema: InputSchema): FlagType {
  const types = typeOf(schema);
  const has = (type: string): boolean => types.includes(type);
  if (has('integer')) return 'integer';
  if (has('string') && !has('array')) return isTime(schema) ? 'time' : 'text';
  if (has('boolean')) return 'boolean';
  if (has('number')) return 'number';
  if (has('array')) return isListOfWords(schema) ? 'list' : 'json';
  return has('object') && isMap(schema) ? 'map' : 'json';
}

const isTime = ({ maxLength, description = '' }: InputSchema): boolean =>
  maxLength === 40 && /ISO 8601|RFC 3339/.test(description);

const isListOfWords = ({ items }: InputSchema): boolean =>
  items !== undefined && typeOf(items).every((type) => type === 'string');

/** An issue filter is a tree; all other objects with free keys map names to values. */
function isMap(schema: InputSchema): boolean {
  return (
    schema.patternProperties !== undefined &&
    schema[inputForm] === undefined &&
    !/filter tree/i.test(schema.description ?? '')
  );
}
