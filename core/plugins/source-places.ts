// From a place in a plugin's bundle to the author's own line, by the source map of the package. The map is a stranger's, and so are
// the places that are looked up in it: a wrong one of either misleads nobody but its author.
import { decodedMappings, originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { PackageError, type PackageSourceMap, type SourcePlace } from '../../sdk/plugin/manifest.ts';

/** The author's place of one in the bundle (line and column begin with 1); null where the map knows none. */
export type FindPlace = (line: number, column: number) => SourcePlace | null;

export const noPlaces: FindPlace = () => null;

export function placesOf(sourceMap: PackageSourceMap | null | undefined): FindPlace {
  if (!sourceMap) return noPlaces;
  const map = traceMapOf(sourceMap);
  return (line, column) => {
    if (line < 1 || column < 1) return null;
    const found = originalPositionFor(map, { line, column: column - 1 });
    // What packages before were not checked for: that there is such a source, and such a line.
    if (!found.source || found.line < 1 || found.column < 0) return null;
    return { file: found.source, line: found.line, column: found.column + 1 };
  };
}

/** Checks what the shape of a map does not say: that its mappings lead to sources that are there. @throws PackageError */
export function checkSourceMap(sourceMap: PackageSourceMap): void {
  for (const segments of decodedMappings(traceMapOf(sourceMap)))
    for (const segment of segments) {
      const [, source] = segment;
      if (segment.some((number) => number < 0) || (source !== undefined && !(source in sourceMap.sources)))
        throw new PackageError(
          '/sourceMap/mappings',
          'They lead to places that are in none of the sources; pack the plugin again, or leave the map out.',
        );
    }
}

function traceMapOf(sourceMap: PackageSourceMap): TraceMap {
  return new TraceMap({ ...sourceMap, sources: [...sourceMap.sources], names: [] });
}

/** As the sandbox calls the bundle. */
const inBundle = /plugin\.js:(\d{1,9}):(\d{1,9})/g;
const frame = /^\s*at (?:(.{1,200}) \()?plugin\.js:(\d{1,9}):(\d{1,9})\)?$/;

export function placeText({ file, line, column }: SourcePlace): string {
  return `${file}:${line}:${column}`;
}

/** A message with the author's places in place of the bundle's. */
export function withPlaces(message: string, find: FindPlace): string {
  return message.replace(inBundle, (whole, line: string, column: string) => {
    const place = find(Number(line), Number(column));
    return place ? placeText(place) : whole;
  });
}

const ofSandbox = /^\s*at (?:.{1,200} \()?tatami:guest:\d{1,9}:\d{1,9}\)?$/;

export function hasPlaces(text: string): boolean {
  return text.includes('plugin.js:') || text.includes('tatami:guest:');
}

/** The same of a text with stacks, which lose the frames of the sandbox. */
export function withStacks(text: string, find: FindPlace): string {
  const lines = text.split('\n').filter((line) => !ofSandbox.test(line));
  return withPlaces(lines.join('\n'), find);
}

export interface Thrown {
  /** Where the author's own code was; null where none of it is on the stack. */
  readonly at: SourcePlace | null;
  /** `handle (plugin.ts:14:9)`, the innermost first. */
  readonly frames: readonly string[];
}

/** What a stack says of the plugin's code; frames of the host's are left out. */
export function readStack(stack: string | undefined, find: FindPlace): Thrown {
  const frames: string[] = [];
  let at: SourcePlace | null = null;
  for (const text of (stack ?? '').split('\n')) {
    const [, name, line, column] = frame.exec(text) ?? [];
    if (line === undefined || column === undefined) continue;
    const place = find(Number(line), Number(column)) ?? {
      file: 'plugin.js',
      line: Number(line),
      column: Number(column),
    };
    frames.push(name === undefined ? placeText(place) : `${name} (${placeText(place)})`);
    if (!isForeign(place.file)) at ??= place;
  }
  return { at, frames };
}

/** Of a library that the bundle holds. */
function isForeign(file: string): boolean {
  return file.startsWith('node_modules/') || file.startsWith('@tatami/');
}
