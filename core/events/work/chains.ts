// Chains of units in the window that share an order key, in order. The first unit of a chain runs; the others wait.
import type { Unit } from './unit.ts';
import type { Kept } from './window.ts';

export class Chains<U extends Unit> {
  /** By order key; a chain is removed with its last unit. */
  readonly #chains = new Map<string, readonly Kept<U>[]>();

  has(orderKey: string | null): boolean {
    return orderKey !== null && this.#chains.has(orderKey);
  }

  add(kept: Kept<U>): void {
    const { orderKey } = kept.unit;
    if (orderKey !== null) this.#chains.set(orderKey, [...(this.#chains.get(orderKey) ?? []), kept]);
  }

  /** Returns the chain of a unit; only the unit itself if it has no order key. */
  of(kept: Kept<U>): readonly Kept<U>[] {
    const { orderKey } = kept.unit;
    return (orderKey === null ? undefined : this.#chains.get(orderKey)) ?? [kept];
  }

  /** @returns the remaining units of its chain */
  remove(kept: Kept<U>): readonly Kept<U>[] {
    const { orderKey } = kept.unit;
    if (orderKey === null) return [];
    const rest = this.of(kept).filter((one) => one !== kept);
    if (rest.length > 0) this.#chains.set(orderKey, rest);
    else this.#chains.delete(orderKey);
    return rest;
  }
}
