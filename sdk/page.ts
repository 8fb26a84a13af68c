export interface Page<Item> {
  readonly data: readonly Item[];
  /** Pass `endCursor` as `after` to get the next page. */
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}
