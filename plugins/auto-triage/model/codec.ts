// Encodes arrays of small numbers as printable text, one character each. The text is valid in JSON without escapes
// and is read in place, so a stored model needs no decoding: `levelAt` costs one `charCodeAt`.

/** Levels 0 to 91: the printable characters from `#`, without the backslash. */
export const levelCount = 92;
const firstCode = 35;
const backslash = 92;

export function encodeLevels(levels: ArrayLike<number>): string {
  const parts: string[] = [];
  for (let start = 0; start < levels.length; start += 4096) {
    const codes: number[] = [];
    for (let i = start; i < Math.min(levels.length, start + 4096); i++) codes.push(toCode(levels[i] ?? 0));
    parts.push(String.fromCharCode(...codes));
  }
  return parts.join('');
}

export function levelAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code > backslash ? code - firstCode - 1 : code - firstCode;
}

function toCode(level: number): number {
  const code = firstCode + Math.max(0, Math.min(levelCount - 1, Math.round(level)));
  return code >= backslash ? code + 1 : code;
}

const middleLevel = 45;

/** Encodes a value in -1…1 as a level, with finer steps near zero, because most weights are small. */
export function toSignedLevel(value: number): number {
  return middleLevel + Math.sign(value) * Math.sqrt(Math.min(1, Math.abs(value))) * middleLevel;
}

/** Value of each level of {@link toSignedLevel}. */
export const signedValues: Float64Array = Float64Array.from({ length: levelCount }, (_, level) => {
  const root = (level - middleLevel) / middleLevel;
  return Math.sign(root) * root * root;
});

/** Encodes a frequency as a level: exact up to about 6, within 3 % beyond. */
export function toFrequencyLevel(frequency: number): number {
  return frequency === 0 ? 0 : 1 + Math.log2(frequency) * 8;
}

export const frequencyValues: Float64Array = Float64Array.from({ length: levelCount }, (_, level) =>
  level === 0 ? 0 : 2 ** ((level - 1) / 8),
);

/** Returns a table of values by character code, which saves a call per character in the innermost loops. */
export function byCode(values: Float64Array): Float64Array {
  const table = new Float64Array(firstCode + levelCount + 1);
  for (let level = 0; level < levelCount; level++) table[toCode(level)] = values[level] ?? 0;
  return table;
}
