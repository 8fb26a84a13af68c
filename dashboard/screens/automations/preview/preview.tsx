// Live preview beside the editor: what the rule would have done.
import type { ReactNode } from 'react';
import { ApiCallError, type Backtest } from '@tatami/sdk/client';
import { messageOf } from '../../../parts/states.tsx';
import { isMissing, problemWords } from '../../../text/automation-problems.ts';
import { text } from '../../../text/automations.ts';
import type { Rule } from '../rule/rule.ts';
import { Report } from './report.tsx';
import { isTestable, usePreview, type Stored } from './use-preview.ts';

interface PreviewProps {
  readonly rule: Rule;
  /** Null for a rule that is not saved yet. */
  readonly stored: Stored | null;
}

export function Preview({ rule, stored }: PreviewProps): ReactNode {
  const { backtest, error, isStale } = usePreview(rule, stored);
  return (
    <section className="stack" aria-labelledby="preview">
      <h2 id="preview">{text.preview}</h2>
      <Content rule={rule} isStored={stored !== null} backtest={backtest} error={error} isStale={isStale} />
    </section>
  );
}

interface ContentProps {
  readonly rule: Rule;
  /** True if the page has a menu that runs the rule. */
  readonly isStored: boolean;
  readonly backtest: Backtest | undefined;
  readonly error: unknown;
  readonly isStale: boolean;
}

function Content({ rule, isStored, backtest, error, isStale }: ContentProps): ReactNode {
  if (rule.actions.length === 0) return <p className="soft">{text.previewEmpty}</p>;
  if (!isTestable(rule))
    return (
      <p className="soft">
        {text.previewNone} {isStored ? text.previewRun : text.previewSave}
      </p>
    );
  if (isStale) return <Waiting words={text.previewWaiting} />;
  if (error) return <Waiting words={problemOf(error, rule)} />;
  return <State backtest={backtest} />;
}

/** Returns what is missing in an incomplete rule, or what is wrong with it. */
function problemOf(error: unknown, rule: Rule): string {
  const details = error instanceof ApiCallError ? error.details : [];
  if (details.length === 0) return `${text.notComplete} ${messageOf(error)}`;
  const words = details.map((detail) => problemWords(detail, rule)).join(' ');
  return `${details.every(isMissing) ? text.missing : text.notComplete} ${words}`;
}

function Waiting({ words }: { readonly words: string }): ReactNode {
  return (
    <p className="soft" role="status">
      {words}
    </p>
  );
}

function State({ backtest }: { readonly backtest: Backtest | undefined }): ReactNode {
  if (!backtest) return <Waiting words={text.previewWaiting} />;
  const { status, progress, report } = backtest;
  if (report) return <Report report={report} />;
  if (status === 'failed' || status === 'canceled')
    return <p className="notice problem">{text.previewFailed(backtest.error ?? status)}</p>;
  if (!progress) return <Waiting words={text.previewWaiting} />;
  return (
    <>
      <Waiting words={text.previewProgress(progress.looked, progress.of)} />
      <progress aria-label={text.preview} max={Math.max(1, progress.of)} value={progress.looked} />
    </>
  );
}
