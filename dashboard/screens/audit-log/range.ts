// Days of the audit log that the address names, as times of the API.

export interface Days {
  /** First day, as `2026-11-20`, in the time zone of the browser. */
  readonly from?: string | undefined;
  /** Last day, inclusive. */
  readonly to?: string | undefined;
}

interface Times {
  readonly since?: string;
  readonly until?: string;
}

export function timesOf({ from, to }: Days): Times {
  const [since, until] = [startOf(from, 0), startOf(to, 1)];
  return { ...(since !== null && { since }), ...(until !== null && { until }) };
}

/** True for days that the API rejects. */
export const isReversed = ({ from = '', to = '9' }: Days): boolean => from > to;

/** Returns the start of a day, or of one some days later; null for a text that is no day. Days differ in length. */
function startOf(day: string | undefined, daysLater: number): string | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '') ?? [];
  if (date === undefined) return null;
  return new Date(Number(year), Number(month) - 1, Number(date) + daysLater).toISOString();
}
