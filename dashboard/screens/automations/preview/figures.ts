// Figures of a backtest report for a person.
import type { BacktestReport } from '@tatami/sdk/client';

const dayMs = 86_400_000;

interface Figures {
  readonly days: number;
  /** Number of changed issues; null if several fields change, so that changes are counted instead. */
  readonly issues: number | null;
  readonly changes: number;
  readonly same: number;
  readonly opposite: number;
  readonly nothing: number;
}

type Report = Pick<BacktestReport, 'window' | 'fields'>;

export function figuresOf({ window, fields }: Report): Figures {
  const sum = (name: 'wouldChange' | 'same' | 'opposite' | 'nothing'): number =>
    fields.reduce((total, field) => total + field[name], 0);
  return {
    days: Math.round((Date.parse(window.until) - Date.parse(window.since)) / dayMs),
    issues: fields.length === 1 ? sum('wouldChange') : null,
    changes: sum('wouldChange'),
    same: sum('same'),
    opposite: sum('opposite'),
    nothing: sum('nothing'),
  };
}
