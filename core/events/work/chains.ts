// Chains of units in the window that share an order key, in order. The first unit of a chain runs; the others wait.
import type { Unit } from './unit.ts';
import type { WindowEntry } from './window.ts';

export class Chains<U extends Unit> {
  /** By order key; a chain is removed with its last unit. */
  readonly #chains = new Map<string, readonly WindowEntry<U>[]>();

  has(orderKey: string | null): boolean {
    return orderKey !== null && this.#chains.has(orderKey);
  }

  add(entry: WindowEntry<U>): void {
    const { orderKey } = entry.unit;
    if (orderKey !== null) this.#chains.set(orderKey, [...(this.#chains.get(orderKey) ?? []), entry]);
  }

  /** Returns the chain of a unit; only the unit itself if it has no order key. */
  of(entry: WindowEntry<U>): readonly WindowEntry<U>[] {
    const { orderKey } = entry.unit;
    return (orderKey === null ? undefined : this.#chains.get(orderKey)) ?? [entry];
  }

  /** @returns the remaining units of the chain */
  remove(entry: WindowEntry<U>): readonly WindowEntry<U>[] {
    const { orderKey } = entry.unit;
    if (orderKey === null) return [];
    const rest = this.of(entry).filter((one) => one !== entry);
    if (rest.length > 0) this.#chains.set(orderKey, rest);
    else this.#chains.delete(orderKey);
    return rest;
  }
}
