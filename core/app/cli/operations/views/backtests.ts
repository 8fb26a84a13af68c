// Displays backtests and gates.
import { gateLines, reportLines, type Backtest } from '../../plugin/backtest.ts';

export function backtestView(backtest: Backtest): string {
  const { id, plugin, pluginVersion, status, progress, error, report, gate } = backtest;
  if (report) return reportLines(backtest);
  if (gate) return gateLines(backtest, 'the installed version');
  const seen = progress ? `, ${progress.looked} of ${progress.of}` : '';
  return `${id}  ${plugin} ${pluginVersion}  ${status}${seen}${error === null ? '' : `: ${error}`}`;
}
