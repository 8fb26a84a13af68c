// The definition of a plugin as packing reads it, with the author's line where it does not load.
import { PackageError, type PackageSourceMap } from '../../sdk/plugin/manifest.ts';
import { DefinitionError, describePlugin } from '../sandbox/describe.ts';
import { placesOf, placeText, readStack, withPlaces } from './source-places.ts';

/** @throws PackageError where it cannot be evaluated */
export async function describePackage(code: string, sourceMap: PackageSourceMap | null): Promise<unknown> {
  try {
    return await describePlugin(code);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const find = placesOf(sourceMap);
    const message = withPlaces(error.message, find);
    const { at } = readStack(error.thrownStack, find);
    if (!at) throw new PackageError(pathOf(error.message), message);
    throw new PackageError('', `${placeText(at)}: ${message}`, [{ ...at, message }]);
  }
}

/** Of what the guest says of a definition that has loaded, in `sidecar/guest/definition.ts`; empty for what is about no part of it. */
function pathOf(message: string): string {
  const [, member, name] =
    /\b(on|schedules|actions|routes)\['(.+)'\] has no handle function/.exec(message) ?? [];
  if (member !== undefined) return `/manifest/${member}/${name}`;
  return message.includes('The default export of a plugin') ? '/manifest' : '';
}
