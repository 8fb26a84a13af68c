// A page of a list.
export interface Page<Item> {
  readonly data: readonly Item[];
  /** `endCursor` is the `after` of the next page. */
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}
