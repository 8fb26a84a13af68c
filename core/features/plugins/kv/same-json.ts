// Compares JSON texts made by `JSON.stringify` by value, ignoring the order of object keys.

/**
 * False if key order cannot be the reason that two texts differ; the values then need not be read or parsed.
 */
export const hasOrder = (json: string): boolean => json.includes('{');

export function isSameJson(json: string, other: string): boolean {
  if (json === other) return true;
  if (json.length !== other.length || !hasOrder(other)) return false;
  return Bun.deepEquals(JSON.parse(json), JSON.parse(other), true);
}
