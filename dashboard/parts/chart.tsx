// Line chart of days, and a progress bar. Each chart has its numbers in a table.
import type { ReactNode } from 'react';
import { text } from '../text/planning.ts';
import styles from './chart.module.css';

interface Series {
  readonly name: string;
  readonly color: string;
  /** Distinguishes the lines without color. */
  readonly dash?: string;
  /** One value per day. */
  readonly values: readonly number[];
}

interface ChartProps {
  readonly title: string;
  readonly days: readonly string[];
  readonly series: readonly Series[];
}

const width = 640;
const height = 220;
const left = 36;
const bottom = 24;

export function DayChart({ title, days, series }: ChartProps): ReactNode {
  const top = Math.max(1, ...series.flatMap(({ values }) => values));
  const x = (index: number): number => left + (index * (width - left - 8)) / Math.max(1, days.length - 1);
  const y = (value: number): number => height - bottom - (value * (height - bottom - 12)) / top;
  const points = (values: readonly number[]): string =>
    values.map((value, index) => `${x(index)},${y(value)}`).join(' ');
  const last = days.length - 1;
  return (
    <figure className="stack">
      <svg className={styles.chart} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={title}>
        {[0, top].map((value) => (
          <g key={value}>
            <line x1={left} x2={width - 8} y1={y(value)} y2={y(value)} stroke="var(--line)" />
            <text x={left - 6} y={y(value) + 4} textAnchor="end">
              {value}
            </text>
          </g>
        ))}
        {series.map(({ name, color, dash, values }) => (
          <polyline
            key={name}
            className={styles.line}
            points={points(values)}
            stroke={color}
            strokeDasharray={dash}
          />
        ))}
        <text x={left} y={height - 6}>
          {days[0]}
        </text>
        <text x={x(last)} y={height - 6} textAnchor="end">
          {days[last]}
        </text>
      </svg>
      <figcaption className="row wrap">
        {series.map(({ name, color, dash }) => (
          <span key={name} className="row">
            <svg width="24" height="8" aria-hidden="true">
              <line x1="0" x2="24" y1="4" y2="4" stroke={color} strokeWidth="2" strokeDasharray={dash} />
            </svg>
            {name}
          </span>
        ))}
      </figcaption>
      <ChartTable title={title} days={days} series={series} />
    </figure>
  );
}

function ChartTable({ title, days, series }: ChartProps): ReactNode {
  return (
    <details>
      <summary>{text.asTable}</summary>
      <table aria-label={title}>
        <thead>
          <tr>
            <th scope="col">{text.day}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day, index) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{Math.round((values[index] ?? 0) * 10) / 10}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

export function ProgressBar({ done, all }: { readonly done: number; readonly all: number }): ReactNode {
  const share = all === 0 ? 0 : done / all;
  return (
    <span className="row">
      <span
        className={styles.track}
        role="progressbar"
        aria-label={text.progress(done, all)}
        aria-valuemin={0}
        aria-valuemax={all}
        aria-valuenow={done}
      >
        <span className={styles.fill} style={{ display: 'block', width: `${share * 100}%` }} />
      </span>
      <span className="soft">{text.progress(done, all)}</span>
    </span>
  );
}
