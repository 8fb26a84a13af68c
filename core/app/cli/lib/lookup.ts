// Finds the object that an argument names, and explains that it does not exist. The server has one message for every missing object;
// a more specific message of the server stays.
import { ApiCallError } from '../../../../sdk/client/index.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { CommandError } from './output.ts';
import type { Call } from '../../../../sdk/client/call.ts';
import { errorCodes } from '../../../platform/lib/errors/errors.ts';
import { readAll } from './remote.ts';

/**
 * @param noun such as `member`
 * @param namesOf names besides the id, compared case-insensitively
 * @throws ApiCallError not_found, CommandError if several have the name
 */
export function theOne<T extends { readonly id: string }>(
  noun: string,
  given: string,
  all: readonly T[],
  namesOf: (one: T) => readonly (string | null)[],
): T {
  const found = findAll(given, all, namesOf);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (only)
    throw new CommandError(
      `Several ${noun}s have the name ${given}: ${found.map(({ id }) => id).join(', ')}. Use the id of one.`,
    );
  const known = all.flatMap((one) => namesOf(one).filter((name) => name !== null));
  throw new ApiCallError(404, {
    code: 'not_found',
    message: `There is no ${noun} ${given}.${didYouMean(given, known) || ` List the ${noun}s to find the id.`}`,
  });
}

/** Returns all objects with the id, or if there are none, with the name. */
export function findAll<T extends { readonly id: string }>(
  given: string,
  all: readonly T[],
  namesOf: (one: T) => readonly (string | null)[],
): T[] {
  const byId = all.filter(({ id }) => id === given);
  if (byId.length > 0) return byId;
  const wanted = given.toLowerCase();
  return all.filter((one) => namesOf(one).some((name) => name?.toLowerCase() === wanted));
}

interface InstalledPlugin {
  readonly id: string;
  readonly pluginId: string;
  readonly schedules: readonly { readonly name: string }[];
}

/** A plugin, or one of its schedules. */
interface PluginReference {
  readonly plugin: string;
  readonly schedule?: string;
}

/** @throws the error of `work`, with the names of existing objects if the named one is missing */
export async function saying<T>(call: Call, named: PluginReference, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isUnnamed(error)) throw error;
    throw inWords(error, await readAll<InstalledPlugin>(call, '/plugins').catch(() => null), named);
  }
}

/** How to find existing ones. */
const foundBy: Readonly<Record<string, string>> = {
  run: '. List the latest with `tatami plugin logs PLUGIN`',
  grant: '. List the grants with `tatami grants list`',
  proposal: '. List the proposals with `tatami proposals list --all`',
};

/** The same for an object named by its own id. @param noun such as `run` */
export async function sayingOf<T>(noun: string, id: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isUnnamed(error)) throw error;
    throw notFound(`There is no ${noun} ${id}${foundBy[noun] ?? ''}.`, error);
  }
}

export function isNotFound(error: unknown): error is ApiCallError {
  return error instanceof ApiCallError && error.status === 404;
}

const isUnnamed = (error: unknown): error is ApiCallError =>
  isNotFound(error) && error.message === errorCodes.not_found.text;

/** @param all null if the key cannot list them */
function inWords(
  error: ApiCallError,
  all: readonly InstalledPlugin[] | null,
  { plugin, schedule }: PluginReference,
): ApiCallError {
  if (all === null) return error;
  const found = all.find(({ id, pluginId }) => [id, pluginId].includes(plugin));
  if (!found) {
    const near = didYouMean(
      plugin,
      all.map(({ pluginId }) => pluginId),
    );
    return notFound(
      `There is no plugin ${plugin}. List the plugins with \`tatami plugin list\`.${near}`,
      error,
    );
  }
  if (schedule === undefined) return error;
  const names = found.schedules.map(({ name }) => name);
  const there = names.length > 0 ? `Schedules: ${names.join(', ')}.` : 'The plugin has no schedules.';
  return notFound(`${plugin} has no schedule ${schedule}. ${there}${didYouMean(schedule, names)}`, error);
}

/** The error of the server with another message. */
export function notFound(message: string, cause?: ApiCallError): ApiCallError {
  return new ApiCallError(404, { code: cause?.code ?? 'not_found', message, details: [], cause });
}
