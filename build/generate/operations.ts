// Generates the client of the SDK: one method per operation, with the arguments and the response of its route, and the table that
// the client builds them from.
import type { Contract } from '../../core/kernel/contract/contract.ts';
import { contracts } from '../../core/features/contracts.ts';
import { successStatusOf, takesIfMatch, type Route } from '../../core/kernel/http/route.ts';
import { camel, capital } from '../../core/platform/lib/text/words.ts';
import type { Library } from './library.ts';
import { bodyName, queryName } from './objects.ts';
import { choosingOf, idNameOf, itemOfPage } from './signatures.ts';
import { docText, type JsonSchema } from './type-text.ts';

/** An operation with its names in the client, such as `apiKeys` and `create`. */
interface Operation {
  readonly route: Route;
  /** Outermost first: `plugins`, `kv`. */
  readonly namespaces: readonly string[];
  readonly method: string;
  /** Parts of its type names, such as `Plugin` and `kvSet`. */
  readonly title: string;
  readonly operation: string;
  readonly file: string;
  readonly contract: Contract | undefined;
}

function operationOf(route: Route): Operation {
  const [path = '', ...rest] = route.name.split('.');
  const names = rest.map(camel);
  const contract: Contract | undefined = contracts.find((one) => one.path === path);
  return {
    route,
    namespaces: [camel(path), ...names.slice(0, -1)],
    method: names.at(-1) ?? '',
    title: contract?.title ?? capital(camel(path)),
    operation: camel(names.join('-')),
    file: `${path}.ts`,
    contract,
  };
}

/** Declares the bodies and queries of the operations. */
export function writeInputs(library: Library, routes: readonly Route[]): void {
  for (const { route, title, operation, file } of routes.map(operationOf)) {
    const how = { isResponse: false, doc: `${route.summary}.` };
    if (route.body) library.declare(file, bodyName(title, operation), route.body, how);
    if (route.query) library.declare(file, queryName(title, operation), route.query, how);
  }
}

type Tree = { [name: string]: Tree | Operation };

function treeOf(routes: readonly Route[]): Tree {
  const tree: Tree = {};
  for (const operation of routes.map(operationOf)) {
    let at = tree;
    for (const name of operation.namespaces) at = (at[name] ??= {}) as Tree;
    at[operation.method] = operation;
  }
  return tree;
}

const isOperation = (node: Tree | Operation): node is Operation => 'route' in node && 'method' in node.route;

/** Declares the types of the client's methods. */
export function writeOperations(library: Library, file: string, routes: readonly Route[]): void {
  const members = Object.entries(treeOf(routes)).map(([name, node]) => memberText(name, node, library));
  library.add(
    file,
    'Operations',
    `/** Every operation of the API, by name. */
    export interface Operations {\n${members.join('\n')}\n}`,
  );
}

function memberText(name: string, node: Tree | Operation, library: Library): string {
  if (isOperation(node)) return methodsText(node, library);
  const members = Object.entries(node).map(([inner, below]) => memberText(inner, below, library));
  return `readonly ${name}: {\n${members.join('\n')}\n};`;
}

function methodsText(one: Operation, library: Library): string {
  const { summary, description = '' } = one.route;
  const doc = docText([`${summary}.`, description].filter((words) => words !== '').join(' '));
  return signaturesOf(one, library)
    .map((signature) => `${doc}${one.method}${signature};`)
    .join('\n');
}

function signaturesOf(one: Operation, library: Library): string[] {
  const choosing = choosingOf(one.route);
  const query = queryName(one.title, one.operation);
  const signature = (queryType: string, mustHaveQuery: boolean, isChosen: boolean): string =>
    `(${argumentsText(one, queryType, mustHaveQuery)}): ${answerText(one, isChosen, library)}`;
  const needsQuery = (one.route.query?.required ?? []).length > 0;
  if (choosing === undefined) return [signature(query, needsQuery, false)];
  return [signature(`${query} & { ${choosing}?: never }`, needsQuery, false), signature(query, true, true)];
}

function argumentsText(one: Operation, query: string, needsQuery: boolean): string {
  const { route, title, operation } = one;
  const params = paramsOf(one).map((name) => `${name}: string`);
  const body = route.body ? [`body${isBodyNeeded(one) ? '' : '?'}: ${bodyName(title, operation)}`] : [];
  const queryParam = route.query ? [`query${needsQuery ? '' : '?'}: ${query}`] : [];
  return [...params, ...body, ...queryParam, `options?: ${optionsOf(route)}`].join(', ');
}

/** Returns true if a call must have a body. An update needs one, although all its fields are optional. */
function isBodyNeeded({ route, operation }: Operation): boolean {
  const { required = [] } = (route.body ?? {}) as JsonSchema;
  return operation === 'update' || required.length > 0;
}

/** Returns the names of the path parameters, in the order of the path. */
function paramsOf({ route, contract }: Operation): string[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return contract ? names.map((name) => (name === 'id' ? idNameOf(contract, route) : name)) : names;
}

function optionsOf(route: Route): string {
  if (route.kind !== 'write') return 'CallOptions';
  return takesIfMatch(route) ? 'ChangeOptions' : 'WriteOptions';
}

function answerText(one: Operation, isChosen: boolean, library: Library): string {
  const schema = one.route.responses[successStatusOf(one.route)] as JsonSchema | null | undefined;
  if (!schema) return 'Promise<void>';
  const item = itemOfPage(schema);
  const whole = library.typeIn(one.file, item ?? schema, true);
  const type = isChosen ? `Chosen<${whole}>` : whole;
  return item ? `List<${type}>` : `Promise<${type}>`;
}

/** Generates the table from which the client builds its methods: `PATCH /issues/{id}`, and whether it has a body, a query or pages. */
export function tableText(routes: readonly Route[]): string {
  return `/** Method and path of each operation, and its arguments after the path parameters. */
    export const operations = ${JSON.stringify(rowsOf(treeOf(routes)))} as const;`;
}

function rowsOf(tree: Tree): object {
  return Object.fromEntries(
    Object.entries(tree).map(([name, node]) => [name, isOperation(node) ? rowOf(node.route) : rowsOf(node)]),
  );
}

function rowOf(route: Route): string {
  const schema = route.responses[successStatusOf(route)] as JsonSchema | null | undefined;
  const takes = [
    ...(route.body ? ['body'] : []),
    ...(route.query ? ['query'] : []),
    ...(schema && itemOfPage(schema) ? ['pages'] : []),
  ];
  return [`${route.method} ${route.path.slice('/api/v1'.length)}`, ...takes].join(' ');
}
