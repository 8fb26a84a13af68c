// Compares JSON texts made by `JSON.stringify` by value, ignoring the order of object keys.

/** False if key order cannot explain a difference of texts, which saves reading and parsing them. */
export const hasOrder = (json: string): boolean => json.includes('{');

export function isSameJson(json: string, other: string): boolean {
  if (json === other) return true;
  if (json.length !== other.length || !hasOrder(other)) return false;
  return Bun.deepEquals(JSON.parse(json), JSON.parse(other), true);
}
