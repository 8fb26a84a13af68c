// Numbers of the burn-up chart that the API does not compute.

interface ScopeOfDay {
  readonly day: string;
  readonly scope: number;
}

/** Returns the days after the first on which the scope changed. */
export function scopeChanges(days: readonly ScopeOfDay[]): { day: string; by: number }[] {
  return days.flatMap(({ day, scope }, index) => {
    const by = scope - (days[index - 1]?.scope ?? scope);
    return by === 0 ? [] : [{ day, by }];
  });
}

const dayMs = 86_400_000;

/** Returns the completed part of the scope per day if work were even until the end. @param endsAt RFC 3339, exclusive */
export function idealLine(days: readonly string[], scope: number, endsAt: string): number[] {
  const start = Date.parse(days[0] ?? endsAt);
  const whole = Math.max(1, Math.round((Date.parse(endsAt) - start) / dayMs) - 1);
  return days.map((day) => Math.min(scope, (scope * Math.round((Date.parse(day) - start) / dayMs)) / whole));
}
