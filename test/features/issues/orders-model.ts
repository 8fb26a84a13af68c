// Models columns of cards under sequential requests, and compares concurrent requests with that model.

/** The ids in each column, in order. Sub-issues form one column, named by their parent. */
export type Columns = ReadonlyMap<string, readonly string[]>;

export interface OrderRequest {
  readonly id: string;
  readonly column: string;
  readonly position?: 'top' | 'bottom';
  readonly before?: string;
  readonly after?: string;
  /** True for a successful request without an event. */
  readonly changesNothing?: true;
}

function moved(columns: Columns, { id, column, position, before, after }: OrderRequest): Columns {
  const rest = new Map([...columns].map(([name, ids]) => [name, ids.filter((other) => other !== id)]));
  const ids = rest.get(column)!;
  const beside = ids.indexOf((before ?? after)!);
  const at = position === 'bottom' ? ids.length : position === 'top' ? 0 : after ? beside + 1 : beside;
  return rest.set(column, ids.toSpliced(at, 0, id));
}

const isSame = (a: Columns, b: Columns): boolean =>
  [...a].every(([name, ids]) => ids.join() === (b.get(name) ?? []).join());

/**
 * Returns true if some serial order explains the result.
 * @param logged in log order, which is the serial order; requests without an event may stand anywhere
 */
export function isSerial(before: Columns, logged: readonly OrderRequest[], after: Columns): boolean {
  const moments = [before];
  for (const one of logged) if (!one.changesNothing) moments.push(moved(moments.at(-1)!, one));
  return (
    isSame(moments.at(-1)!, after) &&
    logged.every((one) => !one.changesNothing || moments.some((now) => isSame(now, moved(now, one))))
  );
}
