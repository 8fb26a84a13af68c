// Says of a plugin, a schedule or a run that does not exist which there are. The server answers that with one sentence for everything,
// because a path alone does not tell what a person meant by it. Where the server says more than that sentence, its words stay.
import type { Call } from '../../../../../sdk/client/call.ts';
import { ApiCallError } from '../../../../../sdk/client/index.ts';
import { errorCodes } from '../../../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../../../platform/lib/text/words.ts';
import { readAll } from '../../lib/remote.ts';

interface InstalledPlugin {
  readonly id: string;
  readonly pluginId: string;
  readonly schedules: readonly { readonly name: string }[];
}

/** Of a plugin, or of one of its schedules. */
export interface PluginReference {
  readonly plugin: string;
  readonly schedule?: string;
}

/** @throws what `work` throws, in words of what was named where it is not there */
export async function saying<T>(call: Call, named: PluginReference, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isUnnamed(error)) throw error;
    throw inWords(error, await readAll<InstalledPlugin>(call, '/plugins').catch(() => null), named);
  }
}

/** Where to find one that is there. */
const foundBy: Readonly<Record<string, string>> = {
  run: '. List the latest with `tatami plugin logs PLUGIN`',
  grant: '. List the grants with `tatami grants list`',
  proposal: '. List the proposals with `tatami proposals list --all`',
};

/** The same of what is named by its own id. @param noun such as `run` */
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

/** @param all null where the key may not list them */
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

/** As the server says it, in other words. */
export function notFound(message: string, cause?: ApiCallError): ApiCallError {
  return new ApiCallError(404, { code: cause?.code ?? 'not_found', message, details: [], cause });
}
