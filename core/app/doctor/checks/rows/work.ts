import { note, warning, type Check, type Finding } from '../../check.ts';

/** Due work normally starts within seconds. */
const lateMs = 600_000;
/** Lowest due time of work that waits for other work or for capacity. See core/kernel/events/work/rows.ts. */
const neverMs = 8_640_000_000_000_000;
/**
 * Lag above which a consumer is reported: more than 2,000, because cursors of idle workspaces are stored only
 * every 2,000 events.
 */
const behindMin = 3_000;

export const work: Check = {
  name: 'work',
  holds: 'no runs, deliveries or schedules are overdue',
  readsDatabase: true,
  look({ rows, nowMs, servedBy }) {
    const findings: Finding[] = [];
    const late = rows<{ kind: string; count: number; since: number }>(
      `SELECT kind, count(*) AS count, min(due_at) AS since FROM due_work
       WHERE due_at < ${neverMs} AND due_at < ?1 AND lease_until < ?2 GROUP BY kind`,
      nowMs - lateMs,
      nowMs - lateMs,
    );
    for (const { kind, count, since } of late) {
      const message = `${count} work items of type ${kind} are overdue since ${new Date(since).toISOString()}`;
      findings.push(
        servedBy === null
          ? note(`${message}. The server processes them after its start.`)
          : warning(`${message}, and the server does not process them. Check its log and /readyz.`),
      );
    }
    const behind = rows<{ consumer: string; workspace_id: string; events: number }>(
      `SELECT c.consumer, c.workspace_id, (SELECT max(e.sequence) FROM events AS e WHERE e.workspace_id = c.workspace_id) - c.sequence AS events
       FROM cursors AS c WHERE events > ${behindMin}`,
    );
    for (const { consumer, workspace_id: workspaceId, events } of behind)
      findings.push(
        note(
          `The consumer ${consumer} is ${events} events behind in workspace ${workspaceId}. Let the server run until it has caught up.`,
        ),
      );
    const failed =
      rows<{ count: number }>("SELECT count(*) AS count FROM deliveries WHERE status = 'failed'")[0]?.count ??
      0;
    if (failed > 0)
      findings.push(
        note(
          `${failed} deliveries failed permanently. List them with \`tatami webhooks deliveries\`, and resend them with \`tatami webhooks replay\`.`,
        ),
      );
    const off = rows<{ plugin_id: string; state: string }>(
      "SELECT plugin_id, state FROM plugins WHERE deleted_at IS NULL AND state LIKE 'disabled%'",
    );
    for (const { plugin_id: plugin, state } of off)
      findings.push(
        warning(
          `The plugin ${plugin} was disabled (${state}). Fix the cause (\`tatami plugin logs\`), then set its state to active.`,
        ),
      );
    return findings;
  },
};
