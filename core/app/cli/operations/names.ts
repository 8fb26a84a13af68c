// Finds the objects that arguments name: resolves names to ids, and explains which object does not exist.
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import { errorCodes } from '../../../platform/lib/errors/errors.ts';
import { quoted } from '../../../platform/lib/text/printable.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { usage } from '../lib/flags.ts';
import { theOne } from '../lib/lookup.ts';
import { readAll, readPages } from '../lib/pages.ts';
import { reworded } from '../lib/remote.ts';
import type { Argument, Lookup, Operation } from './table/operation.ts';
import { listNouns, operationOf, operationsOf, verbsOf } from './table/table.ts';

type Named = { readonly id: string } & Readonly<Record<string, unknown>>;

/** Returns the id of an object, given by its id or a name. @param label such as `label` @throws ApiCallError not_found */
export async function idOf(
  call: Call,
  { list, query = '', by, id }: Lookup,
  label: string,
  given: string,
): Promise<string> {
  if (new RegExp(id).test(given)) return given;
  const all = await readAll<Named>(call, list + query);
  const textsOf = (one: Named): (string | null)[] =>
    by.map((name) => (typeof one[name] === 'string' ? (one[name] as string) : null));
  const isDeleted = query.includes('deleted=only');
  const noun = isDeleted ? `deleted ${label}` : label;
  return theOne(noun, list.slice(1), given, all, textsOf, isDeleted ? ' --deleted only' : '').id;
}

/** Returns the path of a call, with its arguments. @throws CommandError for a value that would lead to another path */
export function pathOf(
  { path, args }: Pick<Operation, 'path' | 'args'>,
  given: Readonly<Record<string, string>>,
): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
    const value = given[key] ?? '';
    // URLs drop these segments, also where they are percent-encoded (WHATWG URL §4.4).
    if (!['', '.', '..'].includes(value)) return encodeURIComponent(value);
    const label = args.find((argument) => argument.key === key)?.label ?? key;
    throw usage(`The argument for the ${label} must not be ${value === '' ? 'empty' : value}.`);
  });
}

/** Properties by which people know objects, for suggestions. */
const known = ['pluginId', 'key', 'name'];

/**
 * Returns the error with the missing object in words, where the server has only its general message.
 * @param given values of the arguments, as typed
 */
export async function namedError(
  error: unknown,
  operation: Operation,
  given: Readonly<Record<string, string>>,
  call: Call,
): Promise<unknown> {
  if (!(error instanceof ApiCallError) || error.status !== 404 || error.message !== errorCodes.not_found.text)
    return error;
  const inPath = operation.args.filter(({ key }) => operation.path.includes(`{${key}}`));
  const [first, last] = [inPath[0], inPath.at(-1)];
  if (!first || !last) return error;
  const parent = first === last ? null : await parentOf(operation, given, call);
  const message = parent
    ? await missingPart(operation, { first, last, given, parent }, call)
    : await missing(operation, first, given[first.key] ?? '', call);
  return reworded(error, message);
}

/** Returns the object of the first argument; null if it does not exist. */
async function parentOf(
  { path, args }: Operation,
  given: Readonly<Record<string, string>>,
  call: Call,
): Promise<Named | null> {
  const [, segment = ''] = path.split('/');
  const { key, label, lookup } = args[0]!;
  const typed = given[key] ?? '';
  try {
    const id = lookup ? await idOf(call, lookup, label, typed) : typed;
    return await call<Named>('GET', `/${segment}/${encodeURIComponent(id)}`);
  } catch {
    return null;
  }
}

interface Part {
  readonly first: Argument;
  readonly last: Argument;
  readonly given: Readonly<Record<string, string>>;
  readonly parent: Named;
}

/** @returns such as `The plugin triage has no route hok. Did you mean hook?` */
async function missingPart(
  { path }: Operation,
  { first, last, given, parent }: Part,
  call: Call,
): Promise<string> {
  const wanted = given[last.key] ?? '';
  const said = `The ${first.label} ${given[first.key]} has no ${last.label} ${wanted}.`;
  const listPath = path.slice(0, path.indexOf(`/{${last.key}}`));
  const [, segment = '', ...rest] = listPath.split('/');
  const list = listAt(listPath, operationsOf(segment));
  if (list) return said + (await suggestion(list, given, wanted, call));
  const plural = rest.at(-1) ?? '';
  const names = [parent[plural] ?? []].flat().flatMap(namesOf);
  return `${said}${didYouMean(wanted, names)}${names.length === 0 ? '' : ` Its ${plural}: ${names.join(', ')}.`}`;
}

async function missing(
  { path }: Operation,
  { label }: Argument,
  wanted: string,
  call: Call,
): Promise<string> {
  const [, segment = ''] = path.split('/');
  const list = listAt(`/${segment}`, operationsOf(segment)) ?? listOfParts(segment);
  return `There is no ${label} ${wanted}.${list ? await suggestion(list, {}, wanted, call) : ''}`;
}

const lists = new Set<Operation['answer']>(['page', 'list']);

const listAt = (path: string, operations: readonly Operation[]): Operation | undefined =>
  operations.find(({ path: of, method, answer }) => of === path && method === 'GET' && lists.has(answer));

/** Returns the list of objects that exist only in others: `plugins.runs` for `runs`. */
function listOfParts(segment: string): Operation | undefined {
  const path = new RegExp(`^/[^/]+/\\{\\w+\\}/${segment}$`);
  return listNouns()
    .flatMap(({ name }) => operationsOf(name))
    .find(({ path: of, answer }) => lists.has(answer) && path.test(of));
}

/** @param given values of the arguments of the list; without them, the list is only named */
async function suggestion(
  list: Operation,
  given: Readonly<Record<string, string>>,
  wanted: string,
  call: Call,
): Promise<string> {
  const words = list.args.map(({ key, label }) => given[key] ?? label.toUpperCase().replaceAll(' ', '-'));
  const command = ['tatami', list.id.split('.')[0]!, ...verbsOf(list), ...words]
    .map((one) => quoted(one))
    .join(' ');
  const isKnown = list.args.every(({ key }) => given[key] !== undefined);
  const names = isKnown ? await namesIn(list, given, call).catch(() => []) : [];
  return `${didYouMean(wanted, names)} List them with \`${command}\`.`;
}

async function namesIn(
  list: Operation,
  given: Readonly<Record<string, string>>,
  call: Call,
): Promise<string[]> {
  const path = pathOf(list, given);
  // One page: a long list would cost more than a suggestion is worth.
  const items =
    list.answer === 'page'
      ? (await readPages<unknown>(call, { path }, 100)).items
      : (await call<{ data: unknown[] }>('GET', path)).data;
  return items.flatMap(namesOf);
}

function namesOf(one: unknown): string[] {
  if (typeof one !== 'object' || one === null) return [];
  return known.map((name) => (one as Named)[name]).filter((name) => typeof name === 'string');
}

/** Returns the result of work on an object; its error says in words that the object is missing. @param id of the operation */
export async function explained<T>(
  call: Call,
  id: string,
  given: Readonly<Record<string, string>>,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw await namedError(error, operationOf(id), given, call);
  }
}
