// Compares JSON texts that `JSON.stringify` made by value: objects are the same in any order of their keys.

/** False where no other order of keys makes the texts the same, which spares reading and parsing them. */
export const hasOrder = (json: string): boolean => json.includes('{');

export function isSameJson(json: string, other: string): boolean {
  if (json === other) return true;
  if (json.length !== other.length || !hasOrder(other)) return false;
  return Bun.deepEquals(JSON.parse(json), JSON.parse(other), true);
}
