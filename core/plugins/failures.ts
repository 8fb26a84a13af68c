// When a plugin is switched off for the good of the others: it fails nearly always, or it keeps killing its sandbox.
// Plugin contract › Default limits, Auto-disable. Counted in memory: a restart forgives.
const windowMs = 3_600_000;
const runsMin = 20;
const failedShareMax = 0.95;
const killsMax = 3;

export type DisableReason = {
  readonly state: 'disabled_failures' | 'disabled_sandbox';
  readonly reason: string;
};

export interface FailureWatch {
  /** Notes how a run ended; says when enough is enough. */
  note(installId: string, ending: { failed: boolean; killed: boolean }): DisableReason | null;
  forget(installId: string): void;
}

export function createFailureWatch(nowMs: () => number): FailureWatch {
  const endings = new Map<string, { atMs: number; failed: boolean; killed: boolean }[]>();
  return {
    note(installId, ending) {
      const now = nowMs();
      const recent = (endings.get(installId) ?? []).filter(({ atMs }) => now - atMs < windowMs).slice(-999);
      recent.push({ atMs: now, ...ending });
      endings.set(installId, recent);
      const kills = recent.filter(({ killed }) => killed).length;
      if (kills >= killsMax)
        return { state: 'disabled_sandbox', reason: `${kills} runs within an hour had to be killed.` };
      const failed = recent.filter((one) => one.failed).length;
      if (recent.length >= runsMin && failed >= recent.length * failedShareMax)
        return { state: 'disabled_failures', reason: `${failed} of the last ${recent.length} runs failed.` };
      return null;
    },
    forget: (installId) => void endings.delete(installId),
  };
}
