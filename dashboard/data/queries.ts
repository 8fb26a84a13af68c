import {
  QueryClient,
  type InvalidateOptions,
  type InvalidateQueryFilters,
  type Query,
} from '@tanstack/react-query';

/**
 * Client that repeats the first read of a query that is invalidated while it is on its way, because the answer may be from
 * before the change. React Query repeats only later reads.
 */
export class LiveQueryClient extends QueryClient {
  /** Queries whose first read is repeated when it ends. */
  readonly #repeated = new WeakSet<Query>();

  override async invalidateQueries(
    filters: InvalidateQueryFilters = {},
    options?: InvalidateOptions,
  ): Promise<void> {
    for (const query of this.getQueryCache().findAll(filters as InvalidateQueryFilters<never>))
      this.#repeatFirstRead(query);
    await super.invalidateQueries(filters, options);
  }

  #repeatFirstRead(query: Query): void {
    const { data, fetchStatus } = query.state;
    if (data !== undefined || fetchStatus === 'idle' || this.#repeated.has(query)) return;
    this.#repeated.add(query);
    void query.promise
      ?.then(
        () => super.invalidateQueries({ queryKey: query.queryKey, exact: true }),
        () => undefined,
      )
      .finally(() => this.#repeated.delete(query));
  }
}
