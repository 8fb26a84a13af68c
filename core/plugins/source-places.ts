// Maps places in a plugin's bundle to the author's source by the source map of the package. Map and places are untrusted input; a wrong
// one misleads only its author.
import { decodedMappings, originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { PackageError, type PackageSourceMap, type SourcePlace } from '../../sdk/plugin/manifest.ts';

/** Returns the source place of one in the bundle (line and column start at 1); null if the map has none. */
export type FindPlace = (line: number, column: number) => SourcePlace | null;

export const noPlaces: FindPlace = () => null;

export function placesOf(sourceMap: PackageSourceMap | null | undefined): FindPlace {
  if (!sourceMap) return noPlaces;
  const map = traceMapOf(sourceMap);
  return (line, column) => {
    if (line < 1 || column < 1) return null;
    const found = originalPositionFor(map, { line, column: column - 1 });
    // Older packages were not checked for mappings to missing sources or lines.
    if (!found.source || found.line < 1 || found.column < 0) return null;
    return { file: found.source, line: found.line, column: found.column + 1 };
  };
}

/** Checks that the mappings lead to existing sources, which the schema cannot express. @throws PackageError */
export function checkSourceMap(sourceMap: PackageSourceMap): void {
  for (const segments of decodedMappings(traceMapOf(sourceMap)))
    for (const segment of segments) {
      const [, source] = segment;
      if (segment.some((number) => number < 0) || (source !== undefined && !(source in sourceMap.sources)))
        throw new PackageError(
          '/sourceMap/mappings',
          'The mappings lead to places outside the sources. Pack the plugin again, or omit the source map.',
        );
    }
}

function traceMapOf(sourceMap: PackageSourceMap): TraceMap {
  return new TraceMap({ ...sourceMap, sources: [...sourceMap.sources], names: [] });
}

/** Name of the bundle in stack traces of the sandbox. */
const inBundle = /plugin\.js:(\d{1,9}):(\d{1,9})/g;
const frame = /^\s*at (?:(.{1,200}) \()?plugin\.js:(\d{1,9}):(\d{1,9})\)?$/;

export function placeText({ file, line, column }: SourcePlace): string {
  return `${file}:${line}:${column}`;
}

/** Returns the message with source places instead of bundle places. */
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

/** Maps the places of a text with stack traces, and removes the frames of the sandbox. */
export function withStacks(text: string, find: FindPlace): string {
  const lines = text.split('\n').filter((line) => !ofSandbox.test(line));
  return withPlaces(lines.join('\n'), find);
}

export interface Thrown {
  /** Innermost place in the author's own code; null if the stack has none. */
  readonly at: SourcePlace | null;
  /** Formatted as `handle (plugin.ts:14:9)`, innermost first. */
  readonly frames: readonly string[];
}

/** Parses the plugin frames of a stack; frames of the host are omitted. */
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

/** True for files of a bundled library. */
function isForeign(file: string): boolean {
  return file.startsWith('node_modules/') || file.startsWith('@tatami/');
}
