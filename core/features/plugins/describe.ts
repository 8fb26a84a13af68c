// Evaluates the definition of a plugin for packing, and maps a failure to the line in the author's source.
import { PackageError, type PackageSourceMap } from '../../../sdk/plugin/manifest.ts';
import { DefinitionError, describePlugin } from '../../platform/sandbox/describe.ts';
import { sourceMapLookupOf, positionText, readStack, withSourcePositions } from './source-positions.ts';

/** @throws PackageError if the definition cannot be evaluated */
export async function describePackage(code: string, sourceMap: PackageSourceMap | null): Promise<unknown> {
  try {
    return await describePlugin(code);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const find = sourceMapLookupOf(sourceMap);
    const message = withSourcePositions(error.message, find);
    const { at } = readStack(error.thrownStack, find);
    if (!at) throw new PackageError(pathOf(error.message), message);
    throw new PackageError('', `${positionText(at)}: ${message}`, [{ ...at, message }]);
  }
}

/**
 * Returns the path in the manifest that an error of `sidecar/guest/definition.ts` is about; empty if the
 * message names no part.
 */
function pathOf(message: string): string {
  const [, member, name] =
    /\b(on|schedules|actions|routes)\['(.+)'\] has no handle function/.exec(message) ?? [];
  if (member !== undefined) return `/manifest/${member}/${name}`;
  return message.includes('The default export of a plugin') ? '/manifest' : '';
}
