export function percentilesOf(latenciesMs: readonly number[]): { p50Ms: number; p99Ms: number } {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}
