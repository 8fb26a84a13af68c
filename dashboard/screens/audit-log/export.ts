// Exports the filtered audit log as a file.
import type { AuditEntry, AuditLogQuery } from '@tatami/sdk/client';
import { useRef, useState } from 'react';
import { useClient } from '../../data/provider.tsx';
import { notify, notifyProblem } from '../../parts/overlay/toast.tsx';
import { text } from '../../text/developers.ts';

type ExportFormat = 'csv' | 'json';

interface AuditExport {
  /** Number of entries read so far; null if no export runs. */
  readonly count: number | null;
  start(format: ExportFormat): Promise<void>;
  cancel(): void;
}

export function useAuditExport(query: AuditLogQuery): AuditExport {
  const client = useClient();
  const [count, setCount] = useState<number | null>(null);
  const ended = useRef(new AbortController());
  const start = async (format: ExportFormat): Promise<void> => {
    ended.current = new AbortController();
    const { signal } = ended.current;
    const entries: AuditEntry[] = [];
    setCount(0);
    try {
      for await (const entry of client.auditLog.list({ ...query, limit: 100 }, { signal })) {
        if (signal.aborted) return;
        entries.push(entry);
        if (entries.length % 100 === 0) setCount(entries.length);
      }
      if (entries.length === 0) notify(text.nothingToExport);
      else save(format, entries);
    } catch (error) {
      if (!signal.aborted) notifyProblem(error);
    } finally {
      setCount(null);
    }
  };
  return { count, start, cancel: () => ended.current.abort() };
}

function save(format: ExportFormat, entries: readonly AuditEntry[]): void {
  const content = format === 'csv' ? csvOf(entries) : JSON.stringify(entries, null, 2);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([content], { type: format === 'csv' ? 'text/csv' : 'application/json' }),
  );
  link.download = `audit-log.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Returns the entries in the format of RFC 4180. */
export function csvOf(entries: readonly AuditEntry[]): string {
  const rows = entries.map(({ at, sequence, actor, action, target, details, requestId }) => [
    at,
    sequence,
    actor.kind,
    actor.id,
    actor.name,
    action,
    target.kind,
    target.id,
    details?.changed.join(' ') ?? '',
    requestId ?? '',
  ]);
  const head = 'at,sequence,actorKind,actorId,actorName,action,targetKind,targetId,changed,requestId';
  return [head, ...rows.map((row) => row.map(cellOf).join(','))].join('\r\n') + '\r\n';
}

/**
 * A name that begins with a sign would be a formula in a spreadsheet, so it is preceded by an apostrophe. Some
 * spreadsheets convert full-width signs to ASCII.
 */
function cellOf(value: string | number): string {
  const cell = typeof value === 'string' && /^[=+\-@＝＋－＠\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
