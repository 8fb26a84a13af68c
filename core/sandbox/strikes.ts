// Which installs may not share a sidecar with others: those whose run took a process down within the last hour, and
// those that were at work when one died without it being clear whose fault it was. The latter are cleared by a run
// that ends well.
const crashMemoryMs = 3_600_000;

export class Strikes {
  #clock: () => number;
  #crashes = new Map<string, number[]>();
  #suspects = new Set<string>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** A process died of this install's run. */
  crashed(installId: string): void {
    this.#crashes.set(installId, [...this.#recent(installId), this.#clock()]);
  }

  suspect(installId: string): void {
    this.#suspects.add(installId);
  }

  /** A run ended without taking its process along. */
  survived(installId: string): void {
    this.#suspects.delete(installId);
  }

  quarantined(installId: string): boolean {
    return this.#suspects.has(installId) || this.#recent(installId).length > 0;
  }

  forget(installId: string): void {
    this.#suspects.delete(installId);
    this.#crashes.delete(installId);
  }

  #recent(installId: string): number[] {
    const known = this.#crashes.get(installId);
    if (!known) return [];
    const since = this.#clock() - crashMemoryMs;
    const recent = known.filter((at) => at > since);
    if (recent.length === 0) this.#crashes.delete(installId);
    return recent;
  }
}
