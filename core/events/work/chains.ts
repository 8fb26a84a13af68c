// Which units of the window wait for one another: those of one order key, in their order. The first is under way.
import type { Unit } from './unit.ts';
import type { Kept } from './window.ts';

export class Chains<U extends Unit> {
  /** By order key; a chain goes with its last unit. */
  readonly #chains = new Map<string, readonly Kept<U>[]>();

  has(orderKey: string | null): boolean {
    return orderKey !== null && this.#chains.has(orderKey);
  }

  add(kept: Kept<U>): void {
    const { orderKey } = kept.unit;
    if (orderKey !== null) this.#chains.set(orderKey, [...(this.#chains.get(orderKey) ?? []), kept]);
  }

  /** All units of its key; of one that is not ordered, itself. */
  of(kept: Kept<U>): readonly Kept<U>[] {
    const { orderKey } = kept.unit;
    return (orderKey === null ? undefined : this.#chains.get(orderKey)) ?? [kept];
  }

  /** @returns those that are left of its key */
  remove(kept: Kept<U>): readonly Kept<U>[] {
    const { orderKey } = kept.unit;
    if (orderKey === null) return [];
    const rest = this.of(kept).filter((one) => one !== kept);
    if (rest.length > 0) this.#chains.set(orderKey, rest);
    else this.#chains.delete(orderKey);
    return rest;
  }
}
