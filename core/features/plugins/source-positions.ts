// Maps places in a plugin's bundle to the author's source by the source map of the package. Map and places
// are untrusted input; wrong ones mislead only the author of the plugin.
import { decodedMappings, originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { PackageError, type PackageSourceMap, type SourceLocation } from '../../../sdk/plugin/manifest.ts';

/**
 * Returns the place in the author's source for a place in the bundle; null if the map has none. Lines and
 * columns start at 1.
 */
export type SourceMapLookup = (line: number, column: number) => SourceLocation | null;

export const emptyLookup: SourceMapLookup = () => null;

export function sourceMapLookupOf(sourceMap: PackageSourceMap | null | undefined): SourceMapLookup {
  if (!sourceMap) return emptyLookup;
  const map = traceMapOf(sourceMap);
  return (line, column) => {
    if (line < 1 || column < 1) return null;
    const original = originalPositionFor(map, { line, column: column - 1 });
    if (!original.source || original.line < 1 || original.column < 0) return null;
    return { file: original.source, line: original.line, column: original.column + 1 };
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

/** Place in the bundle, as it appears in stack traces of the sandbox. */
const inBundle = /plugin\.js:(\d{1,9}):(\d{1,9})/g;
const frame = /^\s*at (?:(.{1,200}) \()?plugin\.js:(\d{1,9}):(\d{1,9})\)?$/;

export function positionText({ file, line, column }: SourceLocation): string {
  return `${file}:${line}:${column}`;
}

/** Returns the message with source places instead of bundle places. */
export function withSourcePositions(message: string, find: SourceMapLookup): string {
  return message.replace(inBundle, (whole, line: string, column: string) => {
    const position = find(Number(line), Number(column));
    return position ? positionText(position) : whole;
  });
}

const ofSandbox = /^\s*at (?:.{1,200} \()?tatami:guest:\d{1,9}:\d{1,9}\)?$/;

export function hasBundlePositions(text: string): boolean {
  return text.includes('plugin.js:') || text.includes('tatami:guest:');
}

/** Maps the places of a text with stack traces, and removes the frames of the sandbox. */
export function withStacks(text: string, find: SourceMapLookup): string {
  const lines = text.split('\n').filter((line) => !ofSandbox.test(line));
  return withSourcePositions(lines.join('\n'), find);
}

export interface Thrown {
  /** Innermost place in the author's own code; null if the stack has none. */
  readonly at: SourceLocation | null;
  /** Formatted as `handle (plugin.ts:14:9)`, innermost first. */
  readonly frames: readonly string[];
}

/** Parses the plugin frames of a stack; frames of the host are omitted. */
export function readStack(stack: string | undefined, find: SourceMapLookup): Thrown {
  const frames: string[] = [];
  let at: SourceLocation | null = null;
  for (const text of (stack ?? '').split('\n')) {
    const [, name, line, column] = frame.exec(text) ?? [];
    if (line === undefined || column === undefined) continue;
    const position = find(Number(line), Number(column)) ?? {
      file: 'plugin.js',
      line: Number(line),
      column: Number(column),
    };
    frames.push(name === undefined ? positionText(position) : `${name} (${positionText(position)})`);
    if (!isForeign(position.file)) at ??= position;
  }
  return { at, frames };
}

/** True for files of a bundled library. */
function isForeign(file: string): boolean {
  return file.startsWith('node_modules/') || file.startsWith('@tatami/');
}
