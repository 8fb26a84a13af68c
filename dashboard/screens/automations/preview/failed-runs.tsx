import type { BacktestReport } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { text } from '../../../text/automations.ts';
import { valueText } from '../../proposals/values.ts';
import { isTree } from '../../../parts/filter/filter.ts';
import { reasonOf } from '../rule/reason.ts';
import styles from '../automations.module.css';

/** Says how many runs of a backtest failed, and why the first one did. */
export function FailedRuns({ report: { runs, failures } }: { readonly report: BacktestReport }): ReactNode {
  if (runs.failed === 0) return null;
  const [first] = failures;
  const sample = first?.samples[0];
  const message = isTree(sample) && typeof sample.message === 'string' ? sample.message : first?.what;
  return (
    <p className={`notice problem ${styles.message}`}>
      {text.failedRuns(runs.failed, runs.total, valueText(reasonOf(message ?? '')))}
    </p>
  );
}
