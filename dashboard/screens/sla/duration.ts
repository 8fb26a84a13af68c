export const minuteMs = 60_000;

/** Returns a duration such as `2 d 3 h`. */
export function durationOf(ms: number): string {
  const minutes = Math.floor(ms / minuteMs);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}
